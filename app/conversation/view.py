"""The conversation a person reads: bubbles, the word being heard marked, text to select and copy.

Invariant: scrolling follows the conversation until the person scrolls away, and again once they
are back at its end; it never moves under someone who reads.
"""

from PySide6.QtCore import QElapsedTimer, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QTextEdit, QWidget

from app.conversation import bubbles
from app.conversation.document import ConversationDocument
from app.conversation.painting import paint_bubbles
from app.conversation.reading import ReadOnlyText
from app.conversation.tools import ReplyTools
from app.conversation.transcript import Exchange, ReplyWord, Transcript, step, step_reply, word_at
from app.language import tr
from app.look.controls import button
from app.look.label import announce
from app.look.theme import Theme, scaled
from engine.api import ConversationCut, ConversationOpened, Event, ReplyDelta, WordHeard

_NEAR = 28  # pixels from the followed position that still count as being there
_WORD_AT = 0.45  # of the height: where the word being heard is kept in a reply longer than the view
_ROW = 16  # blocks in the row of a table
_WRITE_MS = 100  # at least, between two readings of a reply that is being written
_WRITE_REST = 4  # times as long as writing took: a very long table must not stop the window
_CLICK_MS = 250  # after this a click is not part of a double click
_MARK_KEYS = {
    Qt.Key.Key_Right: (step, 1),
    Qt.Key.Key_Left: (step, -1),
    Qt.Key.Key_Down: (step_reply, 1),
    Qt.Key.Key_Up: (step_reply, -1),
}


