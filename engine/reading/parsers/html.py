"""HTML, and the XML of EPUB and Word, as trees; the paragraphs of a page.

Python's parser has no entities of a document's own, opens nothing and does not recurse, so no
markup can read a file or multiply itself. Elements inside too many others become siblings, so
trees may be walked recursively.
"""

import re
from collections.abc import Collection
from html.parser import HTMLParser
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from engine.reading.parsers.blocks import Block, Kind, tidy

_DEEPEST: Final = 150  # elements inside one another
_BLOCKS: Final = frozenset(
    "p div li dt dd section article aside main figure figcaption caption tr td th table ul ol dl "
    "body header footer address details summary blockquote pre hr h1 h2 h3 h4 h5 h6".split()
)
# Scripts, styles and forms are left out.
_UNREAD: Final = frozenset(
    "title script style template noscript svg nav iframe object select textarea button rt "
    "rp".split()
)
_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
# Elements that end where another one begins, unless a table is between them.
_ENDED_BY: Final = {
    **dict.fromkeys(_BLOCKS, ("p",)),
    **dict.fromkeys(("td", "th"), ("p", "td", "th")),
    "tr": ("p", "tr"),
}
_NOTES: Final = re.compile(
    r"\b(?:doc-)?(?:footnotes?|endnotes?|rearnotes?|noteref|backlink|pagebreak|biblioref|navigation|search)\b"
)
_MARKER: Final = re.compile(r"[\[(]?(?:\d{1,4}|[ivxlc]{1,5}|[a-z]|[*†‡§¶#^↩]+\ufe0e?)[\])]?")
_DECLARATIONS: Final = re.compile(r"<!DOCTYPE[^>\[]{0,500}\[[^\]]{0,50000}\]\s*>", re.IGNORECASE)
_HEADING: Final = re.compile(r"h([1-6])")


class _TreeBuilder(HTMLParser):
    def __init__(self, *, is_html: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self._open = [self.root]
        self._is_html = is_html

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        tag = tag.rpartition(":")[2]
        if self._is_html:
            for ended in _ENDED_BY.get(tag, ()):
                self._end(ended, outside="table")
        given = {name: value or "" for name, value in attrs}
        element = SubElement(self._open[-1], tag, given)
        if tag not in _VOID and len(self._open) < _DEEPEST:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        self._end(tag.rpartition(":")[2])

    def _end(self, tag: str, outside: str = "") -> None:
        """End the innermost open element with a name, and those in it."""
        for place in range(len(self._open) - 1, 0, -1):
            name = self._open[place].tag
            if name == tag:
                del self._open[place:]
            if name in (tag, outside):
                return

    def handle_data(self, data: str) -> None:
        parent = self._open[-1]
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + data
        else:
            parent.text = (parent.text or "") + data


def parse_tree(text: str, *, is_html: bool = False) -> Element:
    """Return the root of a file, with names in lower case and without the prefix of elements."""
    builder = _TreeBuilder(is_html=is_html)
    builder.feed(_DECLARATIONS.sub("", text, count=1))
    builder.close()
    return builder.root


class Page:
    """The paragraphs of an element of HTML. `marks` has the position in `blocks` where each element
    of `ids` begins. Notes and their numbers are skipped.
    """

    def __init__(self, element: Element, ids: Collection[str] = ()) -> None:
        self.blocks: list[Block] = []
        self.marks: dict[str, int] = {}
        self._ids = ids
        self._text: list[str] = []
        self._read(element, Block(Kind.TEXT, ""))
        self._flush(Block(Kind.TEXT, ""))

    def _read(self, element: Element, around: Block) -> None:
        """Read an element. `around`: a paragraph without text, like those of its parent."""
        tag = element.tag
        if tag in _BLOCKS:
            self._flush(around)
        for name in (element.get("id", ""), element.get("name", "") if tag == "a" else ""):
            if name in self._ids:
                self.marks.setdefault(name, len(self.blocks))
        notes = _NOTES.search(f"{element.get('epub:type', '')} {element.get('role', '')}")
        hidden = element.get("hidden") is not None or element.get("aria-hidden") == "true"
        if tag in _UNREAD or hidden or notes:
            pass
        elif formula := element.get("alttext"):
            self._text.append(f" {formula} ")
        elif tag == "pre":
            lines = "".join(element.itertext()).strip().count("\n") + 1
            self.blocks.append(Block(Kind.CODE, str(lines)))
        elif tag == "tr":
            self._read_row(element, around)
        else:
            self._read_inside(element, around)

    def _read_inside(self, element: Element, around: Block) -> None:
        tag, start = element.tag, len(self._text)
        if heading := _HEADING.fullmatch(tag):
            around = Block(Kind.HEADING, "", int(heading[1]))
        elif tag == "blockquote":
            around = Block(Kind.QUOTE, "")
        self._text.append(" " if tag == "br" else element.text or "")
        for child in element:
            self._read(child, around)
            self._text.append(child.tail or "")
        if tag in _BLOCKS:
            self._flush(around)
        elif tag in ("a", "sup"):  # drop the number of a note: a marker alone
            linked = "".join(self._text[start:]).strip()
            if _MARKER.fullmatch(linked) and (tag == "sup" or not linked.isalpha()):
                del self._text[start:]

    def _read_row(self, row: Element, around: Block) -> None:
        """Read a row as one paragraph, unless headings, code or tables are placed by it."""
        first = len(self.blocks)
        cells = []
        self._text.append(row.text or "")
        for cell in row:
            begin = len(self.blocks)
            self._read(cell, around)
            self._text.append(cell.tail or "")
            self._flush(around)
            cells.append(self.blocks[begin:])
        texts = [" ".join(block.text for block in cell) for cell in cells if cell]
        if len(texts) > 1 and all(each.kind is around.kind for each in self.blocks[first:]):
            self.blocks[first:] = [Block(Kind.TABLE, "; ".join(texts))]

    def _flush(self, around: Block) -> None:
        """End the current paragraph."""
        text = tidy("".join(self._text))
        self._text = []
        if text:
            self.blocks.append(Block(around.kind, text, around.level))
