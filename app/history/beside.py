"""The panel of conversations beside the current one, or in its place when there is no room.

Invariant: one of the two is always in sight.
"""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

_PANEL_WIDTH = 250  # logical pixels at least
_PANEL_LINES = 15.5  # in line heights: it grows with the text
_SPACING = 12
_BOTH_FROM = 2.4  # a window this many times as wide as the panel has room for both


class Beside(QWidget):
    """`panel` on the left of `pages`; hidden until open() is called.

    Signals:
        moved(int): where the pages begin now, in logical pixels from the left.
    """

    moved = Signal(int)

    def __init__(self, panel: QWidget, pages: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._pages = pages
        self._card = QFrame(self)
        self._card.setProperty("kind", "card")
        inside = QVBoxLayout(self._card)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(panel)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_SPACING)
        row.addWidget(self._card)
        row.addWidget(pages, 1)
        self._is_open = False
        self._arrange()

    def open(self, on: bool) -> None:
        """Show the panel, or put it away."""
        self._is_open = on
        self._arrange()

    @property
    def hides_pages(self) -> bool:
        """Whether the panel takes the place of the conversation."""
        return self._is_open and self.width() < _BOTH_FROM * self._panel_width

    @property
    def _panel_width(self) -> int:
        return max(_PANEL_WIDTH, int(_PANEL_LINES * self.fontMetrics().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        width = self._panel_width
        self._card.setMaximumWidth(16_777_215 if self.hides_pages else width)
        self._card.setMinimumWidth(0 if self.hides_pages else width)
        self._card.setVisible(self._is_open)
        self._pages.setVisible(not self.hides_pages)
        both = self._is_open and not self.hides_pages
        self.moved.emit(width + _SPACING if both else 0)
