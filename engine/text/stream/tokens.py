"""Cut a stream of deltas into tokens (runs of visible characters between white space), and report
the first character of the next token as soon as it has arrived.

Invariant: the events depend on the characters alone, never on how they were cut into deltas; at
most LONGEST characters and one formula are kept. A formula is part of one token, spaces and all.
"""

from dataclasses import dataclass

from engine.text.formulas.boundaries import Boundaries, Formula

LONGEST = 512
"""Characters of one token; a longer run is cut into glued tokens. Long enough for real URLs."""


@dataclass(frozen=True)
class Token:
    """A run of visible characters; [start, start + len(text)) is its place in the whole text.

    `lines` counts the line ends between it and the token before (the first token of all has 1).
    `spaced`: a space or a tab came after it. `glued`: it continues the token before without a
    space. `formulas`: where formulas begin and end in the whole text.
    """

    text: str
    start: int
    lines: int
    spaced: bool
    glued: bool
    formulas: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Ahead:
    """The next token begins with `char`, `lines` line ends further down.

    `char` is "" while only line ends were seen; this is reported for the first two of them.
    """

    char: str
    lines: int


Event = Token | Ahead


class TokenStream:
    """Converts the deltas of one reply to events."""

    def __init__(self) -> None:
        self._boundaries = Boundaries()
        self._position = 0
        self._start = 0
        self._letters: list[str] = []
        self._length = 0
        self._formulas: list[tuple[int, int]] = []
        self._lines = 1  # the beginning of the text is the beginning of a line
        self._glued = False
        self._announced = False  # how the next token begins, while it may begin with a formula

    def push(self, delta: str) -> list[Event]:
        return self._cut(self._boundaries.push(delta))

    def end(self) -> list[Event]:
        """The held text, and the last token if the text did not end with white space."""
        events = self._cut(self._boundaries.end())
        if self._letters:
            events.append(self._close(spaced=False, glued_next=False))
        return events

    def _cut(self, parts: list[str | Formula]) -> list[Event]:
        events: list[Event] = []
        for part in parts:
            if isinstance(part, Formula):
                self._on_visible(part.text, events)
                self._formulas.append((self._position, self._position + len(part.text)))
                self._position += len(part.text)
                continue
            for char in part:
                if not char.isspace():
                    self._on_visible(char, events)
                elif self._letters:
                    events.append(self._close(spaced=char != "\n", glued_next=False))
                self._glued = self._glued and not char.isspace()
                self._lines += char == "\n"
                if char == "\n" and self._lines <= 2:
                    events.append(Ahead("", self._lines))
                self._position += 1
        if self._boundaries.held and not self._letters:
            self._announce(self._boundaries.held, events)
        return events

    def _on_visible(self, text: str, events: list[Event]) -> None:
        if self._length >= LONGEST:
            events.append(self._close(spaced=False, glued_next=True))
        if not self._letters:
            self._start = self._position
            self._announce(text, events)
            self._announced = False
        self._letters.append(text)
        self._length += len(text)

    def _announce(self, text: str, events: list[Event]) -> None:
        if not (self._glued or self._announced):
            events.append(Ahead(text[0], self._lines))
            self._announced = True

    def _close(self, *, spaced: bool, glued_next: bool) -> Token:
        text = "".join(self._letters)
        formulas = tuple(self._formulas)
        token = Token(text, self._start, self._lines, spaced, self._glued, formulas)
        self._letters.clear()
        self._formulas.clear()
        self._length = self._lines = 0
        self._glued = glued_next
        return token
