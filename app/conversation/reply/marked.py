"""From the parser's tokens to paragraphs, with the place of every character in the reply.

The parser gives lines, not characters: text that it took over unchanged is searched for from where
the last piece ended, within the lines of its block.

Invariant: the places never go back; text that is not found is placed where the search began.
"""

from itertools import accumulate

from markdown_it.helpers import parseLinkDestination
from markdown_it.token import Token

from app.conversation.reply.paragraph import (
    ROWS,
    Align,
    Cell,
    Paragraph,
    Run,
    Shape,
    Style,
    alone,
    pieces,
)
from app.conversation.reply.start import Start, Starts

_BULLETS = ("•", "◦", "▪")
_RULE = "⁂"
_NESTING = {"bullet_list": "depth", "ordered_list": "depth", "blockquote": "quotes"}
_STYLES = {"strong": "strong", "em": "slanted"}


class Reader:
    """Takes the tokens of one text in their order; it begins with the lead of `start`."""

    def __init__(self, source: str, start: Start) -> None:
        self.paragraphs: list[Paragraph] = []
        self._source = source
        self._offset = start.place - len(start.lead)  # added to every place
        self._continues = start.continues  # what the first paragraph does
        self._rows_before = start.rows  # which are not read, except the head again
        self._row = -1
        self._cell: Cell | None = None
        lengths = (len(line) + 1 for line in source.split("\n"))
        ends = accumulate(lengths, initial=0)
        self._lines = [min(end, len(source)) for end in ends]
        self._starts = Starts(source, self._lines, start)
        self._cursor = 0  # in the source: everything before it has its place
        self._end = len(source)  # of the block that is read
        self._within = {"depth": 0, "quotes": 0}
        self._mark = ""  # of the item that begins
        self._level = 0  # of the heading that begins

    @property
    def starts(self) -> list[Start]:
        """Where the text can be read again from, with the number of paragraphs before."""
        return self._starts.found

    def take(self, token: Token) -> None:
        if token.map is not None:
            first, last = token.map
            self._starts.enter(token, first, last, len(self.paragraphs))
            self._cursor = max(self._cursor, self._lines[first])
            self._end = self._lines[last]
        match token.type:
            case "list_item_open":
                bullet = _BULLETS[min(self._within["depth"], len(_BULLETS)) - 1]
                self._mark = f"{token.info}{token.markup}" if token.info else bullet
            case "list_item_close" if self._mark:
                self._add(_Writer(self, self._mark), Shape.TEXT)
            case "heading_open" | "heading_close":
                self._level = int(token.tag[1:]) if token.nesting > 0 else 0
            case "inline":
                writer = _Writer(self, self._mark)
                for child in token.children or ():
                    writer.take(child)
                self._add(writer, Shape.HEADING if self._level else Shape.TEXT)
            case "fence":
                self._take_fence(token)
            case "hr":
                self._add(_Writer(self, self._mark).put(_RULE, self._cursor), Shape.RULE)
            case _:
                if (name := _NESTING.get(_kind_of(token))) is not None:
                    self._within[name] += token.nesting
                self._take_table(token)

    def _take_table(self, token: Token) -> None:
        match token.type:
            case "table_open":
                self._row, self._mark = -1, ""
            case "tr_open":
                self._row = self._row + 1 if self._row else max(1, self._rows_before)
                self._cell = None
                if self._row and self._row % ROWS == 0 and self.paragraphs:
                    self._add(_Writer(self, ""), Shape.AFTER)
                if self._row and self._starts.is_in_table:
                    lead = self._starts.lead
                    at = self._cursor
                    self._starts.add(at, len(self.paragraphs), lead=lead, rows=self._row)
            case "table_close":
                self._cell, self._rows_before = None, 0
                self._add(_Writer(self, ""), Shape.AFTER)
            case "th_open" | "td_open":
                column = self._cell.column + 1 if self._cell else 0
                style = str(token.attrs.get("style", ""))
                align = Align(style.removeprefix("text-align:"))
                self._cell = Cell(self._row, column, align)

    def _take_fence(self, token: Token) -> None:
        line_end = self._source.find("\n", self._cursor)
        self._cursor = self._end if line_end < 0 else line_end + 1  # after the opening fence
        writer = _Writer(self, self._mark)
        for number, line in enumerate(token.content.removesuffix("\n").split("\n")):
            if number:
                writer.put("\n", self._cursor)
            writer.find(line, Style())
        self._add(writer, Shape.CODE)
        self._cursor = self._end

    def _add(self, writer: "_Writer", shape: Shape) -> None:
        is_read_again = self._rows_before and self._row == 0
        if is_read_again or (writer.is_empty and not self._cell and shape is not Shape.AFTER):
            return
        origin = tuple(place + self._offset for place in writer.origin)
        paragraph = Paragraph(
            writer.text,
            origin,
            tuple(writer.runs),
            shape,
            self._level,
            self._within["depth"],
            marked=bool(self._mark),
            quoted=self._within["quotes"] > 0,
            place=origin[0] if origin else self._cursor + self._offset,
            cell=self._cell,
            continues=self._continues and not self.paragraphs,
        )
        self._add_pieces(pieces(paragraph))
        self._mark = ""

    def _add_pieces(self, several: list[Paragraph]) -> None:
        before, lead = len(self.paragraphs), self._starts.lead
        self.paragraphs += several
        if self._starts.is_in_long_one:
            for piece in alone(several):
                at = piece.place - self._offset
                number = before + several.index(piece)
                self._starts.add(at, number, lead=lead, continues=True)

    # What the writer of one paragraph needs to know about the source.

    def place(self, text: str) -> int:
        """Where a piece of this block begins; the cursor moves past it."""
        found = self._source.find(text, self._cursor, self._end)
        if found < 0:
            return self._cursor
        self._cursor = found + len(text)
        return found

    def leave_link(self) -> tuple[str, int]:
        """Move past the target of a link; return its address as written, and where it stands."""
        start = self._source.find("](", self._cursor, self._end)
        if start < 0:
            return "", self._cursor
        start += 2
        while start < self._end and self._source[start].isspace():
            start += 1
        target = parseLinkDestination(self._source, start, self._end)
        closed = self._source.find(")", target.pos, self._end)
        self._cursor = closed + 1 if closed >= 0 else target.pos
        return self._source[start : target.pos].strip("<>"), start

    @property
    def cursor(self) -> int:
        return self._cursor


