"""One completion while it is streamed: events in, text, thoughts and calls out.

Invariant: pure. It is complete when the server has said so in any of the ways there are: a reason
for ending, the last event of all behind a reply, or the mark of a model's turn that is over.
"""

from collections.abc import Iterator

from engine.characters import WholeCharacters
from engine.llm.base import ThoughtDelta
from engine.llm.servers.chunks import chunk
from engine.llm.servers.events import DONE, Event
from engine.llm.servers.faults import own_words
from engine.llm.tools.call_parts import CallParts
from engine.llm.tools.rounds import Piece
from engine.llm.tools.tagged_calls import tool_calls
from engine.llm.tools.tags import THINK, TagSplitter


class Reported(Exception):
    """The server's own words about what went wrong."""


class Completion:
    """`begins_thinking`: the prompt opens a thought, as the reply before has shown. `most`: how
    many characters are taken.
    """

    def __init__(self, *, begins_thinking: bool, most: int) -> None:
        self._splitter = TagSplitter(THINK if begins_thinking else None, assumed=begins_thinking)
        self._text = WholeCharacters()
        self._parts = CallParts()
        self._room = most
        self._finished = False
        self.is_reply = False  # there was anything of a reply

    @property
    def is_complete(self) -> bool:
        return self._finished or self.is_over

    @property
    def is_over(self) -> bool:
        """Whether what follows is not wanted any more."""
        return self._room <= 0 or self._splitter.over

    @property
    def begins_thinking(self) -> bool:
        """Whether the prompt has opened a thought, as this reply shows in its end."""
        return self._splitter.was_begun

    def take(self, event: Event) -> Iterator[Piece]:
        """Raises Reported."""
        if event.get("error"):
            raise Reported(own_words(event["error"]))
        found = chunk(event)
        self.is_reply = self.is_reply or found.is_reply
        self._finished = self._finished or found.finished or (DONE in event and self.is_reply)
        self._parts.add(found.calls)
        for piece in found.pieces:
            yield from self._piece(piece)

    def end(self) -> Iterator[Piece]:
        """What was held back until the end."""
        yield from tool_calls(self._splitter.feed(self._text.end()))
        yield from tool_calls(self._splitter.flush())
        yield from self._parts.calls()

    def _piece(self, piece: str | ThoughtDelta) -> Iterator[Piece]:
        room = max(0, self._room)
        if isinstance(piece, ThoughtDelta):
            self._room -= len(piece.text)
            yield ThoughtDelta(piece.text[:room])
        else:
            self._room -= len(piece)
            yield from tool_calls(self._splitter.feed(self._text.push(piece[:room])))
