"""Separates what is not to be spoken in a model's stream: thoughts and tool calls in tags.

Invariant: the result is the same however the stream is cut into pieces; at most the beginning of a
tag is held back.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.llm.base import ThoughtDelta

THINK = "think"
TOOL_CALL = "tool_call"
MAX_BODY_CHARS = 20_000  # with a longer tool call the model is stuck

_NAMES = (THINK, TOOL_CALL)


@dataclass(frozen=True)
class Tagged:
    """The body of a <tool_call>, as the model wrote it."""

    body: str


Piece = str | ThoughtDelta | Tagged


class TagSplitter:
    """Feed it text and get plain text, thoughts and tool calls. `inside` names the tag that the
    prompt has already opened, None for none.
    """

    def __init__(self, inside: str | None = None) -> None:
        self._inside = inside
        self._held = ""
        self._body = ""

    def feed(self, text: str) -> Iterator[Piece]:
        self._held += text
        moved = True
        while moved:
            moved = False
            for piece in self._step():
                moved = True
                if piece:
                    yield piece

    def flush(self) -> Iterator[Piece]:
        """The end of the stream: text that was held back is returned as it is."""
        if self._inside is None and self._held:
            yield self._held
        elif self._inside == TOOL_CALL and (self._body + self._held).strip():
            yield Tagged(self._body + self._held)
        elif self._inside == THINK and self._held:
            yield ThoughtDelta(self._held)
        self._held = self._body = ""
        self._inside = None

    def _step(self) -> Iterator[Piece]:
        """Handle at most one tag; yield something (even "") when it did, nothing when more text is
        needed."""
        if self._inside is None:
            yield from self._outside()
        else:
            yield from self._within(self._inside)

    def _outside(self) -> Iterator[Piece]:
        tags = [(at, n) for n in _NAMES if (at := self._held.find(f"<{n}>")) >= 0]
        if tags:
            at, name = min(tags)
            before, self._held = self._held[:at], self._held[at + len(name) + 2 :]
            self._inside = name
            yield before
            return
        keep = _tail_length(self._held, tuple(f"<{name}>" for name in _NAMES))
        ready = self._held[: len(self._held) - keep]
        self._held = self._held[len(ready) :]
        if ready:
            yield ready

    def _within(self, name: str) -> Iterator[Piece]:
        closing = f"</{name}>"
        at = self._held.find(closing)
        if at < 0:
            ready = len(self._held) - _tail_length(self._held, (closing,))
            yield from self._take(self._held[:ready])
            self._held = self._held[ready:]
            return
        yield from self._take(self._held[:at])
        self._held = self._held[at + len(closing) :]
        body, self._body, self._inside = self._body, "", None
        yield Tagged(body) if name == TOOL_CALL else ""

    def _take(self, text: str) -> Iterator[Piece]:
        if self._inside == TOOL_CALL:
            self._body = (self._body + text)[:MAX_BODY_CHARS]
        elif text:
            yield ThoughtDelta(text)


def _tail_length(text: str, tags: tuple[str, ...]) -> int:
    """How many characters at the end could be the beginning of one of the tags."""
    longest = max(len(tag) for tag in tags) - 1
    for length in range(min(longest, len(text)), 0, -1):
        if any(tag.startswith(text[-length:]) for tag in tags):
            return length
    return 0
