"""Rows and columns, each created by one call with its items in order; scroll areas; shared sizes.

The scroll bar lies over the content, so that nothing moves when it appears. The shared sizes are
the width of the reading column, which the conversation and its neighbours have, and the size of the
largest window that fits on a screen.

Invariant: a widget's own layout has a margin only if one is given. Without a given spacing it has
the style's.
"""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLayout,
    QScrollArea,
    QScrollBar,
    QVBoxLayout,
    QWidget,
)

Side = Qt.AlignmentFlag
Margins = tuple[int, int, int, int]  # left, top, right, bottom; logical pixels, like all sizes here

NO_MARGINS: Final = (0, 0, 0, 0)
_ANYWHERE: Final = Side(0)
LEFT, CENTRE, RIGHT = Side.AlignLeft, Side.AlignHCenter, Side.AlignRight
TOP, MIDDLE, BOTTOM = Side.AlignTop, Side.AlignVCenter, Side.AlignBottom

COLUMN = 760.0  # the measure of the conversation; longer lines are tiring to read
GUTTER = 12.0  # least space on each side of the column; the scroll bar is there
_FRAME = QSize(8, 48)  # about the frame that a desktop draws around a window


@dataclass(frozen=True)
class Spring:
    """Free space, in proportion to `share`. With 0 it grows only if no other item does."""

    share: int = 1


@dataclass(frozen=True)
class Placed:
    """A widget or layout with its share of the free space, or the side at which it is aligned."""

    what: QWidget | QLayout
    share: int = 0
    side: Side = _ANYWHERE


Item = QWidget | QLayout | Placed | Spring | int  # a number is a gap of this size


def wide(what: QWidget | QLayout, share: int = 1) -> Placed:
    """Let an item take a share of the free space."""
    return Placed(what, share)


def placed(side: Side, what: QWidget) -> Placed:
    """Align an item, in its own size, at this side."""
    return Placed(what, side=side)


def row(
    *items: Item,
    on: QWidget | None = None,
    margins: Margins | None = NO_MARGINS,
    spacing: int | None = None,
) -> QHBoxLayout:
    """Create a row, filled from left to right. `on`: the widget that gets the layout; None = the
    row becomes a part of another layout. `margins` None: the style's margins.
    """
    layout = QHBoxLayout() if on is None else QHBoxLayout(on)
    fill(layout, *items, margins=margins, spacing=spacing)
    return layout


def column(
    *items: Item,
    on: QWidget | None = None,
    margins: Margins | None = NO_MARGINS,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Create a column, filled from top to bottom. The arguments are those of row()."""
    layout = QVBoxLayout() if on is None else QVBoxLayout(on)
    fill(layout, *items, margins=margins, spacing=spacing)
    return layout


def fill(
    layout: QBoxLayout, *items: Item, margins: Margins | None = None, spacing: int | None = None
) -> None:
    """Append items to a layout. With None, its margins or its spacing do not change."""
    if margins is not None:
        layout.setContentsMargins(*margins)
    if spacing is not None:
        layout.setSpacing(spacing)
    for item in items:
        match item:
            case Spring(share):
                layout.addStretch(share)
            case int():
                layout.addSpacing(item)
            case Placed():
                _add(layout, item)
            case _:
                _add(layout, Placed(item))


def _add(layout: QBoxLayout, placed: Placed) -> None:
    if isinstance(placed.what, QLayout):
        layout.addLayout(placed.what, placed.share)
    else:
        layout.addWidget(placed.what, placed.share, placed.side)


def card(parent: QWidget, *items: Item, margins: Margins | None = (14, 10, 10, 10)) -> QFrame:
    """Create a frame with a column of these items."""
    frame = QFrame(parent)
    frame.setProperty("kind", "card")
    column(*items, on=frame, margins=margins)
    return frame


def room_for_window(widget: QWidget) -> QSize:
    """Return the largest window size that fits on the widget's screen, without the frame."""
    return widget.screen().availableSize() - _FRAME


def gutter(width: float) -> float:
    """Return the space on each side of the reading column in an area of this width, in pixels."""
    return max(GUTTER, (width - COLUMN) / 2)


class ReadingColumn(QWidget):
    """Widgets in a column as wide as the conversation: their edges are those of the bubbles."""

    def __init__(self, *widgets: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._left = 0
        self._column = column(*widgets, on=self, margins=None, spacing=8)

    def leave(self, left: int) -> None:
        """Reserve `left` pixels for the panel beside the conversation."""
        self._left = left
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        side = int(gutter(self.width() - self._left))
        self._column.setContentsMargins(self._left + side, 0, side, 0)


_WIDTH = 10  # logical pixels


class OverlayBar(QScrollBar):
    """A scroll bar at the right edge of `area`, shown while it can scroll. The area's own bar is
    hidden but keeps the state, which this one mirrors and controls.
    """

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
    """A vertical scroll area for `content`, without a frame and a focus of its own."""

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
        """Scroll to the widget that gets the focus, also from outside the area, where Qt does not;
        but not while a mouse button is pressed.
        """
        if now is not None and self.isAncestorOf(now) and not QApplication.mouseButtons():
            self.ensureWidgetVisible(now)


def page_in() -> QWidget:
    """Create the widget for the content of a scroll area, with the window's background."""
    content = QWidget()
    content.setProperty("kind", "page")
    return content
