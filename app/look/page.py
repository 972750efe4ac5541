"""The layout of a separate page: a heading, a list that scrolls, and a foot.

Invariant: never modal; Esc closes it without losing anything.
"""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.look.label import Label
from app.look.measure import room_for_window
from app.look.overlay import OverlayBar
from app.look.theme import scaled

_USUAL_LINE = 16  # logical pixels, the height of a line of ordinary text


class Page(QDialog):
    """Subclasses fill `head`, `body` and `foot`."""

    def __init__(self, title: str, about: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setModal(False)
        self.resize(in_lines(self, 620, 640))
        self.setMinimumSize(QSize(400, 420).boundedTo(room_for_window(self)))
        intro = Label(about, self)
        intro.setProperty("kind", "muted")
        intro.setFont(scaled(self.font(), 0.95))
        intro.setWordWrap(True)
        self._content = QWidget()
        self._content.setProperty("kind", "page")
        self.head = QVBoxLayout()
        self.body = QVBoxLayout(self._content)
        self.body.setContentsMargins(0, 0, 8, 0)
        self.body.setSpacing(8)
        self.foot = QHBoxLayout()
        self._area = area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self._content)
        OverlayBar(area)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 12, 16)
        column.setSpacing(12)
        column.addWidget(intro)
        column.addLayout(self.head)
        column.addWidget(area, 1)
        column.addLayout(self.foot)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in a field only ends the editing; a plain dialog would also press its first
        button."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def scroll_to_top(self) -> None:
        """Show the beginning of the list."""
        self._area.verticalScrollBar().setValue(0)

    def scroll_to(self, widget: QWidget) -> None:
        """Show a part of the list."""
        self._area.ensureWidgetVisible(widget)

    def open_beside(self) -> None:
        """Show it, or bring it to the front if it is shown already."""
        self.show()
        self.raise_()
        self.activateWindow()


def in_lines(widget: QWidget, width: int, height: int) -> QSize:
    """A size given in logical pixels for text of the ordinary size; it grows with the text, up to
    the screen's size.
    """
    factor = max(1.0, widget.fontMetrics().height() / _USUAL_LINE)
    size = QSize(int(width * factor), int(height * factor))
    return size.boundedTo(room_for_window(widget))


def card(widget: QWidget, parent: QWidget) -> QFrame:
    """A widget on a card of its own."""
    frame = QFrame(parent)
    frame.setProperty("kind", "card")
    inside = QVBoxLayout(frame)
    inside.setContentsMargins(14, 10, 10, 10)
    inside.addWidget(widget)
    return frame
