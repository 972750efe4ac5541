"""Cuts a stream of deltas into tokens (runs of visible characters between white space), and says
how the next token begins as soon as its first character has arrived.

Invariant: the events depend on the characters alone, never on how they were cut into deltas; at
most LONGEST characters are kept.
"""

from dataclasses import dataclass

LONGEST = 512
"""Characters of one token; a longer run is cut into glued tokens. Long enough for real URLs."""


@dataclass(frozen=True)
class Token:
    """A run of visible characters; [start, start + len(text)) is its place in the whole text.

    `lines` counts the line ends between it and the token before (the first token of all has 1).
    `spaced`: a space or a tab came after it. `glued`: it continues the token before without a
    space.
    """

    text: str
    start: int
    lines: int
    spaced: bool
    glued: bool


@dataclass(frozen=True)
class Ahead:
    """The next token begins with `char`, `lines` line ends further down.

    `char` is "" while only line ends were seen; this is reported for the first two of them.
    """

    char: str
    lines: int


Event = Token | Ahead


class TokenStream:
    """Deltas in, events out; one per reply."""

    def __init__(self) -> None:
        self._position = 0
        self._start = 0
        self._letters: list[str] = []
        self._lines = 1  # the beginning of the text is the beginning of a line
        self._glued = False

    def push(self, delta: str) -> list[Event]:
        events: list[Event] = []
        for char in delta:
            if char.isspace():
                self._on_space(char, events)
            else:
                self._on_visible(char, events)
            self._position += 1
        return events

    def end(self) -> list[Token]:
        """The last token, if the text did not end with white space."""
        return [self._close(spaced=False, glued_next=False)] if self._letters else []

    def _on_space(self, char: str, events: list[Event]) -> None:
        if self._letters:
            events.append(self._close(spaced=char != "\n", glued_next=False))
        self._glued = False
        if char == "\n":
            self._lines += 1
            if self._lines <= 2:
                events.append(Ahead("", self._lines))

    def _on_visible(self, char: str, events: list[Event]) -> None:
        if len(self._letters) == LONGEST:
            events.append(self._close(spaced=False, glued_next=True))
        if not self._letters:
            self._start = self._position
            if not self._glued:
                events.append(Ahead(char, self._lines))
        self._letters.append(char)

    def _close(self, *, spaced: bool, glued_next: bool) -> Token:
        text = "".join(self._letters)
        token = Token(text, self._start, self._lines, spaced, self._glued)
        self._letters.clear()
        self._lines = 0
        self._glued = glued_next
        return token
