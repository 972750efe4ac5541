"""Reads the Markdown of a reply as paragraphs, with the place of every character in the reply.

The parser reports lines, not characters: text that it took over unchanged is searched for from the
end of the last piece, within the lines of its block.

Invariant: no Qt here, and nothing in the text is executed: HTML stays as it is written, a link
shows its text and its address, a picture its text. Places are in ascending order; text that is not
found is placed where the search began.
"""

from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from app.conversation.paragraph import ROWS, Cell, Paragraph, ParagraphShape, Run, Style, pieces

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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
        """Set the column widths of all parts of a long table to those of its first part, so that
        the columns line up."""
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
