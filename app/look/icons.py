"""Our icons in the colours of the theme, sharp at every pixel ratio.

Invariant: the SVG files say `currentColor`; the colour is inserted before rendering, so one file
works for dark and light.
"""

from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.look.theme import Theme
from engine.api import resource

_PIXEL_SIZES = (20, 30, 40, 60)  # 20 logical pixels at the pixel ratios 1, 1.5, 2 and 3


def icon(name: str, colour: QColor, *, disabled: QColor | None = None) -> QIcon:
    """The icon `name` in one colour, with another one for disabled widgets."""
    result = QIcon()
    for size in _PIXEL_SIZES:
        result.addPixmap(pixmap(name, colour, size))
        if disabled is not None:
            result.addPixmap(pixmap(name, disabled, size), QIcon.Mode.Disabled)
    return result


def pixmap(name: str, colour: QColor, size: int) -> QPixmap:
    """`size` device pixels square; drawn once, and kept while Qt has room for it."""
    key = f"{name} {colour.name()} {size}"
    image = QPixmap()
    if not QPixmapCache.find(key, image):
        image = QPixmap(size, size)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        paint_icon(painter, name, colour, QRectF(0, 0, size, size))
        painter.end()
        QPixmapCache.insert(key, image)
    return image


def paint_icon(painter: QPainter, name: str, colour: QColor, target: QRectF) -> None:
    """Paint the icon as vectors into `target`."""
    source = _source(name).replace(b"currentColor", colour.name().encode())
    QSvgRenderer(QByteArray(source)).render(painter, target)


def application_icon() -> QIcon:
    """The program's own icon, as the desktop shows it."""
    return QIcon(str(resource("icons", "rubato.svg")))


class IconButton(QToolButton):
    """A button that shows one icon; its name is for screen readers and the tooltip.

    Only Tab gives it the focus, so that the talk key still works after a click. `act` is called for
    each click.

    Signals:
        renamed: the icon or the name is different now.
    """

    renamed = Signal()

    def __init__(
        self,
        name: str,
        label: str,
        theme: Theme,
        parent: QWidget,
        act: Callable[..., object] | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon_name = name
        self.setProperty("kind", "icon")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setIconSize(QSize(20, 20))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_as(name, label)
        theme.changed.connect(self._tint)
        if act is not None:
            self.clicked.connect(act)

    def open_menu(self, menu: QMenu) -> None:
        """Each press opens this menu."""
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def show_as(self, name: str, label: str) -> None:
        """Change icon and name together."""
        self._icon_name = name
        self.setAccessibleName(label)
        self.setToolTip(label)
        self._tint()
        self.renamed.emit()

    def _tint(self) -> None:
        colours = self._theme
        self.setIcon(
            icon(self._icon_name, colours.colour("text"), disabled=colours.colour("control"))
        )


@cache
def _source(name: str) -> bytes:
    return resource("icons", f"{name}.svg").read_bytes()
