"""The layout of a separate page: a heading, a list that scrolls, and a foot; and a row of such a
list.

Invariant: never modal; Esc closes it without losing anything.
"""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QFrame, QMenu, QVBoxLayout, QWidget

from app.language import tr
from app.look.controls import IconButton
from app.look.label import WrappingLabel
from app.look.layout import Scrolled, column, page_in, room_for_window, row, wide
from app.look.theme import Theme
from engine.api import Event

_MARGINS = (18, 16, 12, 16)
_USUAL_LINE = 16  # logical pixels, the height of a line of ordinary text


class Dialog(QDialog):
    """A dialog whose Enter only ends an editing; a plain one would press its first button."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)


class Page(Dialog):
    """Subclasses fill `head`, `body` and `foot`; `area` is what scrolls."""

    def __init__(self, title: str, about: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.resize(in_lines(self, 620, 640))
        self.intro = WrappingLabel(about, self, kind="muted", size=0.95)
        content = page_in()
        self.head = column()
        self.body = column(on=content, margins=(0, 0, 8, 0), spacing=8)
        self.foot = row()
        self.area = Scrolled(content, self)
        parts = (self.intro, self.head, wide(self.area), self.foot)
        column(*parts, on=self, margins=_MARGINS, spacing=12)

    def showEvent(self, event: QShowEvent) -> None:
        """Set the minimum size: the foot needs the width of its buttons, in any language."""
        width = max(400, self.foot.minimumSize().width() + _MARGINS[0] + _MARGINS[2])
        self.setMinimumSize(QSize(width, 420).boundedTo(room_for_window(self)))
        super().showEvent(event)

    def on_event(self, event: Event) -> None:
        """Handle an event. Pages about other things ignore it."""

    def open_beside(self) -> None:
        """Open the page, or bring it to the front if it is already open."""
        bring_to_front(self)


AnyPage = TypeVar("AnyPage", bound=Page)


class OnDemand(Generic[AnyPage]):
    """Creates a page when it is first opened, so that the main window opens sooner."""

    def __init__(self, make: Callable[[], AnyPage]) -> None:
        self._make = make
        self.page: AnyPage | None = None  # None = never opened

    def open(self) -> AnyPage:
        """Open the page in front of other windows."""
        self.page = self.page or self._make()
        self.page.open_beside()
        return self.page

    def on_event(self, event: Event) -> None:
        if self.page is not None:
            self.page.on_event(event)


class CardRow(QFrame):
    """A card that shows one thing of a page's list: its title, facts about it, and a menu behind
    three dots with rare actions.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.title = WrappingLabel("", self, strong=True)
        self.facts = WrappingLabel("", self, kind="muted", size=0.9, figures=True)
        self._theme = theme

    def offer(self, actions: Mapping[str, Callable[[], object]]) -> dict[str, QAction]:
        """Create the menu with these actions; return its entries by their labels."""
        self.more = IconButton("more", tr("More"), self._theme, self)
        menu = QMenu(self)
        self.more.open_menu(menu)
        entries = {words: menu.addAction(words) for words in actions}
        for words, act in actions.items():
            entries[words].triggered.connect(lambda _=False, act=act: act())
        return entries


def bring_to_front(window: QWidget) -> None:
    """Show a window in front of all others."""
    window.show()
    window.raise_()
    window.activateWindow()


def take_away(widget: QWidget, *layouts: QVBoxLayout) -> None:
    """Remove and delete a widget of a list; takeAt() would leave the others with old sizes."""
    for each in layouts:
        each.removeWidget(widget)
    widget.hide()
    widget.deleteLater()


def in_lines(widget: QWidget, width: int, height: int) -> QSize:
    """Scale a size in logical pixels by the size of the text, up to the size of the screen."""
    factor = max(1.0, widget.fontMetrics().height() / _USUAL_LINE)
    size = QSize(int(width * factor), int(height * factor))
    return size.boundedTo(room_for_window(widget))
