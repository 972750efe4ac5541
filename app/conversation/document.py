"""The conversation as one text document. An exchange has one block for what the person said, one
for each paragraph of the reply and one for a caption, as far as these exist.

Invariant: block 0 is an empty spacer; the blocks follow in the order in which the exchanges began.
Showing an exchange touches only its own blocks, so the cost does not grow with the conversation.
"""

from dataclasses import dataclass, field

from PySide6.QtCore import QObject
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)

from app.conversation import bubbles
from app.conversation.bubbles import Kind, Words
from app.conversation.document_text import LINE_END, characters, displayable, units
from app.conversation.markup import Markup
from app.conversation.paragraph import Paragraph
from app.conversation.transcript import Exchange, Span
from app.look.measure import COLUMN, GUTTER, gutter
from app.look.theme import Theme

_NO_TEXT = "\u00a0"  # an empty block keeps its place with this
_MEASURED = 400  # characters; no line is wider than the column, and measuring a book is slow


@dataclass
class _Place:
    """Which blocks an exchange has, with the text each shows; None = no such block."""

    exchange: Exchange
    first_block: int
    said: str | None = None
    reply: str | None = None
    markup: Markup = field(default_factory=Markup)
    shown: int = 0  # paragraphs of the reply that have a block
    caption: str | None = None

    @property
    def reply_block(self) -> int:
        return self.first_block + (self.said is not None)

    @property
    def caption_block(self) -> int:
        return self.reply_block + self.shown

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
        """Clear the document; from now on text is shown in this font and the theme's current
        colours."""
        self._font = font
        self._places.clear()
        self.clear()
        cursor = QTextCursor(self)
        cursor.setBlockFormat(bubbles.block_format(Kind.SPACER, self._column, 0))
        cursor.setBlockCharFormat(bubbles.char_format(Kind.SPACER, self._theme, font))
        self._set_gutter(self._gutter)

    def show_exchange(self, exchange: Exchange) -> None:
        """Bring its blocks up to date; an exchange that ended without content is removed."""
        place = self._place_of(exchange)
        if exchange.is_blank:
            self._drop(place)
            return
        self._show_said(place)
        self._show_reply(place)
        self._show_caption(place)
        if exchange.ending is not None and exchange.unheard is not None:
            style = bubbles.unheard_format(self._theme)
            for cursor in self.reply_cursors(exchange, exchange.unheard):
                cursor.mergeCharFormat(style)

    def reply_block(self, exchange: Exchange) -> QTextBlock | None:
        """The block of its reply; None while there is none."""
        place = self._find(exchange)
        if place is None or not place.shown:
            return None
        return self.findBlockByNumber(place.reply_block)

    def reply_at(self, position: int) -> tuple[Exchange, int] | None:
        """The exchange whose reply is at a position of the document, and the index of the character
        in it."""
        block = self.findBlock(position)
        number = block.blockNumber()
        for place in reversed(self._places):
            at = number - place.reply_block
            if 0 <= at < place.shown:
                paragraph = place.markup.paragraphs[at]
                index = characters(paragraph.text, position - block.position())
                return place.exchange, paragraph.source(index)
        return None

    def top_of(self, exchange: Exchange, reached: int) -> float:
        """The top of the line that shows character `reached` of the reply, or else of the reply."""
        rest = self.reply_words(exchange, Span(reached, len(exchange.reply)))
        block = rest[0][0] if rest else self.reply_block(exchange)
        if block is None:
            return 0.0
        line = block.layout().lineForTextPosition(rest[0][1].start if rest else block.length() - 1)
        return block.layout().position().y() + (line.y() if line.isValid() else 0.0)

    def door_block(self, exchange: Exchange) -> QTextBlock | None:
        """The block with room for a button; None while there is none."""
        return self.caption_block(exchange) if exchange.has_door else None

    def caption_block(self, exchange: Exchange) -> QTextBlock | None:
        """The block below its reply; None while there is none."""
        place = self._find(exchange)
        if place is None or place.caption is None:
            return None
        return self.findBlockByNumber(place.caption_block)

    def reply_words(self, exchange: Exchange, span: Span) -> list[tuple[QTextBlock, Words]]:
        """The blocks that show a part of this span of the reply, and which characters of each."""
        place = self._find(exchange)
        if place is None:
            return []
        found = []
        for at, paragraph in enumerate(place.markup.paragraphs[: place.shown]):
            shown = paragraph.shown(span)
            if shown.start < shown.end:
                start, end = (units(paragraph.text[:n]) for n in (shown.start, shown.end))
                block = self.findBlockByNumber(place.reply_block + at)
                found.append((block, Words(start, end)))
        return found

    def reply_cursors(self, exchange: Exchange, span: Span) -> list[QTextCursor]:
        """Cursors that select a span of the reply, one for each paragraph; none without a reply."""
        cursors = []
        for block, words in self.reply_words(exchange, span):
            cursor = QTextCursor(self)
            cursor.setPosition(block.position() + words.start)
            cursor.setPosition(block.position() + words.end, QTextCursor.MoveMode.KeepAnchor)
            cursors.append(cursor)
        return cursors

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
        style.setBottomMargin(bubbles.PAD_Y + bubbles.TURN_GAP)  # room for the tools
        frame.setFrameFormat(style)

    def _fit_blocks(self) -> None:
        cursor = QTextCursor(self)
        cursor.beginEditBlock()
        replies = {
            place.reply_block + at: paragraph
            for place in self._places
            for at, paragraph in enumerate(place.markup.paragraphs[: place.shown])
        }
        block = self.firstBlock().next()
        while block.isValid():
            cursor.setPosition(block.position())
            cursor.setBlockFormat(self._format_of(block, replies.get(block.blockNumber())))
            block = block.next()
        cursor.endEditBlock()

    def _format_of(self, block: QTextBlock, paragraph: Paragraph | None) -> QTextBlockFormat:
        kind = bubbles.kind_of(block)
        if paragraph is not None:
            return bubbles.paragraph_format(kind, self._column, paragraph)
        return bubbles.block_format(kind, self._column, self._width_of(block.text()))

    def _find(self, exchange: Exchange) -> _Place | None:
        for place in reversed(self._places):  # events are nearly always about the last two
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
        if reply == (place.reply or ""):
            return
        place.reply = reply
        before = list(place.markup.paragraphs)
        first = place.markup.show(reply)
        paragraphs = place.markup.paragraphs
        while place.shown > len(paragraphs):
            place.shown -= 1
            self._remove_block(place, place.reply_block + place.shown)
        for at in range(first, len(paragraphs)):
            old = before[at] if at < min(place.shown, len(before)) else None
            self._show_paragraph(place, at, old)

    def _show_paragraph(self, place: _Place, at: int, old: Paragraph | None) -> None:
        """`old` is what its block shows; None = nothing, or there is no block yet."""
        number = place.reply_block + at
        if at == place.shown:
            self._insert_block(place, number)
            place.shown += 1
        paragraph = place.markup.paragraphs[at]
        if old is not None and paragraph.grew_from(old):
            self._append(self._cursor_at_end(number), paragraph, len(old.text))
            return
        cursor = self._cursor_at_end(number)
        start = self.findBlockByNumber(number).position()
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        kind = Kind.MORE if at else Kind.REPLY
        cursor.setBlockFormat(bubbles.paragraph_format(kind, self._column, paragraph))
        self._append(cursor, paragraph, 0)

    def _append(self, cursor: QTextCursor, paragraph: Paragraph, start: int) -> None:
        """Write its characters from `start` on, run by run."""
        base = bubbles.paragraph_char_format(paragraph, self._theme, self._font)
        for run in paragraph.runs:
            if run.start >= start:
                cursor.insertText(displayable(paragraph.text[start : run.start]), base)
                style = bubbles.run_format(run, base, self._theme)
                cursor.insertText(displayable(paragraph.text[run.start : run.end]), style)
                start = run.end
        cursor.insertText(displayable(paragraph.text[start:]), base)

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
        """Shift the places after this one by the number of blocks that were added or removed."""
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
