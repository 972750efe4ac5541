"""Word documents: paragraphs, headings by their style, tables row by row."""

import re
from html.parser import HTMLParser
from typing import Final

from engine.reading.parsers.archive import Archive
from engine.reading.parsers.blocks import Block, Kind, Parsed, tidy
from engine.reading.parsers.decoding import decode
from engine.reading.parsers.html import Attributes
from engine.reading.parsers.whole import whole_document

MAIN: Final = "word/document.xml"
_HEADING: Final = re.compile(r"(?:heading|berschrift|titre|t[ií]tulo|titolo)\s?(\d)", re.IGNORECASE)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self._text = ""
        self._level = 0
        self._row: list[str] | None = None  # None = outside a table
        self._reads = False  # inside an element of text

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag == "w:t":
            self._reads = True
        elif tag in ("w:tab", "w:br"):
            self._text += " "
        elif tag == "w:tr":
            self._row = []
        elif tag == "w:pstyle" and (style := _HEADING.search(dict(attrs).get("w:val") or "")):
            self._level = int(style[1])

    def handle_endtag(self, tag: str) -> None:
        if tag == "w:t":
            self._reads = False
        elif tag == "w:p" and self._row is None:
            self._add(Kind.HEADING if self._level else Kind.TEXT)
        elif tag == "w:p":
            self._text += " "
        elif tag == "w:tc" and self._row is not None:
            self._row.append(tidy(self._text))
            self._text = ""
        elif tag == "w:tr" and self._row is not None:
            self._text, self._row = "; ".join(filter(None, self._row)), None
            self._add(Kind.TABLE)

    def handle_data(self, data: str) -> None:
        if self._reads:
            self._text += data

    def _add(self, kind: Kind) -> None:
        if text := tidy(self._text):
            self.blocks.append(Block(kind, text, self._level))
        self._text, self._level = "", 0


def parse(archive: Archive) -> Parsed:
    """Read a document. Its chapters begin at headings."""
    reader = _Reader()
    reader.feed(decode(archive.read(MAIN)))
    reader.close()
    return whole_document(reader.blocks)