def _kind_of(token: Token) -> str:
    """What a token opens or closes."""
    return token.type.removesuffix("_open").removesuffix("_close")


class _Writer:
    """The text of one paragraph while it is collected."""

    def __init__(self, reader: Reader, mark: str) -> None:
        self.text = ""
        self.origin: list[int] = []
        self.runs: list[Run] = []
        self._reader = reader
        self._styles = dict.fromkeys(_STYLES.values(), 0)
        self._is_auto = False  # inside a link whose text is its address
        if mark:
            place = reader.place(mark) if mark[0].isdigit() else reader.cursor
            self.put(mark, place).put("\t", place + len(mark) if mark[0].isdigit() else place)

    @property
    def is_empty(self) -> bool:
        return not self.text

    def take(self, token: Token) -> None:
        match token.type:
            case "text":
                self.find(token.content, self._style())
            case "text_special":
                self.put(token.content, self._reader.place(token.markup), self._style())
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
        """Write a text that stands at one place of the source."""
        if style is not None and style != Style() and text:
            self.runs.append(Run(len(self.text), len(self.text) + len(text), style))
        self.text += text
        self.origin += [place] * len(text)
        return self

    def find(self, text: str, style: Style) -> None:
        """Write a text as it stands in the source, character by character."""
        start = len(self.text)
        before = self._reader.cursor
        place = self._reader.place(text)
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
