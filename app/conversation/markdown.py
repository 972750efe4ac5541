"""Reads the Markdown of a reply as paragraphs, with the place of every character in the reply.

The parser reports lines, not characters: text that it took over unchanged is searched for from the
end of the last piece, within the lines of its block.

Invariant: no Qt here, and nothing in the text is executed: HTML stays as it is written, a link
shows its text and its address, a picture its text. Places are in ascending order, so that a heard
word can be marked and a clicked one found; text that is not found is placed where the search began.
Long paragraphs are cut into pieces, because Qt lays out and paints a paragraph as one. The place of
a cut depends only on the text up to LONGEST characters after the last cut, so more text never moves
a cut.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from app.conversation.transcript import Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


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
        """Return a character's place in the reply; after the last one, the next place."""
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


# Syntax that makes no sense in a spoken reply, or could change a part that was shown long ago.
_DISABLED = ("reference", "code", "lheading", "html_block", "html_inline", "text_join")
_BULLETS = ("•", "◦", "▪")
_RULE = "⁂"
_NESTING = {"bullet_list": "depth", "ordered_list": "depth", "blockquote": "quotes"}
_STYLES = {"strong": "strong", "em": "slanted"}


def read(source: str) -> list[Paragraph]:
    """Return the paragraphs of a reply, which may be unfinished."""
    reader = _Reader(source)
    for token in _parser().parse(source.replace("\r", " ")):
        reader.read(token)
    return reader.paragraphs


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(_DISABLED)


class _Reader:
    """Reads the tokens of one text in their order."""

    def __init__(self, source: str) -> None:
        self.paragraphs: list[Paragraph] = []
        self.cursor = 0  # in the source: everything before it has its place
        self._source = source
        ends = accumulate((len(line) + 1 for line in source.split("\n")), initial=0)
        self._lines = [min(end, len(source)) for end in ends]
        self._end = len(source)  # of the block that is read
        self._within = {"depth": 0, "quotes": 0}
        self._mark = ""  # of the item that begins
        self._level = 0  # of the heading that begins
        self._table = 0  # number of the paragraph that begins the table
        self._row = -1
        self._cell: Cell | None = None

    def read(self, token: "Token") -> None:
        if token.map is not None:
            first, last = token.map
            self.cursor = max(self.cursor, self._lines[first])
            self._end = self._lines[last]
        match token.type:
            case "list_item_open":
                bullet = _BULLETS[min(self._within["depth"], len(_BULLETS)) - 1]
                self._mark = f"{token.info}{token.markup}" if token.info else bullet
            case "list_item_close" if self._mark:
                self._add(_Writer(self, self._mark), ParagraphShape.TEXT)
            case "heading_open" | "heading_close":
                self._level = int(token.tag[1:]) if token.nesting > 0 else 0
            case "inline":
                writer = _Writer(self, self._mark)
                for child in token.children or ():
                    writer.write(child)
                self._add(writer, ParagraphShape.HEADING if self._level else ParagraphShape.TEXT)
            case "fence":
                self._read_fence(token)
            case "hr":
                self._add(_Writer(self, self._mark).put(_RULE, self.cursor), ParagraphShape.RULE)
            case _:
                if (name := _NESTING.get(_kind_of(token))) is not None:
                    self._within[name] += token.nesting
                self._read_table(token)

    def _read_table(self, token: "Token") -> None:
        match token.type:
            case "table_open":
                self._table, self._row, self._mark = len(self.paragraphs), -1, ""
            case "tr_open":
                self._row, self._cell = self._row + 1, None
                if self._row and self._row % ROWS == 0:
                    self._add(_Writer(self, ""), ParagraphShape.AFTER)
            case "table_close":
                self._cell = None
                self._add(_Writer(self, ""), ParagraphShape.AFTER)
                if self._row >= ROWS:
                    self._share_widths()
            case "th_open" | "td_open":
                column = self._cell.column + 1 if self._cell else 0
                align = str(token.attrs.get("style", "")).removeprefix("text-align:")
                self._cell = Cell(self._row, column, align)

    def _share_widths(self) -> None:
        """Give all parts of a long table the column widths of the first, so that they line up."""
        paragraphs = enumerate(self.paragraphs[self._table :], self._table)
        cells = [(at, each.cell, len(each.text)) for at, each in paragraphs if each.cell]
        widths: dict[int, int] = {}
        for _, cell, length in cells:
            if cell.row < ROWS:
                widths[cell.column] = max(3, length, widths.get(cell.column, 0))
        for at, cell, _ in cells:
            if cell.row % ROWS == cell.column == 0:
                shared = replace(cell, weights=tuple(widths.values()))
                self.paragraphs[at] = replace(self.paragraphs[at], cell=shared)

    def _read_fence(self, token: "Token") -> None:
        line_end = self._source.find("\n", self.cursor)
        self.cursor = self._end if line_end < 0 else line_end + 1  # after the opening fence
        writer = _Writer(self, self._mark)
        for number, line in enumerate(token.content.removesuffix("\n").split("\n")):
            if number:
                writer.put("\n", self.cursor)
            writer.find(line, Style())
        self._add(writer, ParagraphShape.CODE)
        self.cursor = self._end

    def _add(self, writer: "_Writer", shape: ParagraphShape) -> None:
        if not writer.text and not self._cell and shape is not ParagraphShape.AFTER:
            return
        paragraph = Paragraph(
            writer.text,
            writer.origin,
            tuple(writer.runs),
            shape,
            self._level,
            self._within["depth"],
            marked=bool(self._mark),
            quoted=self._within["quotes"] > 0,
            place=writer.origin[0] if writer.origin else self.cursor,
            cell=self._cell,
        )
        self.paragraphs += [paragraph] if self._cell else pieces(paragraph)
        self._mark = ""

    # Used by the writer of a paragraph.

    def find(self, text: str) -> int:
        """Return the place of a piece of this block and move the cursor past the piece."""
        found = self._source.find(text, self.cursor, self._end)
        if found < 0:
            return self.cursor
        self.cursor = found + len(text)
        return found

    def leave_link(self) -> tuple[str, int]:
        """Move past the target of a link; return its address as written, and the place of that."""
        from markdown_it.helpers import parseLinkDestination

        start = self._source.find("](", self.cursor, self._end)
        if start < 0:
            return "", self.cursor
        start += 2
        while start < self._end and self._source[start].isspace():
            start += 1
        target = parseLinkDestination(self._source, start, self._end)
        closed = self._source.find(")", target.pos, self._end)
        self.cursor = closed + 1 if closed >= 0 else target.pos
        return self._source[start : target.pos].strip("<>"), start


