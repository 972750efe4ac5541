"""The row below the conversation: type a turn or edit an earlier one, stop the reply, hold to talk.

Invariant: it posts SendText only for text that is not blank, and keeps typed text until it is sent,
also while an earlier question is edited in its place.
"""

import math

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.bridge import Post
from app.language import tr
from app.look.controls import IconButton
from app.look.label import WrappingLabel, announce
from app.look.layout import BOTTOM, MIDDLE, OverlayBar, Placed, column, placed, row, wide
from app.look.page import in_lines
from app.look.theme import Theme
from app.stage.talk import TalkButton
from app.status.parts import Parts
from engine.api import ConversationOpened, Event, Phase, PhaseChanged, SendText, StopReply

_ROOMY = 640  # logical pixels; in a narrower row the talk button says no words
_LINES = 5
_LONGEST = 20_000  # characters of one typed turn; more was pasted by mistake
_PADDING = 7  # logical pixels above and below the text
_SPARE = 2  # with less, Qt thinks that the last line does not fit
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class MessageField(QPlainTextEdit):
    """One line that grows to five and then scrolls. Enter sends, Shift+Enter begins a new line.

    Invariant: it holds plain text only, and never more than a turn may have.

    Signals:
        returnPressed: Enter was pressed, to send what was typed.
    """

    returnPressed = Signal()  # noqa: N815 - Qt's name

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "bare")
        self.setPlaceholderText(tr("Type a message"))
        self.setAccessibleName(tr("Message"))
        self.setMinimumWidth(60)
        self.setAcceptDrops(False)  # a file dropped here is a voice, not its name
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setViewportMargins(0, _PADDING, 0, _PADDING)
        self.document().setDocumentMargin(0)
        OverlayBar(self)
        self.textChanged.connect(self._on_changed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def text(self) -> str:
        return self.toPlainText()

    def setText(self, text: str) -> None:
        """Replace the text so that Undo brings the former one back."""
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)

    def insert(self, text: str) -> None:
        """Insert text at the caret."""
        self.insertPlainText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.key() in _ENTER and not shift:
            self.returnPressed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _on_changed(self) -> None:
        text = self.text()
        if len(text) > _LONGEST:
            self.setPlainText(text[:_LONGEST])
            self.moveCursor(self.textCursor().MoveOperation.End)

    def _fit(self) -> None:
        """Fit the height to one to five lines; Qt gives the size of plain text in lines."""
        lines = min(max(1, round(self.document().size().height())), _LINES)
        height = math.ceil(lines * QFontMetricsF(self.font()).lineSpacing()) + 2 * _PADDING + _SPARE
        if height != self.height():
            self.setFixedHeight(height)


class Composer(QFrame):
    """Input line, send, stop and talk."""

    def __init__(self, post: Post, parts: Parts, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self.setProperty("kind", "composer")
        self.line = MessageField(self)
        self.send = IconButton("send", tr("Send (Enter)"), theme, self, self.send_typed)
        self.stop = IconButton("stop", tr("Stop the reply (Esc)"), theme, self, self.stop_reply)
        self.talk = TalkButton(post, parts, theme, self)
        self._edited: int | None = None  # the turn whose question is in the line; None = a new one
        self._draft = ""  # what was in the line before
        leaves = tr("What came after this question leaves the conversation.")
        self._hint = WrappingLabel(leaves, self, kind="muted")
        keep = IconButton("close", tr("Leave the question as it is (Esc)"), theme, self)
        keep.clicked.connect(self.end_editing)
        self.editing = QWidget(self)
        row(wide(self._hint), keep, on=self.editing)
        self.editing.hide()
        self.send.setEnabled(False)
        self._is_compact = False
        self.stop.setEnabled(False)
        self.line.textChanged.connect(self._on_typed)
        self.line.returnPressed.connect(self.send_typed)
        self.line.installEventFilter(self)
        buttons = [placed(BOTTOM, each) for each in (self.send, self.stop, self.talk)]
        line = Placed(self.line, 1, MIDDLE)
        typing = row(line, *buttons, spacing=4)
        column(self.editing, typing, on=self, margins=(16, 5, 5, 5), spacing=0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the line's focus on the entire row, because the line has no frame of its own."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.setProperty("typing", event.type() == QEvent.Type.FocusIn)
            self.style().unpolish(self)
            self.style().polish(self)
        return super().eventFilter(watched, event)

    def on_event(self, event: Event) -> None:
        if isinstance(event, PhaseChanged):
            self.stop.setEnabled(event.phase in (Phase.THINKING, Phase.SPEAKING))
        elif isinstance(event, ConversationOpened):
            self.end_editing()
        self.talk.on_event(event)

    def send_typed(self) -> None:
        """Send the typed text as a turn."""
        text = self.line.text().strip()
        if text:
            self._post(SendText(text, self._edited))
            self.line.clear()
            self.end_editing()

    def edit(self, turn: int, said: str) -> None:
        """Let the person edit the question of a turn."""
        self._draft = self.line.text() if self._edited is None else self._draft
        self._edited = turn
        self.editing.show()
        self.line.setText(said)
        self.line.moveCursor(self.line.textCursor().MoveOperation.End)
        self.line.setFocus(Qt.FocusReason.OtherFocusReason)
        announce(self.line, self._hint.text())

    def end_editing(self) -> bool:
        """Return to the text that was typed before; False if no earlier question was edited."""
        was_editing, self._edited = self._edited is not None, None
        if was_editing:
            self.editing.hide()
            self.line.setText(self._draft)
        return was_editing

    def stop_reply(self) -> None:
        self._post(StopReply())

    def type(self, text: str) -> None:
        """Insert text that was typed elsewhere in the window, and take the focus."""
        self.line.setFocus(Qt.FocusReason.OtherFocusReason)
        self.line.insert(text)

    def be_compact(self, on: bool) -> None:
        self._is_compact = on
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """Make the talk button compact if the line is too narrow for its placeholder."""
        self.talk.be_compact(self._is_compact or self.width() < in_lines(self, _ROOMY, 1).width())

    def _on_typed(self) -> None:
        self.send.setEnabled(bool(self.line.text().strip()))
