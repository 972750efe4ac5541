"""Colours, fonts, the style sheet, and reduced motion. The colours are dark or light, also in high
contrast, and follow the system while the program runs.

Invariant: the colours are in resources/colours.toml. Painted widgets read `Theme.colours` when they
paint and repaint on `changed`.
"""

from collections.abc import Mapping
from enum import Enum
from string import Template

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from engine.api import resource, table

FAMILY = "Rubato Sans"
SMALLEST_POINTS = 10.0  # below this the muted lines are hard to read; the system's size if larger


class Mode(Enum):
    """The person's choice; the values are those of the setting window.theme."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


_SCHEMES = {
    Mode.SYSTEM: Qt.ColorScheme.Unknown,  # whichever the system has
    Mode.LIGHT: Qt.ColorScheme.Light,
    Mode.DARK: Qt.ColorScheme.Dark,
}


# Qt before 6.10 has none
_HIGH = Qt.ContrastPreference.HighContrast if hasattr(Qt, "ContrastPreference") else None

Colours = Mapping[str, str]  # a palette: each colour by its name, as #rrggbb


def palettes() -> Mapping[str, Colours]:
    """Dark and light, each also in high contrast, and the roles in Qt's."""
    return table("colours.toml")


class Motion(QObject):
    """The setting for animations in the window. Every animation asks `is_still` and listens to
    `changed`: if the person wants none, here or in the whole system, they stop at once.

    Signals:
        changed: animations were allowed or forbidden.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._is_reduced = False  # in our settings
        self._is_reduced_everywhere = False  # in the system's

    @property
    def is_still(self) -> bool:
        return self._is_reduced or self._is_reduced_everywhere

    def choose(self, mode: str) -> None:
        """Store the setting window.motion: 'reduced', or 'system' to follow the system."""
        self._is_reduced = mode == "reduced"
        self.changed.emit()

    def follow_system(self, wants_stillness: bool) -> None:
        """Store whether the system's setting asks for reduced motion."""
        self._is_reduced_everywhere = wants_stillness
        self.changed.emit()


class Theme(QObject):
    """The current palette.

    Signals:
        changed: the colours changed; repaint and colour icons again.
    """

    changed = Signal()

    def __init__(self, mode: Mode, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.mode = mode
        self.motion = Motion(self)
        self.colours = palettes()["light"]
        self.is_dark = self._has_contrast = False
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._on_system_changed)
        if hasattr(hints, "accessibility"):  # from Qt 6.10 on
            wishes = hints.accessibility()
            self._has_contrast = wishes.contrastPreference() is _HIGH
            wishes.contrastPreferenceChanged.connect(self._on_contrast_changed)
        self.choose(mode)

    def choose(self, mode: Mode) -> None:
        """Follow the system, or always be light or dark."""
        self.mode = mode
        # the native parts (title bar, file dialog) follow too
        QGuiApplication.styleHints().setColorScheme(_SCHEMES[mode])
        self._apply()

    def colour(self, name: str, alpha: float = 1.0) -> QColor:
        """A colour of the palette by its field name; `alpha` is 0..1."""
        value = QColor(self.colours[name])
        value.setAlphaF(alpha)
        return value

    def _on_system_changed(self) -> None:
        if self.mode is Mode.SYSTEM:
            self._apply()

    def _on_contrast_changed(self, wish: Qt.ContrastPreference) -> None:
        self._has_contrast = wish is _HIGH
        self._apply()

    def _apply(self) -> None:
        scheme = _SCHEMES[self.mode]
        if self.mode is Mode.SYSTEM:
            scheme = QGuiApplication.styleHints().colorScheme()
        self.is_dark = scheme is Qt.ColorScheme.Dark
        name = "dark" if self.is_dark else "light"
        self.colours = palettes()[f"{name}_contrast" if self._has_contrast else name]
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.setPalette(palette(self.colours))
            application.setStyleSheet(style_sheet(self.colours))
        self.changed.emit()


def mode_named(name: str) -> Mode:
    """Return the mode of a setting's value; for an unknown value, follow the system."""
    return next((mode for mode in Mode if mode.value == name), Mode.SYSTEM)


def palette(colours: Colours) -> QPalette:
    """Return the Qt palette, for everything that the style sheet does not cover."""
    result = QPalette()
    for place, name in palettes()["roles"].items():
        result.setColor(getattr(QPalette.ColorRole, place), QColor(colours[name]))
    disabled, roles = QPalette.ColorGroup.Disabled, QPalette.ColorRole
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        result.setColor(disabled, role, QColor(colours["muted"]))
    return result


def style_sheet(colours: Colours) -> str:
    """Return the application's style sheet in these colours."""
    text = resource("qss", "rubato.qss").read_text(encoding="utf-8")
    pictures = {"chevron": "combo-chevron.svg", "tick": "check.svg"}
    paths = {name: resource("icons", file).as_posix() for name, file in pictures.items()}
    return Template(text).substitute(colours, **paths)


def load_fonts() -> QFont:
    """Register the shipped font and return the application's font at the system's size."""
    for name in ("RubatoSans-Regular.otf", "RubatoSans-SemiBold.otf"):
        QFontDatabase.addApplicationFont(str(resource("fonts", name)))
    font = QFont(FAMILY)
    font.setPointSizeF(max(QGuiApplication.font().pointSizeF(), SMALLEST_POINTS))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def scaled(font: QFont, factor: float, *, strong: bool = False, figures: bool = False) -> QFont:
    """Return the font at `factor` times its size. `figures`: all digits are equally wide."""
    result = QFont(font)
    result.setPointSizeF(font.pointSizeF() * factor)
    if strong:
        result.setWeight(QFont.Weight.DemiBold)
    if figures:
        result.setFeature(QFont.Tag("tnum"), 1)
    return result
