"""Rows and columns, each described in one call: what stands in it, in the order in which it stands.
And sizes that several parts share: the measure of the conversation, which is the width of its lines
and of what is shown above and below them, and what a screen has room for.

Invariant: around a widget's own layout there is no margin unless one is given; where no spacing is
given, it is the style's.
"""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLayout, QVBoxLayout, QWidget

Side = Qt.AlignmentFlag
Margins = tuple[int, int, int, int]  # left, top, right, bottom; logical pixels, like all sizes here

NO_MARGINS: Final = (0, 0, 0, 0)
_ANYWHERE: Final = Side(0)
LEFT, CENTRE, RIGHT = Side.AlignLeft, Side.AlignHCenter, Side.AlignRight
TOP, MIDDLE, BOTTOM = Side.AlignTop, Side.AlignVCenter, Side.AlignBottom

COLUMN = 760.0  # the measure of the conversation; longer lines are tiring to read
GUTTER = 12.0  # least space on each side of the column; the scroll bar is there
_FRAME = QSize(8, 48)  # about what a desktop draws around a window


@dataclass(frozen=True)
class Spring:
    """Takes room that is left over, in this proportion to others; with 0, only if nobody does."""

    share: int = 1


@dataclass(frozen=True)
class Placed:
    """A widget or layout that takes a share of the room, or stands at a side of what it gets."""

    what: QWidget | QLayout
    share: int = 0
    side: Side = _ANYWHERE


Item = QWidget | QLayout | Placed | Spring | int  # a number is a gap of this size


def wide(what: QWidget | QLayout, share: int = 1) -> Placed:
    """It takes the room that is left over."""
    return Placed(what, share)


def placed(side: Side, what: QWidget) -> Placed:
    """It keeps its own size and stands at this side."""
    return Placed(what, side=side)


def row(
    *items: Item,
    on: QWidget | None = None,
    margins: Margins | None = NO_MARGINS,
    spacing: int | None = None,
) -> QHBoxLayout:
    """From left to right. `on`: the widget it lays out; None = it becomes a part of another layout.
    `margins` None: the style's.
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
    """The same from top to bottom."""
    layout = QVBoxLayout() if on is None else QVBoxLayout(on)
    fill(layout, *items, margins=margins, spacing=spacing)
    return layout


def fill(
    layout: QBoxLayout, *items: Item, margins: Margins | None = None, spacing: int | None = None
) -> None:
    """Append to a layout; None leaves its margins and its spacing as they are."""
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


def card(
    parent: QWidget, *items: Item, kind: str = "card", margins: Margins | None = (14, 10, 10, 10)
) -> QFrame:
    """A frame of its own, of this `kind` in the style sheet, with a column of these in it."""
    frame = QFrame(parent)
    frame.setProperty("kind", kind)
    column(*items, on=frame, margins=margins)
    return frame


def room_for_window(widget: QWidget) -> QSize:
    """The largest window that its screen shows whole, in logical pixels, without the frame."""
    return widget.screen().availableSize() - _FRAME


def gutter(width: float) -> float:
    """The space on each side of the column for a total width in pixels."""
    return max(GUTTER, (width - COLUMN) / 2)


class Measured(QWidget):
    """Some widgets in a column, in the measure: they begin and end where the bubbles do."""

    def __init__(self, *widgets: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._left = 0
        self._column = column(*widgets, on=self, margins=None, spacing=8)

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
