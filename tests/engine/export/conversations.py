"""Conversations to export, made by hand."""

from datetime import UTC, datetime

from engine.export.conversation import Conversation, HeardWord, Stretch, Turn
from engine.messages.words import Ending

BEGAN = datetime(2026, 3, 1, 10, 15, tzinfo=UTC)


def heard(reply: str, *, at: float = 2.0, each: float = 0.4, words: int | None = None):
    """The words of a reply, one after the other; the first `words` of them."""
    found, position = [], 0
    for number, text in enumerate(reply.split()[:words]):
        start = reply.index(text, position)
        position = start + len(text)
        begin = round(at + number * each, 3)
        found.append(HeardWord(text, start, position, begin, round(begin + each, 3)))
    return tuple(found)


def turn(
    number: int, said: str, reply: str, *, start: float = 0.0, words: int | None = None
) -> Turn:
    """A turn of which `words` words were heard (None = all)."""
    told = heard(reply, at=start + 2.0, words=words)
    return Turn(
        number=number,
        ending=Ending.COMPLETE if words is None else Ending.INTERRUPTED_BY_ESCAPE,
        start_s=start,
        said=said,
        said_end_s=start + 1.5,
        reply=reply,
        heard=reply if words is None else reply[: told[-1].end if told else 0],
        words=told,
    )


def conversation(*turns: Turn, recorded: tuple[Stretch, ...] = ()) -> Conversation:
    return Conversation(BEGAN, turns, recorded)
