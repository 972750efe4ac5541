"""Markdown as paragraphs to show: what a language model writes, while it is still being written.

Invariant: no Qt here, and nothing in the text is executed: HTML stays as it is written, a link
shows its text and its address, a picture its text.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from app.conversation.paragraph import Paragraph

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# A text without any of these is shown as it is, and the parser is not even loaded.
_SIGNS = re.compile(r"[*_`#>~\[\\&<]|^[ ]*(?:[-+]|\d+[.)])[ ]|^[ ]*--", re.MULTILINE)
# Syntax that makes no sense in a spoken reply, or could change what was shown long ago.
_DISABLED = ("reference", "code", "lheading", "html_block", "html_inline", "text_join")


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
