"""The field for typing a message: one line that grows to five and then scrolls.

Invariant: Enter sends, Shift+Enter begins a new line; it holds plain text only, and never more than
a turn may have.
"""

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.language.words import tr
from app.look.overlay import OverlayBar

_LINES = 5
_LONGEST = 20_000  # characters of one typed turn; more was pasted by mistake
_PADDING = 7  # logical pixels above and below the text
_SPARE = 2  # with less, Qt thinks that the last line does not fit
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class MessageField(QPlainTextEdit):
    """Signals:
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
        self.setPlainText(text)

    def insert(self, text: str) -> None:
        """At the caret."""
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
        """Fit the height to the text, from one line to five; Qt gives the size of plain text in
        lines."""
        lines = min(max(1, round(self.document().size().height())), _LINES)
        height = math.ceil(lines * QFontMetricsF(self.font()).lineSpacing()) + 2 * _PADDING + _SPARE
        if height != self.height():
            self.setFixedHeight(height)
