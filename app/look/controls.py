"""Controls: buttons with words and with icons, a switch, a combo box, and bars.

Invariant: however a control is painted, Qt and screen readers know its kind and its complete text.
Only Tab focuses icons and switches, so that the talk key still works after a click. The SVG files
of our icons say `currentColor`; the colour is inserted before rendering, so one file works for dark
and light, sharp at every pixel ratio.
"""

from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QByteArray, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QIcon,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPixmapCache,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QMenu,
    QProgressBar,
    QPushButton,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QWidget,
)

from app.look.plain_text import tool_tip
from app.look.theme import Theme
from engine.api import resource


def button(
    words: str,
    parent: QWidget,
    act: Callable[..., object] | None = None,
    *,
    kind: str = "",
    name: str = "",
    by_tab: bool = False,
) -> QPushButton:
    """Create a button. `act` is called for each click. `kind`: its kind in the style sheet. `name`:
    for screen readers, if the words are not clear alone. `by_tab`: only Tab gives it the focus, so
    that the talk key still works after a click.
    """
    made = QPushButton(words, parent)
    if act is not None:
        made.clicked.connect(act)
    if kind:
        made.setProperty("kind", kind)
    if name:
        made.setAccessibleName(name)
    if by_tab:
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return made


_PIXEL_SIZES = (20, 30, 40, 60)  # 20 logical pixels at the pixel ratios 1, 1.5, 2 and 3


def icon(name: str, colour: QColor, *, disabled: QColor | None = None) -> QIcon:
    """Return the icon `name` in one colour, and in the colour of disabled widgets."""
    result = QIcon()
    for size in _PIXEL_SIZES:
        result.addPixmap(pixmap(name, colour, size))
        if disabled is not None:
            result.addPixmap(pixmap(name, disabled, size), QIcon.Mode.Disabled)
    return result


def pixmap(name: str, colour: QColor, side: int, ratio: float = 1.0) -> QPixmap:
    """Return an icon of `side` logical pixels square, from Qt's cache if possible."""
    size = round(side * ratio)
    key = f"{name} {colour.name()} {size}"
    image = QPixmap()
    if not QPixmapCache.find(key, image):
        image = QPixmap(size, size)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        paint_icon(painter, name, colour, QRectF(0, 0, size, size))
        painter.end()
        QPixmapCache.insert(key, image)
    image.setDevicePixelRatio(ratio)
    return image


def paint_icon(painter: QPainter, name: str, colour: QColor, target: QRectF) -> None:
    """Paint the icon as vectors into `target`."""
    source = _source(name).replace(b"currentColor", colour.name().encode())
    QSvgRenderer(QByteArray(source)).render(painter, target)


class IconButton(QToolButton):
    """A button with one icon. Screen readers and the tooltip use its name.

    Only Tab gives it the focus, so that the talk key still works after a click. `act` is called for
    each click.
    """

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
        """Open this menu at each press."""
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def show_as(self, name: str, label: str) -> None:
        """Change icon and name together."""
        self._icon_name = name
        self.setAccessibleName(label)
        self.setToolTip(label)
        self._tint()

    def _tint(self) -> None:
        colours = self._theme
        self.setIcon(
            icon(self._icon_name, colours.colour("text"), disabled=colours.colour("control"))
        )


@cache
def _source(name: str) -> bytes:
    return resource("icons", f"{name}.svg").read_bytes()


_ROOM = 4  # logical pixels that the label's own margins take


class ElidedBox(QComboBox):
    """A combo box that shortens its text in a narrow place, where Qt's own cuts a letter in half.
    It may be narrower than its longest text, which its tool tip shows in full.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.currentTextChanged.connect(lambda text: self.setToolTip(tool_tip(text)))

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, field.width() - _ROOM
        )
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


_TRACK = QSize(36, 20)


class Switch(QCheckBox):
    """A labelled on/off switch that looks like one; to Qt it is a check box."""

    def __init__(self, label: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(label, parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(self.font())
        gap = 10 if self.text() else 0
        width = _TRACK.width() + gap + metrics.horizontalAdvance(self._shown_text()) + 8
        return QSize(int(width), max(32, int(metrics.height()) + 8))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, position: QPoint) -> bool:
        """Accept a click anywhere on the widget, also on its label."""
        return self.rect().contains(position)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        top = (self.height() - _TRACK.height()) / 2
        track = QRectF(3, top, _TRACK.width(), _TRACK.height())
        radius = track.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("accent" if self.isChecked() else "control"))
        painter.drawRoundedRect(track, radius, radius)
        painter.setBrush(theme.colour("on_accent" if self.isChecked() else "window"))
        left = track.right() - radius * 2 + 3 if self.isChecked() else track.left() + 3
        painter.drawEllipse(QRectF(left, track.top() + 3, radius * 2 - 6, radius * 2 - 6))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("text"), 1.6))
            painter.drawRoundedRect(track.adjusted(-2, -2, 2, 2), radius + 2, radius + 2)
        painter.setPen(theme.colour("text"))
        painter.setFont(self.font())
        area = QRectF(track.right() + 9, 0, self.width() - track.right() - 9, self.height())
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self._shown_text())
        painter.end()

    def _shown_text(self) -> str:
        return self.text().replace("&", "")


QUIET_DB, LOUD_DB = -60.0, -6.0  # the ends of the bar, dB full scale
_FALL = 0.12  # of the bar, at most, for each level; about 10 levels come in a second
_STEPS = 1000  # of a progress bar


class LevelMeter(QProgressBar):
    """Shows at a glance that the microphone works. Rises at once and falls slowly, so that a single
    word is visible. Invariant: its accessible value is what it shows, in per cent of the scale.
    """

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = name
        self.fraction = 0.0
        self.setProperty("kind", "level")
        self.setTextVisible(False)
        self.show_level(QUIET_DB)

    def show_level(self, level_db: float) -> None:
        """Show a level in dB full scale."""
        share = (level_db - QUIET_DB) / (LOUD_DB - QUIET_DB)
        self.fraction = min(1.0, max(share, self.fraction - _FALL, 0.0))
        self.setAccessibleName(f"{self._name}: {self.fraction:.0%}")
        self.setValue(round(100 * self.fraction))


class ProgressBar(QProgressBar):
    """A thin line that shows the progress of an operation, or only that it runs. Without animations
    the line does not move back and forth; the text beside it says that the operation runs.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._motion = theme.motion
        self._share: float | None = 0.0  # None = the progress is not known
        self.setTextVisible(False)
        theme.motion.changed.connect(self._show)

    def show_share(self, share: float | None) -> None:
        """`share` is 0..1; None if it is not known."""
        self._share = share
        self._show()

    def _show(self) -> None:
        runs = self._share is None and not self._motion.is_still
        self.setRange(0, 0 if runs else _STEPS)
        self.setValue(round((self._share or 0.0) * _STEPS))
