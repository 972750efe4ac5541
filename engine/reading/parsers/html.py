"""HTML and the XHTML of EPUB as paragraphs.

Python's parser has no entities of a document's own, opens nothing and does not recurse, so no
markup can read a file, multiply itself or nest too deep. Scripts, styles and forms are left out,
notes and their numbers are skipped.
"""

import re
from collections.abc import Collection
from html.parser import HTMLParser
from typing import Final

from engine.reading.parsers.blocks import Block, Kind, tidy

_BLOCKS: Final = frozenset(
    "p div li dt dd section article main figure figcaption caption tr table ul ol dl body header "
    "footer address details summary blockquote pre hr h1 h2 h3 h4 h5 h6".split()
)
_UNREAD: Final = frozenset(
    "script style template noscript svg nav iframe object select textarea button rt rp".split()
)
_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())
_NOTES: Final = re.compile(
    r"\b(?:doc-)?(?:footnotes?|endnotes?|rearnotes?|noteref|backlink|pagebreak|biblioref|navigation|search)\b"
)
_MARKER: Final = re.compile(r"[\[(]?(?:\d{1,4}|[ivxlc]{1,5}|[a-z]|[*†‡§¶#^↩]+\ufe0e?)[\])]?")
_DECLARATIONS: Final = re.compile(r"<!DOCTYPE[^>\[]{0,500}\[[^\]]{0,50000}\]\s*>", re.IGNORECASE)
_HEADING: Final = re.compile(r"h([1-6])")
Attributes = list[tuple[str, str | None]]


class BlockReader(HTMLParser):
    """Collects the paragraphs of a page. `marks` has the position in `blocks` where each element of
    `ids` begins.
    """

    def __init__(self, ids: Collection[str] = ()) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.marks: dict[str, int] = {}
        self.title = ""
        self.language = ""
        self.author = ""
        self._ids = ids
        self._text: list[str] = []
        self._heading = 0
        self._quotes = 0
        self._cells: list[str] | None = None  # of the current row
        self._skipped: tuple[str, int] | None = None  # tag of a skipped element and its depth
        self._code: int | None = None  # lines so far
        self._links: list[tuple[str, int]] = []  # tag and where its text begins, in _text
        self._in_title = False

    def feed(self, data: str) -> None:
        super().feed(_DECLARATIONS.sub("", data, count=1))

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        given = {name: value or "" for name, value in attrs}
        self._note_marks(tag, given)
        if not self._skips(tag, given):
            self._begin(tag, given)

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag == self._skipped[0]:
                depth = self._skipped[1] - 1
                self._skipped = (tag, depth) if depth else None
        elif tag in _BLOCKS:
            self._end_block(tag)
        elif tag in ("td", "th"):
            self._end_cell()
        elif tag == "title":
            self._in_title = False
        elif tag in ("a", "sup"):
            self._end_link(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif self._skipped is None:
            self._text.append(data)

    def finish(self) -> list[Block]:
        """Return all paragraphs, at the end of the page."""
        self.close()
        self._end_block("tr")
        self._end_block("pre")
        return self.blocks

    def _note_marks(self, tag: str, given: dict[str, str]) -> None:
        for name in (given.get("id", ""), given.get("name", "") if tag == "a" else ""):
            if name in self._ids:
                self.marks.setdefault(name, len(self.blocks))

    def _skips(self, tag: str, given: dict[str, str]) -> bool:
        """Return whether an element that begins is inside a skipped one, or skipped itself."""
        if self._skipped == ("p", 1) and tag in _BLOCKS:  # its end may be left out
            self._skipped = None
        if tag in _VOID:
            return self._skipped is not None
        if self._skipped:
            name, depth = self._skipped
            self._skipped = (name, depth + (tag == name))
        elif tag in _UNREAD or _is_skipped(given) or (tag == "math" and "alttext" in given):
            self._text.append(f" {given.get('alttext', '')} ")
            self._skipped = (tag, 1)
        return self._skipped is not None

    def _begin(self, tag: str, given: dict[str, str]) -> None:
        self._note_facts(tag, given)
        if tag in _BLOCKS:
            self._begin_block(tag)
        elif tag == "br":
            self._text.append(" ")
        elif tag in ("td", "th"):
            self._end_cell()
        elif tag in ("a", "sup"):
            self._links.append((tag, len(self._text)))

    def _note_facts(self, tag: str, given: dict[str, str]) -> None:
        if tag == "html":
            self.language = given.get("lang") or given.get("xml:lang", "")
        elif tag == "title":
            self._in_title = not self.title
        elif tag == "meta" and given.get("name", "").lower() == "author":
            self.author = given.get("content", "")

    def _begin_block(self, tag: str) -> None:
        self._flush()
        if heading := _HEADING.fullmatch(tag):
            self._heading = int(heading[1])
        elif tag == "blockquote":
            self._quotes += 1
        elif tag == "tr":
            self._end_block(tag)  # the row around a table
            self._cells = []
        elif tag == "pre":
            self._code = 0

    def _end_block(self, tag: str) -> None:
        if tag in ("tr", "table") and self._cells is not None:
            self._end_cell()
            row, self._cells = "; ".join(filter(None, self._cells)), None
            self._add(Kind.TABLE, row)
        elif tag == "pre" and self._code is not None:
            lines = "".join(self._text).strip().count("\n") + 1
            self._text, self._code = [], None
            self._add(Kind.CODE, str(lines))
        self._flush()
        if _HEADING.fullmatch(tag):
            self._heading = 0
        elif tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)

    def _end_cell(self) -> None:
        if self._cells is not None:
            self._cells.append(tidy("".join(self._text)))
            self._text = []

    def _end_link(self, tag: str) -> None:
        """Drop the number of a note: a link or superscript that is a marker alone."""
        while self._links:
            opened, start = self._links.pop()
            if opened == tag:
                linked = "".join(self._text[start:]).strip()
                if _MARKER.fullmatch(linked) and (tag == "sup" or not linked.isalpha()):
                    del self._text[start:]
                return

    def _flush(self) -> None:
        """End the current paragraph."""
        if self._code is not None or self._cells is not None:
            self._text.append(" ")  # a block inside a table or code
            return
        text = tidy("".join(self._text))
        self._text, self._links = [], []
        kind = Kind.QUOTE if self._quotes else Kind.TEXT
        self._add(Kind.HEADING if self._heading else kind, text)

    def _add(self, kind: Kind, text: str) -> None:
        if text:
            level = self._heading if kind is Kind.HEADING else 0
            self.blocks.append(Block(kind, text, level))


def _is_skipped(given: dict[str, str]) -> bool:
    names = f"{given.get('epub:type', '')} {given.get('role', '')}"
    hidden = "hidden" in given or given.get("aria-hidden") == "true"
    return hidden or bool(_NOTES.search(names))
