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
from app.conversation.reply.pieces import alone, pieces
from app.conversation.reply.start import Start

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# A text without any of these is shown as it is, and the parser is not even loaded.
_SIGNS = re.compile(r"[*_`#>~\[\\&<|\t\r\0]|^[ ]*(?:[-+]|\d+[.)])[ ]|^[ ]*--", re.MULTILINE)
_PLAIN = re.compile(r"\S(?:.|\n(?! *\n))*")  # up to an empty line
_LINE = re.compile(r"[^ \n](?:.*[^ \n])?")
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
    if not start.lead and _SIGNS.search(source, start.place) is None:
        return _plain(source, start)
    from app.conversation.reply.marked import Reader

    text = start.lead + source[start.place :]
    reader = Reader(text, start)
    for token in _parser().parse(text.replace("\r", " ")):
        reader.take(token)
    return reader.paragraphs, reader.starts


def _plain(source: str, start: Start) -> tuple[list[Paragraph], list[Start]]:
    """The same without a parser, for what bears no marks."""
    paragraphs: list[Paragraph] = []
    starts: list[Start] = []
    for found in _PLAIN.finditer(source, start.place):
        continues = start.continues and not paragraphs
        starts.append(Start(found.start(), len(paragraphs), continues=continues))
        text, origin = "", list[int]()
        for line in _LINE.finditer(source, *found.span()):
            if origin:
                text += "\n"
                origin.append(origin[-1] + 1)
            text += line.group()
            origin += range(*line.span())
        whole = Paragraph(text, tuple(origin), place=found.start(), continues=continues)
        several = pieces(whole)
        for piece in alone(several):
            number = len(paragraphs) + several.index(piece)
            starts.append(Start(piece.place, number, continues=True))
        paragraphs += several
    return paragraphs, starts


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(_DISABLED)
