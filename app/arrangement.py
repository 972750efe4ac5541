"""Where the parts of the window are: side by side in a wide one, otherwise on top of each other.
The side column holds the voice area and the status, which are not needed during a talk.

Invariant: the parts are the same in both; in a narrow window the side column, or the panel of
conversations, takes the place of the conversation, and the composer stays. The positions of the
rate, the message field and their buttons depend on the window's size alone, not on its content.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QStackedWidget, QWidget

from app.bridge import Post
from app.look.layout import (
    NO_MARGINS,
    ReadingColumn,
    Scrolled,
    Spring,
    card,
    column,
    page_in,
    row,
    wide,
)
from app.look.theme import Theme
from app.status.panel import Status
from app.status.parts import Parts
from app.voice.panel import VoiceArea
from engine.api import Event

if TYPE_CHECKING:
    from app.window import Window


class SideColumn(Scrolled):
    """Two cards, one under the other, which scroll when the window is low."""

    def __init__(self, post: Post, parts: Parts, theme: Theme, parent: QWidget) -> None:
        content = page_in()
        super().__init__(content, parent)  # while it is empty: Qt restyles a reparented widget
        self._content = content
        self.voices = VoiceArea(post, theme, content)
        self.status = Status(parts, theme, content)
        shown = (self.voices, self.status)
        cards = [card(content, each, margins=(16, 14, 16, 14)) for each in shown]
        column(*cards, Spring(), on=content, spacing=12)
        content.installEventFilter(self)

    def on_event(self, event: Event) -> None:
        self.voices.on_event(event)
        self.status.on_event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A scroll area does not report when its content wants another size."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        least = self._content.minimumSizeHint()  # larger than its sizeHint where lines wrap
        return QSize(330, self._content.sizeHint().expandedTo(least).height())

    def minimumSizeHint(self) -> QSize:
        return QSize(220, 120)


_SIDE_FROM = 2.4  # a window this many times as wide as the side column has room for it
_SIDE_WIDTH = 340  # logical pixels at least
_SIDE_LINES = 21  # in line heights: the column grows with the text
_TALLEST_STAGE = 470  # the orb, its word and the rate belong together
_USUAL_CARDS = 268  # the height of the side cards while all is well; with more to say it scrolls
_CARD_LINES = 16.5
_ALL_CARDS = 400  # with the row of every part and the last turn; it gets that where there is room
_ALL_LINES = 24.5
_COMFORTABLE_STAGE = 400  # smaller than that, the stage goes first
_LEAST_CARDS = 120
_LOW_LINES = 35  # a window of less height shows one line of a fault and one timer
_SHARED_LINES = 42  # a narrow window of less height shows the stage or the panel, not both
_GAP = 12
_TOP_GAP = 4  # below the header
_MARGIN = 16
_NARROW_MARGIN = 10
_NO_LIMIT = 16_777_215  # Qt's
_PANEL_WIDTH = 250  # logical pixels at least
_PANEL_LINES = 15.5  # in line heights: it grows with the text
_BOTH_FROM = 2.8  # a window this many times as wide as the panel has room for both


class SidePanel(QWidget):
    """`panel` on the left of `pages`, or in their place where the window is too narrow: one of the
    two is always in sight. Hidden until open() is called.

    Signals:
        moved(int): where the pages begin now, in logical pixels from the left.
    """

    moved = Signal(int)

    def __init__(self, panel: QWidget, pages: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._pages = pages
        self._card = card(self, panel, margins=NO_MARGINS)
        row(self._card, wide(pages), on=self, spacing=_GAP)
        self._is_open = False
        self._arrange()

    def open(self, on: bool) -> None:
        """Show the panel, or put it away."""
        self._is_open = on
        self._arrange()

    @property
    def hides_pages(self) -> bool:
        """True if the panel takes the place of the conversation."""
        return self._is_open and self.width() < _BOTH_FROM * self._panel_width

    @property
    def _panel_width(self) -> int:
        return max(_PANEL_WIDTH, int(_PANEL_LINES * self.fontMetrics().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        width = self._panel_width
        self._card.setMaximumWidth(_NO_LIMIT if self.hides_pages else width)
        self._card.setMinimumWidth(0 if self.hides_pages else width)
        self._card.setVisible(self._is_open)
        self._pages.setVisible(not self.hides_pages)
        both = self._is_open and not self.hides_pages
        self.moved.emit(width + _GAP if both else 0)


class Arrangement:
    """Puts the parts into a window: one of its pages at a time, with the panel of conversations
    beside it when that is open.
    """

    def __init__(self, window: "Window") -> None:
        self.is_narrow: bool | None = None
        self._is_short = self._shows_panel = False
        self._window = window
        self._talking = QWidget(window)
        self._pages = QStackedWidget(self._talking)
        self._beside = SidePanel(window.history, self._pages, self._talking)
        self._beside.setMinimumHeight(1)  # it gives way first, so that the composer is never cut
        pages = (window.welcome, window.first_start, window.conversation)
        for page in pages:  # now that it has its place: Qt restyles a reparented widget
            self._pages.addWidget(page)
        self._lay_out_talking()
        self._side = column(window.stage, window.side, Spring(0), spacing=_GAP)
        self._body = row(self._talking, self._side, spacing=_GAP)
        column(window.header, wide(self._body), on=window, spacing=_TOP_GAP)
        lines = window.header.fontMetrics().height()
        self._side_width = max(_SIDE_WIDTH, _SIDE_LINES * lines)
        self._least_stage = window.stage.least_height
        self.fit(window.size())

    @property
    def hides_pages(self) -> bool:
        """True if the panel takes the place of the page."""
        return self._beside.hides_pages

    def fit(self, size: QSize) -> None:
        """The window has this size."""
        header, stage = self._window.header, self._window.stage
        line = header.fontMetrics().height()
        for part in (self._window.banner, self._window.timers):
            part.be_low(size.height() < _LOW_LINES * line)
        room = size.height() - header.sizeHint().height() - _TOP_GAP - _MARGIN - _GAP
        narrow = size.width() < _SIDE_FROM * self._side_width
        narrow = narrow or room < self._least_stage + _LEAST_CARDS
        self._is_short = size.height() < (_SHARED_LINES if narrow else _LOW_LINES) * line
        if narrow is not self.is_narrow:
            self.is_narrow = narrow
            self._rearrange(narrow)
        if not narrow:
            usual = room - max(_USUAL_CARDS, int(_CARD_LINES * line))
            room_for_all = room - max(_ALL_CARDS, int(_ALL_LINES * line))
            height = max(self._least_stage, min(usual, max(_COMFORTABLE_STAGE, room_for_all)))
            stage.setFixedHeight(min(_TALLEST_STAGE, height))
        self._show_stage()

    def _rearrange(self, narrow: bool) -> None:
        width = self._side_width
        directions = QBoxLayout.Direction
        self._body.setDirection(directions.BottomToTop if narrow else directions.LeftToRight)
        margin = _NARROW_MARGIN if narrow else _MARGIN
        self._body.setContentsMargins(margin, 0, margin, margin)
        stage, side = self._window.stage, self._window.side
        for widget in (stage, side):
            widget.setMinimumWidth(0 if narrow else width)
            widget.setMaximumWidth(_NO_LIMIT if narrow else width)
        stage.setMinimumHeight(0)
        stage.setMaximumHeight(_NO_LIMIT)
        policy = QSizePolicy.Policy
        side.setSizePolicy(policy.Preferred, policy.Expanding if narrow else policy.Maximum)
        self._side.setStretch(2, 0 if narrow else 1)
        for part in (self._window.header, self._window.composer, stage):
            part.be_compact(narrow)
        self.show_details(self._window.header.details.isChecked())

    def show_details(self, on: bool) -> None:
        """In a narrow window the side column takes the place of the conversation."""
        narrow = bool(self.is_narrow)
        instead = on and narrow
        self._window.side.setVisible(on or not narrow)
        self._beside.setVisible(not instead)
        policy = QSizePolicy.Policy
        self._talking.setSizePolicy(
            policy.Preferred, policy.Maximum if instead else policy.Preferred
        )
        self._body.setStretch(0, 0 if instead else 1)
        self._body.setStretch(1, 1 if instead else 0)

    def open_panel(self, on: bool) -> None:
        """Show the panel beside the pages, or put it away."""
        self._shows_panel = on
        self._beside.open(on)
        self._show_stage()

    def _show_stage(self) -> None:
        """In a short window the panel takes its room."""
        self._window.stage.setVisible(not (self._is_short and self._shows_panel))

    def show_page(self, page: QWidget) -> None:
        self._pages.setCurrentWidget(page)

    def _lay_out_talking(self) -> None:
        window = self._window
        above = ReadingColumn(window.banner, parent=self._talking)
        below = ReadingColumn(window.timers, window.notice, window.composer, parent=self._talking)
        for measured in (above, below):
            measured.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
            self._beside.moved.connect(measured.leave)
        column(above, wide(self._beside), below, on=self._talking, spacing=8)
