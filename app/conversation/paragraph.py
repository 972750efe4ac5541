"""Paragraphs of a reply as they are shown.

Invariant: every character that is shown has a place in the reply, in ascending order, so that a
heard word can be marked and a clicked one found. Long paragraphs are cut into pieces, because Qt
lays out and paints a paragraph as one. The place of a cut depends only on the text up to LONGEST
characters after the last cut, so more text never moves a cut.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise

from app.conversation.transcript import Span

LEAST, LONGEST = 600, 1_200  # characters of a piece
ROWS = 12  # of a table that Qt lays out as one; a longer one is several without a gap
_SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f]\S{0,2}\s+(?=[^\W\d_])")


class ParagraphShape(Enum):
    """The kind of a paragraph."""

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
    """Characters [start, end) of a paragraph that have their own style."""

    start: int
    end: int
    style: Style


@dataclass(frozen=True)
class Cell:
    """A place in a table; row 0 is its head."""

    row: int
    column: int
    align: str = ""  # left, center, right; "" = as the language is written
    weights: tuple[int, ...] = ()  # of the columns' widths, if several tables share them


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of a reply. Paragraphs that look the same are equal.

    `origin`: the index in the reply of each character of `text`. `place`: the index in the reply of
    the paragraph's beginning, which an empty paragraph has too.
    """

    text: str
    origin: Sequence[int] = field(compare=False)
    runs: tuple[Run, ...] = ()
    shape: ParagraphShape = ParagraphShape.TEXT
    level: int = 0  # of a heading, 1 to 6
    depth: int = 0  # how many lists it stands in
    marked: bool = False  # begins with the mark of a list's item and a tab
    quoted: bool = False
    place: int = field(default=0, compare=False)
    cell: Cell | None = None  # None = it is not in a table
    continues: bool = False  # the one before it, which was too long

    @property
    def is_inside_table(self) -> bool:
        """True if it shares a table with the paragraph before it."""
        if self.cell is None:
            return self.shape is ParagraphShape.AFTER
        return self.cell.row % ROWS > 0 or self.cell.column > 0

    def shown(self, span: Span) -> Span:
        """Return the characters of `text` that come from a span of the reply."""
        return Span(bisect_left(self.origin, span.start), bisect_left(self.origin, span.end))

    def source(self, index: int) -> int:
        """Return the place in the reply of a character of `text`; after the last one, the next
        place.
        """
        if index < len(self.origin):
            return self.origin[index]
        return self.origin[-1] + 1 if self.origin else self.place

    def grew_from(self, old: "Paragraph") -> bool:
        """True if this is `old` with more text at its end."""
        same = replace(self, text=old.text, runs=old.runs) == old
        return same and self.text.startswith(old.text) and self.runs[: len(old.runs)] == old.runs


def pieces(paragraph: Paragraph) -> list[Paragraph]:
    """Return the paragraph in pieces; a short one is a single piece."""
    cuts = [0, *_cuts(paragraph), len(paragraph.text)]
    if len(cuts) == 2:
        return [paragraph]
    return [_piece(paragraph, start, end) for start, end in pairwise(cuts)]


def _cuts(paragraph: Paragraph) -> Iterator[int]:
    start, text = 0, paragraph.text
    while len(text) - start > LONGEST:
        window = text[start + LEAST : start + LONGEST]
        if paragraph.shape is ParagraphShape.CODE:
            at = window.rfind("\n") + 1
        else:
            ends = [found.end() for found in _SENTENCE_END.finditer(window)]
            at = ends[-1] if ends else window.rfind(" ") + 1
        start += LEAST + at if at else LONGEST
        yield start


def _piece(paragraph: Paragraph, start: int, end: int) -> Paragraph:
    if paragraph.shape is ParagraphShape.CODE and end < len(paragraph.text):
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
        continues=start > 0,
    )
