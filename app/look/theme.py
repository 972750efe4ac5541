"""Colours, fonts and the style sheet, dark and light, following the system while the program runs;
and whether anything may move.

Invariant: every text colour has a contrast of at least 4.5:1 on every ground it is used on
(tests/app/look/test_theme.py lists the pairs). Painted widgets read `Theme.colours` when they
paint and repaint on `changed`.
"""

from dataclasses import asdict, dataclass
from enum import Enum
from string import Template

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from engine.api import resource

FAMILY = "Rubato Sans"
SMALLEST_POINTS = 10.0  # below this the muted lines are hard to read; the system's size if larger


class Mode(Enum):
    """What the person chose; the values are those of the setting window.theme."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


_SCHEMES = {
    Mode.SYSTEM: Qt.ColorScheme.Unknown,  # whichever the system has
    Mode.LIGHT: Qt.ColorScheme.Light,
    Mode.DARK: Qt.ColorScheme.Dark,
}


@dataclass(frozen=True)
class Colours:
    """One palette; every value is #rrggbb."""

    window: str  # behind everything
    surface: str  # cards, assistant bubbles
    raised: str  # fields, buttons
    bubble: str  # the person's bubbles
    outline: str  # hairlines
    control: str  # borders of controls and unfilled tracks: 3:1 where it carries meaning
    text: str
    muted: str  # second lines, and words not heard yet
    accent: str  # speaking, selected, primary button
    on_accent: str
    accent_soft: str  # behind the word being heard
    listening: str
    on_listening: str
    thinking: str
    danger: str
    danger_soft: str
    success: str


DARK = Colours(
    window="#12141A",
    surface="#1B1E27",
    raised="#262B37",
    bubble="#2C3240",
    outline="#2E3442",
    control="#6B7488",
    text="#ECEEF3",
    muted="#A6ADBD",
    accent="#F2A66B",
    on_accent="#2A1606",
    accent_soft="#6A4223",
    listening="#55C9B5",
    on_listening="#06231E",
    thinking="#A99EF4",
    danger="#F59A91",
    danger_soft="#3A2327",
    success="#6CCB8E",
)

LIGHT = Colours(
    window="#F5F2ED",
    surface="#FFFFFF",
    raised="#F0ECE5",
    bubble="#EAE3D8",
    outline="#DED8CD",
    control="#8B857A",
    text="#23252B",
    muted="#5C606B",
    accent="#AD4E1A",
    on_accent="#FFFFFF",
    accent_soft="#FFD9B3",
    listening="#0F766E",
    on_listening="#FFFFFF",
    thinking="#5D4FC4",
    danger="#A8241C",
    danger_soft="#FBE6E3",
    success="#1E7A46",
)


class Motion(QObject):
    """Whether the window may show animations. Every animation asks `is_still` and listens to
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
        """`mode` as in the setting window.motion: 'reduced', or 'system' to follow the system."""
        self._is_reduced = mode == "reduced"
        self.changed.emit()

    def follow_system(self, wants_stillness: bool) -> None:
        """Note what the system wants now."""
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
        self.colours = LIGHT
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._on_system_changed)
        self.choose(mode)

    def choose(self, mode: Mode) -> None:
        """Follow the system, or always be light or dark."""
        self.mode = mode
        # the native parts (title bar, file dialog) follow too
        QGuiApplication.styleHints().setColorScheme(_SCHEMES[mode])
        self._apply()

    @property
    def is_dark(self) -> bool:
        return self.colours is DARK

    def colour(self, name: str, alpha: float = 1.0) -> QColor:
        """A colour of the palette by its field name; `alpha` is 0..1."""
        value = QColor(getattr(self.colours, name))
        value.setAlphaF(alpha)
        return value

    def _on_system_changed(self) -> None:
        if self.mode is Mode.SYSTEM:
            self._apply()

    def _apply(self) -> None:
        scheme = _SCHEMES[self.mode]
        if self.mode is Mode.SYSTEM:
            scheme = QGuiApplication.styleHints().colorScheme()
        self.colours = DARK if scheme is Qt.ColorScheme.Dark else LIGHT
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.setPalette(palette(self.colours))
            application.setStyleSheet(style_sheet(self.colours))
        self.changed.emit()


def mode_named(name: str) -> Mode:
    """The mode that a setting names; for an unknown name, follow the system."""
    return next((mode for mode in Mode if mode.value == name), Mode.SYSTEM)


def palette(colours: Colours) -> QPalette:
    """The Qt palette for everything the style sheet does not reach."""
    roles = QPalette.ColorRole
    values = {
        roles.Window: colours.window,
        roles.WindowText: colours.text,
        roles.Base: colours.surface,
        roles.AlternateBase: colours.raised,
        roles.Text: colours.text,
        roles.Button: colours.raised,
        roles.ButtonText: colours.text,
        roles.BrightText: colours.on_accent,
        roles.Highlight: colours.accent,
        roles.HighlightedText: colours.on_accent,
        roles.PlaceholderText: colours.muted,
        roles.ToolTipBase: colours.raised,
        roles.ToolTipText: colours.text,
        roles.Link: colours.accent,
    }
    result = QPalette()
    for role, value in values.items():
        result.setColor(role, QColor(value))
    disabled = QPalette.ColorGroup.Disabled
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        result.setColor(disabled, role, QColor(colours.muted))
    return result


def style_sheet(colours: Colours) -> str:
    """The application's style sheet in these colours."""
    text = resource("qss", "rubato.qss").read_text(encoding="utf-8")
    pictures = {"chevron": "combo-chevron.svg", "tick": "check.svg"}
    paths = {name: resource("icons", file).as_posix() for name, file in pictures.items()}
    return Template(text).substitute(asdict(colours), **paths)


def load_fonts() -> QFont:
    """Register the shipped font and return the application's font at the system's size."""
    for name in ("RubatoSans-Regular.otf", "RubatoSans-SemiBold.otf"):
        QFontDatabase.addApplicationFont(str(resource("fonts", name)))
    font = QFont(FAMILY)
    font.setPointSizeF(max(QGuiApplication.font().pointSizeF(), SMALLEST_POINTS))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def scaled(font: QFont, factor: float, *, strong: bool = False, figures: bool = False) -> QFont:
    """The same font at another size; `figures` makes all digits equally wide."""
    result = QFont(font)
    result.setPointSizeF(font.pointSizeF() * factor)
    if strong:
        result.setWeight(QFont.Weight.DemiBold)
    if figures:
        result.setFeature(QFont.Tag("tnum"), 1)
    return result
