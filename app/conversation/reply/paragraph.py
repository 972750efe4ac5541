"""Paragraphs of a reply as they are shown.

Invariant: every character that is shown knows where in the reply it comes from, in an order that
never goes back, so that a heard word can be marked and a clicked one can be found. Long paragraphs
are in pieces, because laying out and reading a paragraph again for one more word takes as long as
the paragraph is; where one is cut depends only on the text up to LONGEST characters behind the last
cut, so that more text never moves a cut.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from app.conversation.transcript import Span

LEAST, LONGEST = 600, 1_200  # characters of a piece
# A sentence that begins with a letter: no mark of Markdown, even as the first word of a text.
_SENTENCE = re.compile(r"[.!?\u2026\u3002\uff01\uff1f]\S{0,2}\s+(?=[^\W\d_])")
_OPENS = re.compile(r"[*_`\[|]")  # left over: what they open may still be closed


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


def pieces(paragraph: Paragraph) -> list[Paragraph]:
    """The paragraph itself if it is short."""
    cuts = [0, *_cuts(paragraph), len(paragraph.text)]
    if len(cuts) == 2:
        return [paragraph]
    return [_piece(paragraph, start, end) for start, end in pairwise(cuts)]


def alone(several: list[Paragraph]) -> list[Paragraph]:
    """The pieces that would be read the same without those before them."""
    found = []
    for before, piece in pairwise(several):
        if piece.shape is Shape.CODE:
            begins_line = bool(before.origin) and piece.place > before.origin[-1] + 1
            is_alone = begins_line and not piece.text.startswith("\n")
        elif _OPENS.search(before.text):
            break
        else:
            styled = any(run.end == len(before.text) for run in before.runs)
            styled = styled or any(run.start == 0 for run in piece.runs)
            is_alone = not styled and piece.text[0].isalpha()
        if is_alone:
            found.append(piece)
    return found


def _cuts(paragraph: Paragraph) -> Iterator[int]:
    start, text = 0, paragraph.text
    while len(text) - start > LONGEST:
        window = text[start + LEAST : start + LONGEST]
        if paragraph.shape is Shape.CODE:
            at = window.rfind("\n") + 1
        else:
            ends = [found.end() for found in _SENTENCE.finditer(window)]
            at = ends[-1] if ends else window.rfind(" ") + 1
        start += LEAST + at if at else LONGEST
        yield start


def _piece(paragraph: Paragraph, start: int, end: int) -> Paragraph:
    if paragraph.shape is Shape.CODE and end < len(paragraph.text):
        end -= paragraph.text[end - 1] == "\n"  # the end of the piece ends the line
    inside = (
        Run(max(run.start, start) - start, min(run.end, end) - start, run.style)
        for run in paragraph.runs
        if run.start < end and run.end > start
    )
    origin = paragraph.origin[start:end]
    return replace(
        paragraph,
        text=paragraph.text[start:end],
        origin=origin,
        runs=tuple(inside),
        place=origin[0] if origin else paragraph.place,
        marked=paragraph.marked and not start,
        continues=paragraph.continues or start > 0,
    )
