"""Subtitles (SubRip, .srt) of a conversation, cued by the words as they were heard.

Invariant: a cue has at most two lines and lasts at most LONGEST_S; cues are in order and do not
overlap. What nobody heard has no cue.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from engine.export.conversation import Conversation, Turn

LINE = 42  # characters; with two lines and seven seconds the usual measure of broadcasters
LINES = 2
LONGEST_S = 7.0
PAUSE_S = 1.0  # silence after which a cue is over
SENTENCE = 20  # characters from which the end of a sentence ends its cue
TYPED_S = 1.5  # how long a typed question stands
PERSON, ASSISTANT = "You: ", "Rubato: "
_SENTENCE_END = re.compile(r"[.!?\u2026][\"')\]\u201d\u2019]*$")
_SHORTEST_S = 0.001  # what the format can tell


@dataclass(frozen=True)
class Cue:
    """`text` is one paragraph, broken into lines only when it is written."""

    start_s: float
    end_s: float
    text: str

    @property
    def lines(self) -> list[str]:
        """At most two, unless a single word is longer than a line."""
        return textwrap.wrap(self.text, LINE, break_long_words=False, break_on_hyphens=False)


def subtitles(conversation: Conversation) -> str:
    """The file's text. Where a recording was made its beginning is time zero, so that the cues fit
    its sound; what was said before has none.
    """
    zero_s = conversation.sound_start_s
    shifted = (
        replace(cue, start_s=cue.start_s - zero_s, end_s=cue.end_s - zero_s)
        for cue in _in_order(
            cue for turn in conversation.turns for cue in (*_said_cues(turn), *reply_cues(turn))
        )
        if cue.start_s >= zero_s
    )
    return "".join(
        f"{number}\n{stamp(cue.start_s)} --> {stamp(cue.end_s)}\n" + "\n".join(cue.lines) + "\n\n"
        for number, cue in enumerate(shifted, 1)
    )


def reply_cues(turn: Turn) -> list[Cue]:
    """Cues of what was heard of a reply."""
    cues: list[Cue] = []
    open_cue: Cue | None = None  # None = the next word begins one
    for piece in _pieces(turn):
        joined = _joined(open_cue, piece) if open_cue else None
        if joined is None:
            if open_cue:
                cues.append(open_cue)
            joined = replace(piece, end_s=min(piece.end_s, piece.start_s + LONGEST_S))
            joined = replace(joined, text=joined.text.lstrip())
            if not cues:
                joined = replace(joined, text=ASSISTANT + joined.text)
        open_cue = joined
    return [*cues, open_cue] if open_cue else cues


def _said_cues(turn: Turn) -> Iterator[Cue]:
    """What the person said, spread evenly over the time they took."""
    if not turn.said:
        return
    end_s = turn.start_s + TYPED_S if turn.said_end_s is None or turn.typed else turn.said_end_s
    words = (PERSON + turn.said).split()
    parts: list[list[str]] = [[]]
    each_s = (end_s - turn.start_s) / len(words)
    for word in words:
        if parts[-1] and (
            not _fits(" ".join([*parts[-1], word])) or (len(parts[-1]) + 1) * each_s > LONGEST_S
        ):
            parts.append([])
        parts[-1].append(word)
    start_s = turn.start_s
    for part in parts:
        yield Cue(start_s, start_s + min(LONGEST_S, each_s * len(part)), " ".join(part))
        start_s += each_s * len(part)


def _pieces(turn: Turn) -> Iterator[Cue]:
    """One per written word that was heard, with the space before it; spoken words that share a
    written one ("five dollars" for "$5") are one piece.
    """
    piece: Cue | None = None
    end = 0  # of the piece, in the reply
    for word in turn.words:
        if piece is not None and word.start < end:
            piece = replace(piece, end_s=word.end_s)
            continue
        if piece is not None:
            yield piece
        # marks of Markdown between two words are not spoken; the space between them is
        space = " " if re.search(r"\s", turn.reply[end : word.start]) else ""
        written = " ".join(turn.reply[word.start : word.end].split()) or word.text
        piece = Cue(word.start_s, word.end_s, space + written)
        end = word.end
    if piece is not None:
        yield piece


def _joined(cue: Cue, piece: Cue) -> Cue | None:
    """The cue with the piece in it; None when it belongs to the next one."""
    sentence_over = len(cue.text) >= SENTENCE and _SENTENCE_END.search(cue.text)
    together = replace(cue, end_s=piece.end_s, text=cue.text + piece.text)
    too_long = piece.end_s - cue.start_s > LONGEST_S or not _fits(together.text)
    paused = piece.start_s - cue.end_s > PAUSE_S
    return None if sentence_over or too_long or paused else together


def _fits(text: str) -> bool:
    return len(Cue(0, 0, text).lines) <= LINES


def _in_order(cues: Iterable[Cue]) -> Iterator[Cue]:
    """By their beginnings; each ends where the next begins, if it has not before."""
    ordered = sorted(cues, key=lambda cue: cue.start_s)
    reached_s = 0.0
    for cue, following in zip(ordered, [*ordered[1:], None], strict=True):
        start_s = max(cue.start_s, reached_s)
        end_s = cue.end_s if following is None else min(cue.end_s, following.start_s)
        reached_s = max(end_s, start_s + _SHORTEST_S)
        yield replace(cue, start_s=start_s, end_s=reached_s)


def stamp(seconds: float) -> str:
    """A moment as SubRip writes it."""
    milliseconds = round(max(0.0, seconds) * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02},{rest % 1000:03}"
