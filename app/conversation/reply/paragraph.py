"""Paragraphs of a reply as they are shown.

Invariant: every character that is shown knows where in the reply it comes from, in an order that
never goes back, so that a heard word can be marked and a clicked one can be found.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from app.conversation.transcript import Span


class Shape(Enum):
    """What a paragraph is."""

    TEXT = "text"
    HEADING = "heading"
    CODE = "code"
    RULE = "rule"
    AFTER = "after"  # an empty one, which ends a table


@dataclass(frozen=True)
class Style:
    """How a run of characters looks."""

    strong: bool = False
    slanted: bool = False
    code: bool = False
    aside: bool = False  # the address of a link


@dataclass(frozen=True)
class Run:
    """Characters [start, end) of a paragraph in another style than its own."""

    start: int
    end: int
    style: Style


ROWS = 12  # of a table that is laid out as one; a longer one is several without a gap


class Align(Enum):
    """Where the text of a cell stands."""

    START = ""
    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"


@dataclass(frozen=True)
class Cell:
    """A place in a table; row 0 is its head."""

    row: int
    column: int
    align: Align = Align.START


@dataclass(frozen=True)
class Paragraph:
    """`origin`: where in the reply each character of `text` comes from; `place`: where it begins,
    also when it is empty.
    """

    text: str
    origin: Sequence[int]
    runs: tuple[Run, ...] = ()
    shape: Shape = Shape.TEXT
    level: int = 0  # of a heading, 1 to 6
    depth: int = 0  # how many lists it stands in
    marked: bool = False  # begins with the mark of a list's item and a tab
    quoted: bool = False
    place: int = 0
    cell: Cell | None = None  # None = it is not in a table
    continues: bool = False  # the one before it, which was too long

    @property
    def begins_table(self) -> bool:
        """Whether a table, or the next part of a long one, begins with it."""
        return self.cell is not None and self.cell.row % ROWS == self.cell.column == 0

    @property
    def begins_second_part(self) -> bool:
        """Whether it shows that a table is a long one."""
        return self.cell is not None and (self.cell.row, self.cell.column) == (ROWS, 0)

    @property
    def slot(self) -> tuple[Cell | None, bool]:
        """What kind of block shows it: a cell, the end of a table, or an ordinary one."""
        return self.cell, self.shape is Shape.AFTER

    @property
    def is_inside_table(self) -> bool:
        """Whether it goes with the one before it, as a part of the same table."""
        return self.slot != (None, False) and not self.begins_table

    def shown(self, span: Span) -> Span:
        """The characters of `text` that come from a span of the reply."""
        return Span(bisect_left(self.origin, span.start), bisect_left(self.origin, span.end))

    def source(self, index: int) -> int:
        """Where in the reply a character of `text` comes from; after the last, what follows it."""
        if index < len(self.origin):
            return self.origin[index]
        return self.origin[-1] + 1 if self.origin else self.place

    def grew_from(self, old: "Paragraph") -> bool:
        """Whether it is the old one with more text at its end."""
        same = replace(self, text=old.text, origin=old.origin, runs=old.runs) == old
        return same and self.text.startswith(old.text) and self.runs[: len(old.runs)] == old.runs
