"""Areas that scroll, with the bar over the content, so that nothing moves when it comes or goes.

Invariant: the area's own bar is hidden but keeps the state; this one mirrors it and controls it.
"""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QFrame,
    QScrollArea,
    QScrollBar,
    QWidget,
)

_WIDTH = 10  # logical pixels


class OverlayBar(QScrollBar):
    """Shown at the right edge of `area` while there is something to scroll."""

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(Qt.Orientation.Vertical, area)
        self._area = area
        self._own = area.verticalScrollBar()
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._own.rangeChanged.connect(self._follow)
        self._own.valueChanged.connect(self.setValue)
        self.valueChanged.connect(self._own.setValue)
        area.installEventFilter(self)
        self._follow()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._follow()
        return super().eventFilter(watched, event)

    def _follow(self) -> None:
        own = self._own
        self.setRange(own.minimum(), own.maximum())
        self.setPageStep(own.pageStep())
        self.setSingleStep(own.singleStep())
        self.setValue(own.value())
        self.setGeometry(self._area.width() - _WIDTH, 0, _WIDTH, self._area.height())
        self.setVisible(own.maximum() > own.minimum())
        self.raise_()


class Scrolled(QScrollArea):
    """`content` in an area without a frame, which scrolls up and down; it takes no focus itself."""

    def __init__(self, content: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        OverlayBar(self)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._follow)

    def _follow(self, _: QWidget | None, now: QWidget | None) -> None:
        """Show what the keyboard comes to; nothing moves under a pressed mouse."""
        if now is not None and self.isAncestorOf(now) and not QApplication.mouseButtons():
            self.ensureWidgetVisible(now)


def page_in(parent: QWidget | None = None) -> QWidget:
    """Where the content of an area stands, on the ground of the window."""
    content = QWidget(parent)
    content.setProperty("kind", "page")
    return content
