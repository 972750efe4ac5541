"""The conversation as one text document. An exchange has one block for what the person said, one
for each paragraph of the reply (of a table, for each cell) and one for a caption, as far as these
exist.

Invariant: block 0 is an empty spacer; the blocks follow in the order in which the exchanges began.
Showing an exchange touches only the blocks that changed, so the cost grows neither with the
conversation nor with the reply.
"""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextBlock,
    QTextCursor,
    QTextDocument,
)

from app.conversation import bubbles
from app.conversation.bubbles import Kind, Words
from app.conversation.reply.blocks import Blocks, Places, alike, cells_from, columns_of
from app.conversation.reply.paragraph import Paragraph, Shape
from app.conversation.transcript import Exchange, Span
from app.look.layout import COLUMN, GUTTER, gutter
from app.look.plain_text import LINE_END, characters, displayable, units
from app.look.theme import Theme

_NO_TEXT = "\u00a0"  # an empty block keeps its place with this
_NO_END = 1 << 30
_MEASURED = 400  # characters; no line is wider than the column, and measuring a book is slow


class ConversationDocument(QTextDocument):
    """Writes exchanges into itself."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._font = QFont()
        self._column = COLUMN
        self._gutter = GUTTER
        self._places = Places()
        self.setUndoRedoEnabled(False)
        self.setDocumentMargin(0)
        self.start_afresh(self._font)

    @property
    def is_blank(self) -> bool:
        return not self._places.all

    def start_afresh(self, font: QFont) -> None:
        """Clear the document; from now on text is shown in this font and the theme's current
        colours."""
        self._font = font
        self._places.all.clear()
        self.clear()
        cursor = QTextCursor(self)
        cursor.setBlockFormat(bubbles.block_format(Kind.SPACER, self._column, 0))
        cursor.setBlockCharFormat(bubbles.char_format(Kind.SPACER, self._theme, font))
        self._set_gutter(self._gutter)

    def show_exchange(self, exchange: Exchange) -> None:
        """Bring its blocks up to date; an exchange that ended without content is removed."""
        place = self._places.of(exchange)
        if exchange.is_blank:
            if count := place.end_block - place.first_block:
                self._remove_blocks(place, place.first_block, count)
            self._places.all.remove(place)
            return
        self._show_said(place)
        self._show_reply(place)
        self._show_caption(place)
        if exchange.ending is not None and exchange.unheard is not None:
            style = bubbles.unheard_format(self._theme)
            for cursor in self.reply_cursors(exchange, exchange.unheard):
                cursor.mergeCharFormat(style)

    def said_block(self, exchange: Exchange) -> QTextBlock | None:
        """The block of its question; None while there is none, also in the middle of a change."""
        place = self._places.find(exchange)
        number = -1 if place is None or place.said is None else place.first_block
        block = self.findBlockByNumber(number)
        return block if block.isValid() else None

    def reply_block(self, exchange: Exchange) -> QTextBlock | None:
        """The block of its reply; None while there is none."""
        place = self._places.find(exchange)
        if place is None or not place.shown:
            return None
        return self.findBlockByNumber(place.reply_block)

    def reply_at(self, position: int) -> tuple[Exchange, int] | None:
        """The exchange whose reply is at a position of the document, and the index of the character
        in it."""
        block = self.findBlock(position)
        place = self._places.at(block.blockNumber())
        at = block.blockNumber() - place.reply_block if place is not None else -1
        if place is None or not 0 <= at < place.shown:
            return None
        paragraph = place.markup.paragraphs[at]
        index = characters(paragraph.text, position - block.position())
        return place.exchange, paragraph.source(index)

    def exchange_with(self, block: QTextBlock) -> Exchange | None:
        """The exchange that a block belongs to; None = none."""
        place = self._places.at(block.blockNumber())
        return None if place is None else place.exchange

    def bubble_rect(self, exchange: Exchange) -> QRectF:
        """The bubble of its reply, in document coordinates; a null one without a reply."""
        place = self._places.find(exchange)
        if place is None or not place.shown:
            return QRectF()
        for at in range(len(place.rights), place.shown):
            right = bubbles.right_of(self.findBlockByNumber(place.reply_block + at))
            place.rights.append(max([right, *place.rights[-1:]]))
        first = self.findBlockByNumber(place.reply_block)
        last = self.findBlockByNumber(place.reply_block + place.shown - 1)
        return bubbles.bubble_around(first, last, place.rights[-1])

    def top_of(self, exchange: Exchange, reached: int) -> float:
        """The top of the line that shows character `reached` of the reply, or else of the reply."""
        for block, words in self.reply_words(exchange, Span(reached, len(exchange.reply))):
            return bubbles.line_top(block, words.start)
        whole = self.reply_block(exchange)
        return 0.0 if whole is None else bubbles.line_top(whole, whole.length() - 1)

    def model_link_block(self, exchange: Exchange) -> QTextBlock | None:
        """The block with room for a button; None while there is none."""
        return self.caption_block(exchange) if exchange.has_model_link else None

    def caption_block(self, exchange: Exchange) -> QTextBlock | None:
        """The block below its reply; None while there is none."""
        place = self._places.find(exchange)
        if place is None or place.caption is None:
            return None
        return self.findBlockByNumber(place.caption_block)

    def reply_words(self, exchange: Exchange, span: Span) -> Iterator[tuple[QTextBlock, Words]]:
        """The blocks that show a part of this span of the reply, and which characters of each."""
        place = self._places.find(exchange)
        if place is None:
            return
        for at, shown in place.words(span):
            text = place.markup.paragraphs[at].text
            start, end = (units(text[:n]) for n in (shown.start, shown.end))
            yield self.findBlockByNumber(place.reply_block + at), Words(start, end)

    def reply_cursors(
        self, exchange: Exchange, span: Span, *, first: int = 0, last: int = _NO_END
    ) -> list[QTextCursor]:
        """Cursors that select a span of the reply, one for each paragraph; none without a reply.
        `first`, `last`: numbers of the blocks that matter.
        """
        place = self._places.find(exchange)
        if place is not None and 0 <= (at := first - place.reply_block) < place.shown:
            start = max(span.start, place.markup.paragraphs[at].place)
            span = Span(min(start, span.end), span.end)
        cursors = []
        for block, words in self.reply_words(exchange, span):
            if block.blockNumber() > last:
                break
            cursor = QTextCursor(self)
            cursor.setPosition(block.position() + words.start)
            cursor.setPosition(block.position() + words.end, QTextCursor.MoveMode.KeepAnchor)
            cursors.append(cursor)
        return cursors

    @property
    def text_left(self) -> float:
        """Where the text of replies begins, also in a table."""
        return self._gutter + 2 * bubbles.PAD_X

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
        replies = {}
        for place in self._places.all:
            place.rights.clear()
            for at, paragraph in enumerate(place.markup.paragraphs[: place.shown]):
                replies[place.reply_block + at] = paragraph, not place.exchange.said
        for frame in self.rootFrame().childFrames():
            looks = frame.frameFormat()
            bubbles.fit_table(looks, self._column)
            frame.setFrameFormat(looks)
        block = self.firstBlock().next()
        while block.isValid():
            kind, part = bubbles.kind_of(block), replies.get(block.blockNumber())
            if part is None:
                style = bubbles.block_format(kind, self._column, self._width_of(block.text()))
            else:
                style = bubbles.paragraph_format(kind, self._column, part[0], alone=part[1])
            cursor.setPosition(block.position())
            cursor.setBlockFormat(style)
            block = block.next()
        cursor.endEditBlock()

    def _show_said(self, place: Blocks) -> None:
        exchange = place.exchange
        if not exchange.said:
            return
        kind = Kind.PARTIAL if exchange.is_partial else Kind.SAID
        if place.said is None:
            self._insert_block(place, place.first_block)
        elif place.said == exchange.said and kind is bubbles.kind_of(
            self.findBlockByNumber(place.first_block)
        ):
            return
        place.said = exchange.said
        self._write(place.first_block, kind, exchange.said)

    def _show_reply(self, place: Blocks) -> None:
        reply = place.exchange.reply
        if reply == (place.reply or ""):
            return
        place.reply = reply
        before = place.markup.paragraphs
        first = place.markup.show(reply)
        one_change = QTextCursor(self)
        one_change.beginEditBlock()  # which is laid out once
        start, old = self._make_blocks(place, first, before[first:])
        del place.rights[start:]
        for at, paragraph in enumerate(place.markup.paragraphs[start:], start):
            if at == place.shown:
                self._open_block(place, at)
            self._show_paragraph(place, at, paragraph, old.get(at))
        one_change.endEditBlock()  # only now a new table can be asked for
        for at, paragraph in enumerate(place.markup.paragraphs[start:], start):
            if paragraph.begins_second_part:
                self._share_width(place, at)

    def _make_blocks(
        self, place: Blocks, first: int, before: Sequence[Paragraph]
    ) -> tuple[int, dict[int, Paragraph]]:
        """Add rows to the last table, and remove the blocks that cannot be used again. `before`:
        what was shown from paragraph `first` on. Return the first paragraph to write, and what the
        blocks show from there on.
        """
        after = place.markup.paragraphs
        old: list[Paragraph | None] = list(before)
        kept = alike(old, after[first:])
        at = first + kept
        ends = kept < len(before) and before[kept].shape is Shape.AFTER
        if ends and at < len(after) and after[at].is_inside_table:
            added = len(cells_from(after, at))
            table = self._cursor_at_end(place.reply_block + at - 1).currentTable()
            table.appendRows(added // table.columns())
            self._places.move_later(place, added)
            place.shown += added
            old[kept:kept] = [None] * added
            at = first + alike(old, after[first:])
        if at - first < len(old):
            known = [*after[:first], *before]
            while at and known[at].is_inside_table:
                at -= 1
            self._remove_blocks(place, place.reply_block + at, place.shown - at)
            place.shown = at
            return min(first, at), {}
        return first, {n: each for n, each in enumerate(old, first) if each is not None}

    def _open_block(self, place: Blocks, at: int) -> None:
        """Make the block of the next paragraph; if it begins a table, those of the whole table."""
        number = place.reply_block + at
        cells = cells_from(place.markup.paragraphs, at)
        if not cells:
            self._insert_block(place, number)
            place.shown += 1
            return
        first = cells[0].cell
        assert first is not None
        columns = columns_of(cells)
        style = bubbles.table_format(self._column, self._theme)
        if first.row:
            bubbles.share_width(style, place.table_before(at)[1])
            style.setTopMargin(0.0)
        rows = len(cells) // columns
        self._cursor_at_end(number - 1).insertTable(rows, columns, style)
        self._places.move_later(place, len(cells) + 1)
        place.shown += len(cells) + 1  # and what follows it

    def _share_width(self, place: Blocks, at: int) -> None:
        """Give the columns of the first part of a table the widths of those in the second, which
        begins with paragraph `at`."""
        begin, weights = place.table_before(at)
        table = self._cursor_at_end(place.reply_block + begin).currentTable()
        style = table.format().toTableFormat()
        bubbles.share_width(style, weights)
        table.setFormat(style)

    def _show_paragraph(
        self, place: Blocks, at: int, paragraph: Paragraph, old: Paragraph | None
    ) -> None:
        """`old` is what its block shows; None = nothing."""
        number = place.reply_block + at
        if old is not None and paragraph.grew_from(old):
            self._append(self._cursor_at_end(number), paragraph, len(old.text))
            return
        cursor = self._cursor_at_end(number)
        start = self.findBlockByNumber(number).position()
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        kind = Kind.MORE if at else Kind.REPLY
        alone = not place.exchange.said
        cursor.setBlockFormat(bubbles.paragraph_format(kind, self._column, paragraph, alone=alone))
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

    def _show_caption(self, place: Blocks) -> None:
        kind = Kind.MODEL_LINK if place.exchange.has_model_link else Kind.CAPTION
        caption = place.exchange.caption or (_NO_TEXT if kind is Kind.MODEL_LINK else "")
        block = self.findBlockByNumber(place.caption_block)
        if (caption or None) == place.caption and (not caption or kind is bubbles.kind_of(block)):
            return
        if not caption:
            self._remove_blocks(place, place.caption_block)
            place.caption = None
            return
        if place.caption is None:
            self._insert_block(place, place.caption_block)
        place.caption = caption
        self._write(place.caption_block, kind, caption)

    def _remove_blocks(self, place: Blocks, number: int, count: int = 1) -> None:
        before = self.findBlockByNumber(number - 1)
        style = before.blockFormat()
        cursor = self._cursor_at_end(number + count - 1)
        end = before.position() + before.length() - 1
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        cursor.setBlockFormat(style)  # joining blocks may take the format of the second
        self._places.move_later(place, -count)

    def _insert_block(self, place: Blocks, number: int) -> None:
        self._cursor_at_end(number - 1).insertBlock()
        self._places.move_later(place, 1)

    def _write(self, number: int, kind: Kind, text: str) -> None:
        cursor = self._cursor_at_end(number)
        start = self.findBlockByNumber(number).position()
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        shown = displayable(text)
        cursor.setBlockFormat(bubbles.block_format(kind, self._column, self._width_of(shown)))
        cursor.insertText(shown, bubbles.char_format(kind, self._theme, self._font))

    def _cursor_at_end(self, number: int) -> QTextCursor:
        block = self.findBlockByNumber(number)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + block.length() - 1)
        return cursor

    def _width_of(self, shown: str) -> float:
        metrics = QFontMetricsF(self._font)
        return max(metrics.horizontalAdvance(line[:_MEASURED]) for line in shown.split(LINE_END))
