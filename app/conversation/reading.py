"""Text to read, select and copy: the base of the conversation."""

from PySide6.QtCore import QMimeData, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractSlider, QFrame, QTextEdit, QWidget

from app.look.layout import OverlayBar
from app.look.theme import Theme

_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
_SCROLL_KEYS = {
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}


class ReadOnlyText(QTextEdit):
    """Text without a caret: the arrow keys scroll. It shows a focus that came by Tab."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._has_focus_ring = False
        self.setMouseTracking(True)
        self.setReadOnly(True)
        self.setAcceptDrops(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        OverlayBar(self)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self.setCursorWidth(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = _SCROLL_KEYS.get(Qt.Key(event.key()))
        if action is None or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().keyPressEvent(event)
        else:
            self.verticalScrollBar().triggerAction(action)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._has_focus_ring:
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            painter.drawRoundedRect(QRectF(self.viewport().rect()).adjusted(2, 2, -2, -2), 10, 10)
            painter.end()
        super().paintEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._has_focus_ring = event.reason() in _TAB_REASONS
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._has_focus_ring = False
        super().focusOutEvent(event)
        self.viewport().update()

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy the words, not our colours."""
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText())
        return data
