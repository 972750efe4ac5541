"""The measure of the conversation: how wide its lines may be, and what stands under and over them.

Invariant: whatever is shown in a Measured begins and ends where the bubbles do.
"""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

COLUMN = 760.0  # logical pixels, like all sizes here; longer lines are tiring to read
GUTTER = 12.0  # least room left and right of the column; the scroll bar stands there


def gutter(width: float) -> float:
    """The room left and right of the column where there are `width` pixels."""
    return max(GUTTER, (width - COLUMN) / 2)


class Measured(QWidget):
    """Some widgets, one under the other, in the measure."""

    def __init__(self, *widgets: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._left = 0
        self._column = QVBoxLayout(self)
        self._column.setSpacing(8)
        for widget in widgets:
            self._column.addWidget(widget)

    def leave(self, left: int) -> None:
        """The conversation begins `left` pixels from here: something stands beside it."""
        self._left = left
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        side = int(gutter(self.width() - self._left))
        self._column.setContentsMargins(self._left + side, 0, side, 0)
