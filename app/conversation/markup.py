"""Markdown as paragraphs to show: what a language model writes, while it is still being written.

Invariant: no Qt here, and nothing in the text is executed: HTML stays as it is written, a link
shows its text and its address, a picture its text. Every character that is shown knows where in the
reply it comes from, in an order that never goes back, so that a heard word can be marked and a
clicked one can be found.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from app.conversation.transcript import Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# A text without any of these is shown as it is, and the parser is not even loaded.
_SIGNS = re.compile(r"[*_`#>~\[\\&<]|^[ ]*(?:[-+]|\d+[.)])[ ]|^[ ]*--", re.MULTILINE)
# Syntax that makes no sense in a spoken reply, or could change what was shown long ago.
_DISABLED = ("reference", "code", "lheading", "html_block", "html_inline", "text_join")


class Shape(Enum):
    """What a paragraph is."""

    TEXT = "text"
    HEADING = "heading"
    CODE = "code"
    RULE = "rule"


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


@dataclass(frozen=True)
class Paragraph:
    """`origin`: where in the reply each character of `text` comes from."""

    text: str
    origin: Sequence[int]
    runs: tuple[Run, ...] = ()
    shape: Shape = Shape.TEXT
    level: int = 0  # of a heading, 1 to 6
    depth: int = 0  # how many lists it stands in
    marked: bool = False  # begins with the mark of a list's item and a tab
    quoted: bool = False

    def shown(self, span: Span) -> Span:
        """The characters of `text` that come from a span of the reply."""
        return Span(bisect_left(self.origin, span.start), bisect_left(self.origin, span.end))

    def source(self, index: int) -> int:
        """Where in the reply a character of `text` comes from; after the last, what follows it."""
        if index < len(self.origin):
            return self.origin[index]
        return self.origin[-1] + 1 if self.origin else 0

    def grew_from(self, old: "Paragraph") -> bool:
        """Whether it is the old one with more text at its end."""
        same = replace(self, text=old.text, origin=old.origin, runs=old.runs) == old
        return same and self.text.startswith(old.text) and self.runs[: len(old.runs)] == old.runs


class Markup:
    """A reply as paragraphs, while it grows."""

    def __init__(self) -> None:
        self.source = ""
        self.paragraphs: list[Paragraph] = []
        self._settled = 0  # characters of the source that more text cannot change any more
        self._settled_paragraphs = 0

    def show(self, source: str) -> int:
        """Take the reply as it is now; return the number of the first paragraph that changed."""
        grows = source.startswith(self.source)
        if not grows or not self._settled:
            self._settled = self._settled_paragraphs = 0
        self.source = source
        keep = self._settled_paragraphs
        fresh, blocks = _parse(source[self._settled :], self._settled)
        old, self.paragraphs = self.paragraphs, self.paragraphs[:keep] + fresh
        self._settle(blocks)
        at = keep
        while at < min(len(old), len(self.paragraphs)) and old[at] == self.paragraphs[at]:
            at += 1
        return at

    def _settle(self, blocks: list["_Block"]) -> None:
        """Mark finished blocks as settled. An unfinished last line may still continue the block
        before it."""
        if len(blocks) > 1:
            self._settled = blocks[-2].start
            self._settled_paragraphs += blocks[-2].paragraphs


@dataclass(frozen=True)
class _Block:
    """Where a top-level block begins: its place in the reply, and the number of paragraphs before
    it."""

    start: int
    paragraphs: int


def _parse(source: str, offset: int) -> tuple[list[Paragraph], list[_Block]]:
    """`source` begins `offset` characters into the reply."""
    if not source:
        return [], []
    if _SIGNS.search(source) is None and not offset:
        return [Paragraph(source, range(len(source)))], []
    from app.conversation.marked import Reader

    reader = Reader(source, offset)
    for token in _parser().parse(source.replace("\r", " ")):
        reader.take(token)
    blocks = [_Block(start, paragraphs) for start, paragraphs in reader.blocks]
    return reader.paragraphs, blocks


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).disable(_DISABLED)
