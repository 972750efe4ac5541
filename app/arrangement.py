"""Where the parts of the window are: side by side in a wide one, otherwise on top of each other.

Invariant: the parts are the same in both; in a narrow window the shelf, or the panel of
conversations, takes the place of the conversation, and the composer stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app.conversation.composer import Composer
from app.header import Header
from app.history.beside import Beside
from app.look.measure import Measured
from app.shelf import Shelf
from app.stage.panel import Stage

_SIDE_FROM = 2.4  # a window this many times as wide as the side column has room for it
_SIDE_WIDTH = 340  # logical pixels at least
_SIDE_LINES = 21  # in line heights: the column grows with the text
_TALLEST_STAGE = 470  # the orb, its word and the rate belong together
_NO_LIMIT = 16_777_215  # Qt's


@dataclass(frozen=True)
class Furniture:
    """The parts of a window: one of `pages` at a time, with `panel` beside it when that is open."""

    header: Header
    banner: QWidget
    panel: QWidget
    pages: Sequence[QWidget]
    timers: QWidget
    notice: QWidget
    composer: Composer
    stage: Stage
    shelf: Shelf


class Arrangement:
    """Puts furniture into a window."""

    def __init__(self, furniture: Furniture, window: QWidget) -> None:
        self.is_narrow: bool | None = None
        self._furniture = furniture
        self._talking = QWidget(window)
        self._pages = QStackedWidget(self._talking)
        self._beside = Beside(furniture.panel, self._pages, self._talking)
        for page in furniture.pages:  # once it stands: what moves is styled anew, with all in it
            self._pages.addWidget(page)
        self._lay_out_talking()
        self._side = QVBoxLayout()
        self._side.setSpacing(12)
        self._side.addWidget(furniture.stage)
        self._side.addWidget(furniture.shelf)
        self._side.addStretch(0)
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._body.setSpacing(12)
        self._body.addWidget(self._talking)
        self._body.addLayout(self._side)
        outside = QVBoxLayout(window)
        outside.setContentsMargins(0, 0, 0, 0)
        outside.setSpacing(4)
        outside.addWidget(furniture.header)
        outside.addLayout(self._body, 1)
        self.fit(window.width())

    @property
    def hides_pages(self) -> bool:
        """Whether the panel takes the place of the page."""
        return self._beside.hides_pages

    def fit(self, width: int) -> None:
        """The window has this width."""
        lines = self._furniture.header.fontMetrics().height()
        side = max(_SIDE_WIDTH, _SIDE_LINES * lines)
        narrow = width < _SIDE_FROM * side
        if narrow is self.is_narrow:
            return
        self.is_narrow = narrow
        directions = QBoxLayout.Direction
        self._body.setDirection(directions.BottomToTop if narrow else directions.LeftToRight)
        margin = 10 if narrow else 16
        self._body.setContentsMargins(margin, 0, margin, margin)
        stage, shelf = self._furniture.stage, self._furniture.shelf
        for widget in (stage, shelf):
            widget.setMinimumWidth(0 if narrow else side)
            widget.setMaximumWidth(_NO_LIMIT if narrow else side)
        stage.setMaximumHeight(_NO_LIMIT if narrow else _TALLEST_STAGE)
        policy = QSizePolicy.Policy
        shelf_height = policy.Expanding if narrow else policy.Maximum
        shelf.setSizePolicy(policy.Preferred, shelf_height)
        self._side.setStretch(0, 0 if narrow else 100)
        self._side.setStretch(2, 0 if narrow else 1)
        for part in (self._furniture.header, self._furniture.composer, stage):
            part.be_compact(narrow)
        self.show_details(self._furniture.header.details.isChecked())

    def show_details(self, on: bool) -> None:
        """In a narrow window the shelf takes the place of the conversation."""
        narrow = bool(self.is_narrow)
        instead = on and narrow
        self._furniture.shelf.setVisible(on or not narrow)
        self._beside.setVisible(not instead)
        policy = QSizePolicy.Policy
        self._talking.setSizePolicy(
            policy.Preferred, policy.Maximum if instead else policy.Preferred
        )
        self._body.setStretch(0, 0 if instead else 1)
        self._body.setStretch(1, 1 if instead else 0)

    def open_panel(self, on: bool) -> None:
        """Show the panel beside the pages, or put it away."""
        self._beside.open(on)

    def show_page(self, page: QWidget) -> None:
        self._pages.setCurrentWidget(page)

    def _lay_out_talking(self) -> None:
        furniture = self._furniture
        above = Measured(furniture.banner, parent=self._talking)
        below = Measured(
            furniture.timers, furniture.notice, furniture.composer, parent=self._talking
        )
        for measured in (above, below):
            measured.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
            self._beside.moved.connect(measured.leave)
        column = QVBoxLayout(self._talking)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(above)
        column.addWidget(self._beside, 1)
        column.addWidget(below)
