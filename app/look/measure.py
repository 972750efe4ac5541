"""Sizes that several parts share: the measure of the conversation, which is the width of its lines
and of what is shown above and below them, and what a screen has room for.

Invariant: the contents of a Measured begin and end where the bubbles do.
"""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

COLUMN = 760.0  # logical pixels, like all sizes here; longer lines are tiring to read
GUTTER = 12.0  # least space on each side of the column; the scroll bar is there

_FRAME = QSize(8, 48)  # about what a desktop draws around a window


def room_for_window(widget: QWidget) -> QSize:
    """The largest window that its screen shows whole, in logical pixels, without the frame."""
    return widget.screen().availableSize() - _FRAME


def gutter(width: float) -> float:
    """The space on each side of the column for a total width in pixels."""
    return max(GUTTER, (width - COLUMN) / 2)


class Measured(QWidget):
    """Some widgets in a column, in the measure."""

    def __init__(self, *widgets: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._left = 0
        self._column = QVBoxLayout(self)
        self._column.setSpacing(8)
        for widget in widgets:
            self._column.addWidget(widget)

    def leave(self, left: int) -> None:
        """Leave `left` pixels free, because something stands beside the conversation."""
        self._left = left
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        side = int(gutter(self.width() - self._left))
        self._column.setContentsMargins(self._left + side, 0, side, 0)
