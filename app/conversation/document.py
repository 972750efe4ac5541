"""The conversation as one text document. An exchange has one block for its question, one for each
paragraph of the reply (of a table, for each cell) and one for a caption, as far as these exist.

Invariant: block 0 is an empty spacer; the blocks follow in the order in which the exchanges began,
without a gap. Showing an exchange touches only the blocks that changed.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
)

from app.conversation import bubbles, markdown
from app.conversation.bubbles import Kind
from app.conversation.markdown import Paragraph
from app.conversation.transcript import Exchange, Span
from app.look.layout import COLUMN, GUTTER, gutter
from app.look.plain_text import LINE_END, characters, displayable, units
from app.look.theme import Theme

_NO_END = 1 << 30
_MEASURED = 400  # characters; no line is wider than the column, and measuring a book is slow

_Line = tuple[Kind, str]  # what a block of a single text shows


@dataclass(eq=False)
class ExchangeBlocks:
    """The blocks of an exchange with their content; None = no such block."""

    exchange: Exchange
    first_block: int = 0
    said: _Line | None = None
    reply: str = ""
    paragraphs: list[Paragraph] = field(default_factory=list)  # each has a block
    rights: list[float] = field(default_factory=list)  # right end of the first 1, 2, … paragraphs
    caption: _Line | None = None

    @property
    def reply_block(self) -> int:
        return self.first_block + (self.said is not None)

    @property
    def caption_block(self) -> int:
        return self.reply_block + len(self.paragraphs)

    @property
    def end_block(self) -> int:
        return self.caption_block + (self.caption is not None)

    def words(self, span: Span) -> Iterator[tuple[int, Span]]:
        """Yield the number of each block that shows characters of `span`, with their range in the
        block, in UTF-16 units.
        """
        paragraphs = self.paragraphs
        at = max(0, bisect_left(paragraphs, span.start, key=attrgetter("place")) - 1)
        while at < len(paragraphs) and paragraphs[at].place < span.end:
            shown, text = paragraphs[at].shown(span), paragraphs[at].text
            if shown.start < shown.end:
                words = Span(units(text[: shown.start]), units(text[: shown.end]))
                yield self.reply_block + at, words
            at += 1


class ConversationDocument(QTextDocument):
    """Writes exchanges into itself."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._font = QFont()
        self._column = COLUMN
        self.gutter = GUTTER  # logical pixels left and right of the column
        self._all: list[ExchangeBlocks] = []
        self.setUndoRedoEnabled(False)
        self.setDocumentMargin(0)
        self.start_afresh(self._font)

    @property
    def is_blank(self) -> bool:
        return not self._all

    def start_afresh(self, font: QFont) -> None:
        """Clear the document. Later text has this font and the theme's current colours."""
        self._font = font
        self._all.clear()
        self.clear()
        cursor = QTextCursor(self)
        cursor.setBlockFormat(bubbles.block_format(Kind.SPACER))
        cursor.setBlockCharFormat(bubbles.char_format(Kind.SPACER, self._theme, font))
        self._set_gutter(self.gutter)

    def show_exchange(self, exchange: Exchange) -> None:
        """Update the blocks of an exchange; remove one that ended without content."""
        blocks = self._find(exchange)
        if not blocks.first_block:
            blocks.first_block = self._all[-1].end_block if self._all else 1
            self._all.append(blocks)
        change = QTextCursor(self)
        change.beginEditBlock()  # laid out once, and asked for nothing until its end
        if exchange.is_blank:
            count = blocks.end_block - blocks.first_block
            self._remove_blocks(blocks.first_block, count)
            self._all.remove(blocks)
        else:
            self._show_said(blocks)
            self._show_reply(blocks)
            self._show_caption(blocks)
        number = 1
        for each in self._all:
            each.first_block, number = number, number + each.end_block - each.first_block
        change.endEditBlock()
        if exchange.ending is not None and exchange.unheard is not None:
            style = bubbles.unheard_format(self._theme)
            for cursor in self.reply_cursors(exchange, exchange.unheard):
                cursor.mergeCharFormat(style)

    def said_block(self, exchange: Exchange) -> QTextBlock | None:
        """Return the block of the user's question; None if the exchange has none."""
        blocks = self._find(exchange)
        return self.findBlockByNumber(blocks.first_block) if blocks.said else None

    def reply_block(self, exchange: Exchange) -> QTextBlock | None:
        """Return the first block of the reply; None if the exchange has none."""
        blocks = self._find(exchange)
        return self.findBlockByNumber(blocks.reply_block) if blocks.paragraphs else None

    def caption_block(self, exchange: Exchange) -> QTextBlock | None:
        """Return the caption block below the reply; None if the exchange has none."""
        blocks = self._find(exchange)
        return self.findBlockByNumber(blocks.caption_block) if blocks.caption else None

    def reply_at(self, position: int) -> tuple[Exchange, int] | None:
        """Return the exchange whose reply is at a position, and the character's index in it."""
        block = self.findBlock(position)
        blocks = self._at(block.blockNumber())
        at = block.blockNumber() - blocks.reply_block if blocks is not None else -1
        if blocks is None or not 0 <= at < len(blocks.paragraphs):
            return None
        paragraph = blocks.paragraphs[at]
        index = characters(paragraph.text, position - block.position())
        return blocks.exchange, paragraph.source(index)

    def exchange_with(self, block: QTextBlock) -> Exchange | None:
        """Return the exchange that contains a block; None if no exchange does."""
        blocks = self._at(block.blockNumber())
        return None if blocks is None else blocks.exchange

    def bubble_rect(self, exchange: Exchange) -> QRectF:
        """Return the reply's bubble in document coordinates; a null rectangle without a reply."""
        blocks = self._find(exchange)
        if not blocks.paragraphs:
            return QRectF()
        for number in range(blocks.reply_block + len(blocks.rights), blocks.caption_block):
            right = bubbles.right_of(self.findBlockByNumber(number))
            blocks.rights.append(max([right, *blocks.rights[-1:]]))
        first = self.findBlockByNumber(blocks.reply_block)
        last = self.findBlockByNumber(blocks.caption_block - 1)
        return bubbles.bubble_around(first, last, blocks.rights[-1])

    def top_of(self, exchange: Exchange, reached: int) -> float:
        """Return the y coordinate of the line with character `reached` of the reply. Use the last
        line of the reply's first block if no block shows that character."""
        for block, words in self.reply_words(exchange, Span(reached, len(exchange.reply))):
            return bubbles.line_top(block, words.start)
        first = self.reply_block(exchange)
        return 0.0 if first is None else bubbles.line_top(first, first.length() - 1)

    def reply_words(self, exchange: Exchange, span: Span) -> Iterator[tuple[QTextBlock, Span]]:
        """Yield each block that shows characters of `span`, with their range in the block."""
        for number, words in self._find(exchange).words(span):
            yield self.findBlockByNumber(number), words

    def reply_cursors(
        self, exchange: Exchange, span: Span, *, first: int = 0, last: int = _NO_END
    ) -> list[QTextCursor]:
        """Return cursors that select a span of the reply, one for each paragraph. Without a reply
        there are none. Blocks outside `first` to `last` are skipped.
        """
        blocks = self._find(exchange)
        if 0 <= (at := first - blocks.reply_block) < len(blocks.paragraphs):
            start = max(span.start, blocks.paragraphs[at].place)
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

    def fit(self, width: float) -> None:
        """Limit the line length in a wide window by a column in its middle."""
        side = gutter(width)
        column = max(width - 2 * side, 160.0)
        self._set_gutter(side)
        if column == self._column:
            return
        self._column = column
        cursor = QTextCursor(self)
        cursor.beginEditBlock()
        for blocks in self._all:
            blocks.rights.clear()
            if blocks.said is not None:
                cursor.setPosition(self.findBlockByNumber(blocks.first_block).position())
                cursor.setBlockFormat(self._line_format(blocks.said))
        cursor.endEditBlock()

    # ------------------------------------------------------------------ blocks

    def _find(self, exchange: Exchange) -> ExchangeBlocks:
        """Return the blocks of an exchange; if it is not shown yet, empty ones."""
        found = (each for each in reversed(self._all) if each.exchange is exchange)
        return next(found, None) or ExchangeBlocks(exchange)

    def _at(self, number: int) -> ExchangeBlocks | None:
        """Return the exchange that contains block `number`; None if no exchange does."""
        at = bisect_right(self._all, number, key=attrgetter("first_block")) - 1
        return self._all[at] if at >= 0 and number < self._all[at].end_block else None

    def _set_gutter(self, side: float) -> None:
        self.gutter = side
        frame = self.rootFrame()
        style = frame.frameFormat()
        style.setLeftMargin(side)
        style.setRightMargin(side)
        style.setBottomMargin(bubbles.PAD_Y + bubbles.TURN_GAP)  # room for the tools
        frame.setFrameFormat(style)

    def _show_said(self, blocks: ExchangeBlocks) -> None:
        exchange = blocks.exchange
        kind = Kind.PARTIAL if exchange.is_partial else Kind.SAID
        line = (kind, exchange.said) if exchange.said else None
        self._show_line(blocks.first_block, blocks.said, line)
        blocks.said = line

    def _show_caption(self, blocks: ExchangeBlocks) -> None:
        line = (Kind.CAPTION, blocks.exchange.caption) if blocks.exchange.caption else None
        self._show_line(blocks.caption_block, blocks.caption, line)
        blocks.caption = line

    def _show_line(self, number: int, old: _Line | None, new: _Line | None) -> None:
        """Write a changed question or caption into its block."""
        if new == old:
            return
        if new is None:
            self._remove_blocks(number, 1)
            return
        if old is None:
            self._cursor_at_end(number - 1).insertBlock()
        cursor = self._cursor_at_end(number)
        start = self.findBlockByNumber(number).position()
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        cursor.setBlockFormat(self._line_format(new))
        kind, text = new
        cursor.insertText(displayable(text), bubbles.char_format(kind, self._theme, self._font))

    def _show_reply(self, blocks: ExchangeBlocks) -> None:
        """Update a reply: append to a paragraph that grew, and replace all paragraphs after the
        first that changed in another way.
        """
        reply = blocks.exchange.reply
        if reply == blocks.reply:
            return
        old, new = blocks.paragraphs, markdown.read(reply)
        blocks.reply, blocks.paragraphs = reply, new
        at = _first_change(old, new, 0)
        if at < min(len(old), len(new)) and new[at].grew_from(old[at]):
            self._append(self._cursor_at_end(blocks.reply_block + at), new[at], len(old[at].text))
            del blocks.rights[at:]
            at = _first_change(old, new, at + 1)
        if at == len(old) == len(new):
            return
        while any(at < len(each) and each[at].is_inside_table for each in (old, new)):
            at -= 1
        del blocks.rights[at:]
        self._remove_blocks(blocks.reply_block + at, len(old) - at)
        while at < len(new):
            at = self._insert_paragraphs(blocks, at)

    def _insert_paragraphs(self, blocks: ExchangeBlocks, at: int) -> int:
        """Insert the block of a paragraph, or all blocks of a table and the one after it. Return
        the number of the next paragraph.
        """
        cursor = self._cursor_at_end(blocks.reply_block + at - 1)
        end = at
        while (cell := blocks.paragraphs[end].cell) is not None:
            end += 1
            last = cell
        if end > at and (first := blocks.paragraphs[at].cell):
            style = bubbles.table_format(first, self._theme)
            rows = last.row - first.row + 1
            cursor.insertTable(rows, (end - at) // rows, style)
        else:
            cursor.insertBlock()
        for number in range(at, end + 1):
            self._write(blocks, number)
        return end + 1

    def _write(self, blocks: ExchangeBlocks, at: int) -> None:
        """Write a paragraph into its empty block."""
        cursor = self._cursor_at_end(blocks.reply_block + at)
        kind = Kind.MORE if at else Kind.REPLY
        paragraph, alone = blocks.paragraphs[at], not blocks.exchange.said
        cursor.setBlockFormat(bubbles.paragraph_format(kind, paragraph, alone=alone))
        self._append(cursor, paragraph, 0)

    def _append(self, cursor: QTextCursor, paragraph: Paragraph, start: int) -> None:
        """Append the paragraph's characters from `start` on, run by run."""
        base = bubbles.paragraph_char_format(paragraph, self._theme, self._font)
        for run in paragraph.runs:
            if run.start >= start:
                cursor.insertText(displayable(paragraph.text[start : run.start]), base)
                style = bubbles.run_format(run, base, self._theme)
                cursor.insertText(displayable(paragraph.text[run.start : run.end]), style)
                start = run.end
        cursor.insertText(displayable(paragraph.text[start:]), base)

    def _remove_blocks(self, number: int, count: int) -> None:
        if not count:
            return
        before = self.findBlockByNumber(number - 1)
        style = before.blockFormat()
        cursor = self._cursor_at_end(number + count - 1)
        end = before.position() + before.length() - 1
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        cursor.setBlockFormat(style)  # joining blocks may take the format of the second

    def _cursor_at_end(self, number: int) -> QTextCursor:
        block = self.findBlockByNumber(number)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + block.length() - 1)
        return cursor

    def _line_format(self, line: _Line) -> QTextBlockFormat:
        kind, text = line
        metrics = QFontMetricsF(self._font)
        lines = displayable(text).split(LINE_END)
        width = max(metrics.horizontalAdvance(each[:_MEASURED]) for each in lines)
        return bubbles.block_format(kind, self._column, width)


def _first_change(old: Sequence[Paragraph], new: Sequence[Paragraph], start: int) -> int:
    """Return the number of the first paragraph from `start` on that is not in both."""
    at = start
    while at < min(len(old), len(new)) and old[at] == new[at]:
        at += 1
    return at
