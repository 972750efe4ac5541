"""Markdown as paragraphs to show: what a language model writes, while it is still being written.

Invariant: no Qt here, and nothing in the text is executed: HTML stays as it is written, a link
shows its text and its address, a picture its text. What one more word costs does not grow with the
reply.
"""

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from app.conversation.reply.paragraph import Paragraph
from app.conversation.reply.pieces import LONGEST
from app.conversation.reply.start import Start

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# A short text without any of these is shown as it is, and the parser is not even loaded.
_SIGNS = re.compile(r"[*_`#>~\[\\&<|]|^[ ]*(?:[-+]|\d+[.)])[ ]|^[ ]*--", re.MULTILINE)
_PLAIN = re.compile(r"\S(?:.|\n(?![ \t\r]*\n))*")  # up to an empty line
# Syntax that makes no sense in a spoken reply, or could change what was shown long ago.
_DISABLED = ("reference", "code", "lheading", "html_block", "html_inline", "text_join")


class Markup:
    """A reply as paragraphs, while it grows."""

    def __init__(self) -> None:
        self.source = ""
        self.paragraphs: list[Paragraph] = []
        self._start = Start()  # more text cannot change what stands before it any more

    def show(self, source: str) -> int:
        """Take the reply as it is now; return the number of the first paragraph that changed."""
        if not source.startswith(self.source):
            self._start = Start()
        self.source = source
        keep = self._start.paragraphs
        fresh, starts = _parse(source, self._start)
        old, self.paragraphs = self.paragraphs, self.paragraphs[:keep] + fresh
        if len(starts) > 1:  # an unfinished last line may still continue what stands before it
            self._start = replace(starts[-2], paragraphs=keep + starts[-2].paragraphs)
        at = keep
        while at < min(len(old), len(self.paragraphs)) and old[at] == self.paragraphs[at]:
            at += 1
        return at


def _parse(source: str, start: Start) -> tuple[list[Paragraph], list[Start]]:
    """The paragraphs from `start` on, and where reading can begin again."""
    if start == Start() and len(source) <= LONGEST and _SIGNS.search(source) is None:
        return _plain(source), []
    from app.conversation.reply.marked import Reader

    text = start.lead + source[start.place :]
    reader = Reader(text, start)
    for token in _parser().parse(text.replace("\r", " ")):
        reader.take(token)
    return reader.paragraphs, reader.starts


def _plain(source: str) -> list[Paragraph]:
    return [
        Paragraph(found.group(), range(*found.span()), place=found.start())
        for found in _PLAIN.finditer(source)
    ]


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(_DISABLED)