class Conversation(ReadOnlyText):
    """Shows a Transcript.

    Signals:
        emptied(bool): the view has become empty (True), or no longer is (False).
        word_chosen(int, int): a turn, and the character of its reply to hear it again from.
    """

    emptied = Signal(bool)
    word_chosen = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.transcript = Transcript()
        self._document = ConversationDocument(theme, self)
        self._is_following = True
        self._is_moving = False  # the scroll bar moves because of us
        self._changed: dict[int, Exchange] = {}  # by turn; not shown as they are now
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._write_changed)
        self._mark: ReplyWord | None = None  # a word marked with the keys, to hear it again
        self._keeps_replay_in_sight = True
        self._click = QTimer(self, singleShot=True, interval=_CLICK_MS)
        self._click.timeout.connect(lambda: self._hear_again(self._clicked))
        self._clicked: ReplyWord | None = None  # unless it becomes a double click, which selects
        self.setDocument(self._document)
        self.setProperty("kind", "conversation")
        self.setAccessibleName(tr("Conversation"))
        self.setAccessibleDescription(
            tr(
                "What you said and what the assistant answered. Ctrl and the arrow keys mark a"
                " word, Enter lets the reply be heard again from there"
            )
        )
        words, name = tr("↓  Latest"), tr("Go to the latest turn")
        self._latest = button(words, self, self.follow_again, kind="pill", name=name, by_tab=True)
        self._latest.hide()
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._follow)
        self.tools = ReplyTools(self.transcript, theme, self)
        self.tools.wanted_again.connect(lambda turn: self.word_chosen.emit(turn, 0))
        theme.changed.connect(self.rebuild)
        self.rebuild()

    def on_event(self, event: Event) -> None:
        if isinstance(event, ConversationOpened):
            self._open(event)
        elif isinstance(event, ConversationCut):
            self.transcript.clear(event.turn)
            self._mark = None
            self.rebuild()
        exchange = self.transcript.on_event(event)
        if exchange is None:
            return
        self._changed[exchange.turn] = exchange
        if not isinstance(event, ReplyDelta | WordHeard):
            self._write_changed()
            self._pause.stop()  # the next word is shown at once
        elif not self._pause.isActive():
            self._write_changed()
        elif isinstance(event, WordHeard):
            self._show_progress()

    def _write_changed(self) -> None:
        """Show the exchanges that changed, then start the pause before the next update."""
        if not self._changed:
            return
        clock, was_blank = QElapsedTimer(), self._document.is_blank
        clock.start()
        selected = self.textCursor()
        anchor, position = selected.anchor(), selected.position()
        for each in self._changed.values():
            self._document.show_exchange(each)
        self._changed.clear()
        if abs(selected.position() - selected.anchor()) < abs(position - anchor):
            self._select(anchor, position)  # a part of it was written again
        self.tools.place()
        if was_blank != self._document.is_blank:
            self.emptied.emit(self._document.is_blank)
        self._show_progress()
        self._pause.start(max(_WRITE_MS, _WRITE_REST * clock.elapsed()))

    def _select(self, anchor: int, position: int) -> None:
        """Select text without scrolling to it."""
        cursor, bar = self.textCursor(), self.verticalScrollBar()
        end = self._document.characterCount() - 1
        cursor.setPosition(min(anchor, end))
        cursor.setPosition(min(position, end), cursor.MoveMode.KeepAnchor)
        self._is_moving, value = True, bar.value()
        self.setTextCursor(cursor)
        bar.setValue(value)
        self._is_moving = False

    def _show_progress(self) -> None:
        """Show which part of the reply has been spoken."""
        self._follow()
        if self.transcript.replayed is not None and self._keeps_replay_in_sight:
            self._show(self.word_rects())
        self._faint_unheard()
        self.viewport().update()

    def _open(self, event: ConversationOpened) -> None:
        """Show the saved conversation that the user continues."""
        self.transcript.load(event.turns)
        self._mark = None
        self._is_following = True
        self.rebuild()
        self.emptied.emit(self._document.is_blank)

    def clear_all(self) -> None:
        """Start an empty conversation."""
        self.transcript.clear()
        self.rebuild()
        self._is_following = True
        self.emptied.emit(True)

    @property
    def is_blank(self) -> bool:
        """True if no exchange is shown."""
        return self._document.is_blank

    def rebuild(self) -> None:
        """Lay out everything again after a change of colours or font."""
        self._changed.clear()
        self._document.start_afresh(scaled(self.font(), 1.12))
        for exchange in self.transcript.exchanges:
            if not exchange.is_blank:
                self._document.show_exchange(exchange)
        self.tools.place()
        self._follow()

    def follow_again(self) -> None:
        """Scroll to the newest turn and follow it again."""
        self._is_following = True
        self._follow()

    def word_rects(self) -> list[QRectF]:
        """Return the rectangles of the word being spoken, if any, in document coordinates."""
        exchange = self.transcript.replayed or self._newest()
        if exchange is None or exchange.word is None:
            return []
        return self._rects(ReplyWord(exchange, exchange.word))

    def _rects(self, place: ReplyWord) -> list[QRectF]:
        found = self._document.reply_words(place.exchange, place.span)
        return [rect for block, words in found for rect in bubbles.words_rects(block, words)]

    # ------------------------------------------------------------------ marking

    def _newest(self) -> Exchange | None:
        exchanges = self.transcript.exchanges
        spoken = (each for each in reversed(exchanges[-2:]) if each.word is not None)
        return next(spoken, exchanges[-1] if exchanges else None)

    def _faint_unheard(self) -> None:
        """Paint the unspoken part of the reply in a fainter colour, as far as it is visible."""
        exchange = self._newest()
        selections = []
        if exchange is not None and exchange.ending is None and exchange.unheard is not None:
            first, last = self._blocks_in_sight()
            unheard = exchange.unheard
            for cursor in self._document.reply_cursors(exchange, unheard, first=first, last=last):
                selection = QTextEdit.ExtraSelection()
                selection.cursor = cursor
                selection.format = bubbles.unheard_format(self._theme)
                selections.append(selection)
        self.setExtraSelections(selections)

    def _blocks_in_sight(self) -> tuple[int, int]:
        """Return the numbers of the first and the last visible block. The search starts a little
        inside the column, because beside a table only its end is found. It ends a few blocks late,
        because a table row has several.
        """
        x = int(self._document.gutter + 2 * bubbles.PAD_X)
        ends = [QPoint(x, y) for y in (0, self.viewport().height())]
        first, last = (self.cursorForPosition(each).blockNumber() for each in ends)
        return first, last + _ROW

    # ---------------------------------------------------------------- scrolling

    def _target(self) -> int:
        """Return where to scroll when following: the end, never past the word being heard."""
        end = self.verticalScrollBar().maximum()
        exchange = self._newest()
        block = self._document.reply_block(exchange) if exchange is not None else None
        if exchange is None or block is None:
            return end
        reached = exchange.word.start if exchange.word is not None else exchange.heard_end
        top = self._document.top_of(exchange, reached)
        return max(0, min(end, int(top - self.viewport().height() * _WORD_AT)))

    def _follow(self) -> None:
        if self._is_following:
            self._is_moving = True
            self.verticalScrollBar().setValue(self._target())
            self._is_moving = False
        self._show_latest_button()

    def _on_scrolled(self, value: int) -> None:
        self._keeps_replay_in_sight = self._keeps_replay_in_sight and self._is_moving
        if not self._is_moving:  # reading ahead of the voice counts as scrolling away too
            self._is_following = abs(value - self._target()) <= _NEAR
            self._show_latest_button()
            self._faint_unheard()

    def _show_latest_button(self) -> None:
        away = not self._is_following and self.verticalScrollBar().maximum() > 0
        self._latest.setVisible(away)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """With Ctrl the arrow keys mark a word, from which Enter plays the reply again."""
        if not self._on_mark_key(event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._document.fit(float(self.viewport().width()))
        size = self._latest.sizeHint()
        left, top = (self.width() - size.width()) // 2, self.height() - size.height() - 10
        self._latest.setGeometry(QRect(QPoint(left, top), size))
        self.tools.place()
        self._follow()

    # ------------------------------------------------------------ hearing again

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on a word plays the reply again from there; a drag or a double click selects."""
        super().mouseReleaseEvent(event)
        place = self._word_under(event.position())
        selects = self.textCursor().hasSelection() or event.modifiers()
        if event.button() is Qt.MouseButton.LeftButton and place is not None and not selects:
            self._clicked = place
            self._click.start()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._click.stop()
        super().mouseDoubleClickEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        under = self.cursorForPosition(event.position().toPoint()).block()
        if (exchange := self._document.exchange_with(under)) is not None:
            self.tools.point_at(exchange)
        over = self._word_under(event.position()) is not None
        shape = Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)

    def _word_under(self, at: QPointF) -> ReplyWord | None:
        """Return the word at this point of a finished reply; beside a line there is none."""
        found = self._document.reply_at(self.cursorForPosition(at.toPoint()).position())
        if found is None:
            return None
        exchange, index = found
        self.tools.point_at(exchange)
        at = at + QPointF(0, self.verticalScrollBar().value())
        near = (word_at(exchange, index), word_at(exchange, index - 1))
        hits = (each for each in near if each and any(r.contains(at) for r in self._rects(each)))
        return next(hits, None)

    def _hear_again(self, place: ReplyWord | None) -> None:
        if place is not None:
            self._keeps_replay_in_sight = True
            self.word_chosen.emit(place.exchange.turn, place.span.start)

    def _on_mark_key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._mark is not None:
            self._hear_again(self._mark)
            return True
        if key not in _MARK_KEYS or event.modifiers() != Qt.KeyboardModifier.ControlModifier:
            return False
        move, by = _MARK_KEYS[key]
        self._mark = move(self.transcript, self._mark, by)
        if self._mark is not None:
            self.tools.point_at(self._mark.exchange)
            self._show(self._rects(self._mark))
            announce(self, self._mark.text)
        self.viewport().update()
        return True

    def _show(self, rects: list[QRectF]) -> None:
        """Scroll until all rectangles are visible."""
        bar = self.verticalScrollBar()
        seen = QRectF(self.viewport().rect()).translated(0, bar.value())
        if rects and not all(seen.contains(rect) for rect in rects):
            self._is_moving = True
            bar.setValue(int(rects[0].top() - self.viewport().height() * _WORD_AT))
            self._is_moving = False

    # ----------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        offset = self.verticalScrollBar().value()
        painter.translate(0, -offset)
        self._paint_bubbles(painter, event.rect().bottom() + offset)
        painter.end()
        super().paintEvent(event)

    def _paint_bubbles(self, painter: QPainter, seen_bottom: float) -> None:
        """Paint the bubbles in sight and behind the words that are heard or marked."""
        first = self._document.findBlockByNumber(self._blocks_in_sight()[0])
        paint_bubbles(painter, self._document, first, seen_bottom, self._theme)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("accent_soft"))
        for rect in self.word_rects():
            painter.drawRoundedRect(rect.adjusted(-3, -1, 3, 2), 6, 6)
        if self._mark is not None and self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colour("accent"), 1.6))
            for rect in self._rects(self._mark):
                painter.drawRoundedRect(rect.adjusted(-3, -1, 3, 2), 6, 6)
