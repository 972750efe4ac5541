"""The conversation as one text document: an exchange is up to three blocks (said, reply, caption),
one after another.

Invariant: block 0 is an empty spacer, blocks follow in the order the exchanges began, and showing
an exchange touches only its own blocks, so the cost does not grow with the conversation.
"""

from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QFont, QFontMetricsF, QTextBlock, QTextCursor, QTextDocument

from app.conversation import bubbles
from app.conversation.bubbles import Kind, Words
from app.conversation.document_text import LINE_END, characters, displayable, units
from app.conversation.transcript import Exchange, Span
from app.look.measure import COLUMN, GUTTER, gutter
from app.look.theme import Theme

_NO_TEXT = "\u00a0"  # a block of it keeps its place
_MEASURED = 400  # characters; no line is wider than the column, and measuring a book is slow


@dataclass
class _Place:
    """Which blocks an exchange has, with the text each shows; None = no such block."""

    exchange: Exchange
    first_block: int
    said: str | None = None
    reply: str | None = None
    caption: str | None = None

    @property
    def reply_block(self) -> int:
        return self.first_block + (self.said is not None)

    @property
    def caption_block(self) -> int:
        return self.reply_block + (self.reply is not None)

    @property
    def end_block(self) -> int:
        return self.caption_block + (self.caption is not None)