def _kind_of(token: "Token") -> str:
    """The thing that a token opens or closes."""
    return token.type.removesuffix("_open").removesuffix("_close")


class _Writer:
    """The text of one paragraph while it is collected."""

    def __init__(self, reader: _Reader, mark: str) -> None:
        self.text = ""
        self.origin: list[int] = []
        self.runs: list[Run] = []
        self._reader = reader
        self._styles = dict.fromkeys(_STYLES.values(), 0)
        self._is_auto = False  # inside a link whose text is its address
        if mark:
            place = reader.find(mark) if mark[0].isdigit() else reader.cursor
            self.put(mark, place).put("\t", place + len(mark) if mark[0].isdigit() else place)

    def write(self, token: "Token") -> None:
        match token.type:
            case "text":
                self.find(token.content, self._style())
            case "text_special":
                self.put(token.content, self._reader.find(token.markup), self._style())
            case "code_inline":
                self.find(token.content, Style(code=True))
            case "softbreak" | "hardbreak":
                self.put("\n", self._reader.cursor)
            case "link_open":
                self._is_auto = token.markup == "autolink"
            case "link_close" if not self._is_auto:
                self._put_address()
            case "image":
                self.find(token.content, self._style())
                self._put_address()
            case _:
                if (name := _STYLES.get(_kind_of(token))) is not None:
                    self._styles[name] += token.nesting

    def put(self, text: str, place: int, style: Style | None = None) -> "_Writer":
        """Write a text whose characters all come from one place of the source."""
        if style is not None and style != Style() and text:
            self.runs.append(Run(len(self.text), len(self.text) + len(text), style))
        self.text += text
        self.origin += [place] * len(text)
        return self

    def find(self, text: str, style: Style) -> None:
        """Write a text that the source contains unchanged, each character with its own place."""
        start = len(self.text)
        before = self._reader.cursor
        place = self._reader.find(text)
        self.put(text, place, style)
        if self._reader.cursor != before or not text:
            self.origin[start:] = range(place, place + len(text))

    def _put_address(self) -> None:
        address, place = self._reader.leave_link()
        if address:
            self.put(" (", place, Style(aside=True))
            start = len(self.text)
            self.put(address, place, Style(aside=True))
            self.origin[start:] = range(place, place + len(address))
            self.put(")", place + len(address), Style(aside=True))

    def _style(self) -> Style:
        return Style(**{name: count > 0 for name, count in self._styles.items()})