class ConversationDocument(QTextDocument):
    """Writes exchanges into itself."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._font = QFont()
        self._column = COLUMN
        self._gutter = GUTTER
        self._places: list[_Place] = []
        self.setUndoRedoEnabled(False)
        self.setDocumentMargin(0)
        self.start_afresh(self._font)

    @property
    def is_blank(self) -> bool:
        return not self._places

    def start_afresh(self, font: QFont) -> None:
        """Empty; what is shown from now on is in this font and the theme's present colours."""
        self._font = font
        self._places.clear()
        self.clear()
        cursor = QTextCursor(self)
        cursor.setBlockFormat(bubbles.block_format(Kind.SPACER, self._column, 0))
        cursor.setBlockCharFormat(bubbles.char_format(Kind.SPACER, self._theme, font))
        self._set_gutter(self._gutter)

    def show_exchange(self, exchange: Exchange) -> None:
        """Bring its blocks up to date; an exchange that turned out to be nothing goes away."""
        place = self._place_of(exchange)
        if exchange.is_blank:
            self._drop(place)
            return
        self._show_said(place)
        self._show_reply(place)
        self._show_caption(place)
        if exchange.ending is not None and exchange.unheard is not None:
            style = bubbles.unheard_format(self._theme)
            self.reply_cursor(exchange, exchange.unheard).mergeCharFormat(style)

    def reply_block(self, exchange: Exchange) -> QTextBlock | None:
        """The block of its reply; None while there is none."""
        place = self._find(exchange)
        if place is None or place.reply is None:
            return None
        return self.findBlockByNumber(place.reply_block)

    def reply_at(self, position: int) -> tuple[Exchange, int] | None:
        """Whose reply stands at a position of the document, and which character of it."""
        block = self.findBlock(position)
        number = block.blockNumber()
        for place in reversed(self._places):
            if place.reply is not None and place.reply_block == number:
                return place.exchange, characters(place.reply, position - block.position())
        return None

    def door_block(self, exchange: Exchange) -> QTextBlock | None:
        """The block with room for a button; None while there is none."""
        place = self._find(exchange)
        if place is None or place.caption is None or not exchange.has_door:
            return None
        return self.findBlockByNumber(place.caption_block)

    def reply_words(self, exchange: Exchange, span: Span) -> Words:
        """A span of the reply in the units of its block."""
        return Words(units(exchange.reply[: span.start]), units(exchange.reply[: span.end]))

    def reply_cursor(self, exchange: Exchange, span: Span) -> QTextCursor:
        """A cursor that selects a span of the reply; selects nothing while there is no reply."""
        cursor = QTextCursor(self)
        block = self.reply_block(exchange)
        if block is not None:
            words = self.reply_words(exchange, span)
            cursor.setPosition(block.position() + words.start)
            cursor.setPosition(block.position() + words.end, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def fit(self, width: float) -> None:
        """Keep lines short in a wide window: the text stands in a column in the middle."""
        side = gutter(width)
        column = max(width - 2 * side, 160.0)
        self._set_gutter(side)
        if column != self._column:
            self._column = column
            self._fit_blocks()

    # ------------------------------------------------------------------ blocks

    def _set_gutter(self, side: float) -> None:
        self._gutter = side
        frame = self.rootFrame()
        style = frame.frameFormat()
        style.setLeftMargin(side)
        style.setRightMargin(side)
        style.setBottomMargin(bubbles.PAD_Y + 16)
        frame.setFrameFormat(style)

    def _fit_blocks(self) -> None:
        cursor = QTextCursor(self)
        cursor.beginEditBlock()
        block = self.firstBlock().next()
        while block.isValid():
            kind = bubbles.kind_of(block)
            cursor.setPosition(block.position())
            width = 0.0 if kind is Kind.REPLY else self._width_of(block.text())
            cursor.setBlockFormat(bubbles.block_format(kind, self._column, width))
            block = block.next()
        cursor.endEditBlock()

    def _find(self, exchange: Exchange) -> _Place | None:
        for place in reversed(self._places):  # the last two are the ones spoken about
            if place.exchange is exchange:
                return place
        return None

    def _place_of(self, exchange: Exchange) -> _Place:
        place = self._find(exchange)
        if place is None:
            end = self._places[-1].end_block if self._places else 1
            place = _Place(exchange, end)
            self._places.append(place)
        return place

    def _show_said(self, place: _Place) -> None:
        exchange = place.exchange
        if not exchange.said:
            return
        kind = Kind.PARTIAL if exchange.is_partial else Kind.SAID
        if place.said is None:
            self._insert_block(place, place.first_block)
        elif place.said == exchange.said and self._kind(place.first_block) is kind:
            return
        place.said = exchange.said
        self._write(place.first_block, kind, exchange.said)

    def _show_reply(self, place: _Place) -> None:
        reply = place.exchange.reply
        if not reply or reply == place.reply:
            return
        if place.reply is None:
            self._insert_block(place, place.reply_block)
        shown, place.reply = place.reply, reply
        if shown and reply.startswith(shown):
            style = bubbles.char_format(Kind.REPLY, self._theme, self._font)
            self._cursor_at_end(place.reply_block).insertText(
                displayable(reply[len(shown) :]), style
            )
        else:
            self._write(place.reply_block, Kind.REPLY, reply)

    def _show_caption(self, place: _Place) -> None:
        kind = Kind.DOOR if place.exchange.has_door else Kind.CAPTION
        caption = place.exchange.caption or (_NO_TEXT if kind is Kind.DOOR else "")
        if (caption or None) == place.caption:
            return
        if not caption:
            self._remove_block(place, place.caption_block)
            place.caption = None
            return
        if place.caption is None:
            self._insert_block(place, place.caption_block)
        place.caption = caption
        self._write(place.caption_block, kind, caption)

    def _drop(self, place: _Place) -> None:
        for _ in range(place.end_block - place.first_block):
            self._remove_block(place, place.first_block)
        self._places.remove(place)

    def _remove_block(self, place: _Place, number: int) -> None:
        before = self.findBlockByNumber(number - 1)
        style = before.blockFormat()
        cursor = self._cursor_at_end(number)
        end = before.position() + before.length() - 1
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        cursor.setBlockFormat(style)  # joining blocks may take the format of the second
        self._move_later(place, -1)

    def _insert_block(self, place: _Place, number: int) -> None:
        self._cursor_at_end(number - 1).insertBlock()
        self._move_later(place, 1)

    def _move_later(self, place: _Place, blocks: int) -> None:
        """Blocks before the places after this one came or went."""
        for later in reversed(self._places):
            if later is place:
                break
            later.first_block += blocks

    def _write(self, number: int, kind: Kind, text: str) -> None:
        cursor = self._cursor_at_end(number)
        start = self.findBlockByNumber(number).position()
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        shown = displayable(text)
        cursor.setBlockFormat(bubbles.block_format(kind, self._column, self._width_of(shown)))
        cursor.insertText(shown, bubbles.char_format(kind, self._theme, self._font))

    def _kind(self, number: int) -> Kind:
        return bubbles.kind_of(self.findBlockByNumber(number))

    def _cursor_at_end(self, number: int) -> QTextCursor:
        block = self.findBlockByNumber(number)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + block.length() - 1)
        return cursor

    def _width_of(self, shown: str) -> float:
        metrics = QFontMetricsF(self._font)
        return max(metrics.horizontalAdvance(line[:_MEASURED]) for line in shown.split(LINE_END))
