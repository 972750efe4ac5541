"""What pages share: colours, text from outside, meters, lists asked for again, dialogs."""

import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontDatabase, QGuiApplication, QTextCursor, QTextDocument
from PySide6.QtWidgets import QCheckBox, QWidget

from app.look.controls import LOUD_DB, QUIET_DB, LevelMeter, button, pixmap
from app.look.file_dialogs import prefer_the_systems
from app.look.layout import Scrolled, column, page_in
from app.look.page import Page
from app.look.plain_text import displayable, one_line, plain, tool_tip, units
from app.look.theme import FAMILY, Mode, load_fonts, palettes
from engine.api import resource
from engine.runtime.workers.ears.ears import LEVEL_S
from tests.help.window import ORDERS

TEXT_ON = {
    "window": "text muted accent",
    "surface": "text muted danger",
    "raised": "text muted danger",
    "bubble": "text muted",
    "danger_soft": "text muted danger",
    "accent_soft": "text",
    "accent": "on_accent",
    "listening": "on_listening",
}
SHAPES_ON = {
    "surface": "control accent listening thinking success",
    "window": "control",
    "raised": "accent",
}


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""

    def linear(share: float) -> float:
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    value = QColor(colour)
    red, green, blue = value.redF(), value.greenF(), value.blueF()
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


BOXES_ON = {"window": "outline bubble_outline", "surface": "outline", "bubble": "bubble_outline"}


@pytest.mark.parametrize(
    ("mode", "table", "least"),
    [
        *((mode, TEXT_ON, 4.5) for mode in ("dark", "light")),
        *((mode, SHAPES_ON, 3.0) for mode in ("dark", "light")),
        *((mode, TEXT_ON, 7.0) for mode in ("dark_contrast", "light_contrast")),
        *((mode, SHAPES_ON | BOXES_ON, 4.5) for mode in ("dark_contrast", "light_contrast")),
    ],
)
def test_text_and_shapes_that_mean_something_can_be_seen_on_their_ground(mode, table, least):
    colours = palettes()[mode]
    assert colours.keys() == palettes()["dark"].keys()
    pairs = [(ground, shown) for ground, all_of in table.items() for shown in all_of.split()]
    for ground, shown in pairs:
        low, high = sorted((luminance(colours[ground]), luminance(colours[shown])))
        assert (high + 0.05) / (low + 0.05) >= least, (shown, ground)


@pytest.mark.skipif(not hasattr(Qt, "ContrastPreference"), reason="Qt knows it from 6.10 on")
def test_high_contrast_follows_the_system(theme):
    system = QGuiApplication.styleHints().accessibility().contrastPreferenceChanged
    system.emit(Qt.ContrastPreference.HighContrast)
    assert theme.colour("window").name() == "#000000"
    assert theme.is_dark
    theme.choose(Mode.LIGHT)
    assert theme.colour("text").name() == "#000000"
    system.emit(Qt.ContrastPreference.NoPreference)
    assert theme.colours == palettes()["light"]


def test_a_box_to_tick_has_a_frame_that_can_be_seen(qtbot, theme):
    box = QCheckBox("I may")
    qtbot.addWidget(box)
    box.show()
    picture = box.grab().toImage()
    middle = picture.height() // 2
    row = {picture.pixelColor(x, middle).name() for x in range(picture.height())}
    assert theme.colour("control").name() in row


def test_the_shipped_font_is_used(qapp):
    fonts = list(resource("fonts").glob("*.otf"))
    assert sum(font.stat().st_size for font in fonts) <= 200_000
    assert "SIL OPEN FONT LICENSE" in resource("fonts", "OFL.txt").read_text()
    assert load_fonts().family() == FAMILY
    assert FAMILY in QFontDatabase.families()
    assert {"Regular", "SemiBold"} <= set(QFontDatabase.styles(FAMILY))


def test_every_icon_shows_something(qapp):
    for path in resource("icons").glob("*.svg"):
        image = pixmap(path.stem, QColor("#ff0000"), 24).toImage()
        seen = sum(image.pixelColor(x, y).alpha() > 100 for x in range(24) for y in range(24))
        assert seen > 8, path.stem


@pytest.mark.parametrize(
    ("level_db", "fraction"),
    [(-120.0, 0.0), (QUIET_DB, 0.0), ((QUIET_DB + LOUD_DB) / 2, 0.5), (LOUD_DB, 1.0), (0.0, 1.0)],
)
def test_the_bar_is_as_long_as_it_is_loud(qtbot, theme, level_db, fraction):
    parent = QWidget()
    qtbot.addWidget(parent)
    meter = LevelMeter("Microphone", parent)
    meter.show_level(level_db)
    assert meter.fraction == pytest.approx(fraction)
    assert meter.accessibleName() == f"Microphone: {fraction:.0%}"


def test_the_bar_falls_to_nothing_within_a_second(qtbot, theme):
    """As levels come: one every LEVEL_S."""
    parent = QWidget()
    qtbot.addWidget(parent)
    meter = LevelMeter("Microphone", parent)
    meter.show_level(LOUD_DB)
    fractions = []
    for _ in range(round(1 / LEVEL_S)):
        meter.show_level(QUIET_DB)
        fractions.append(meter.fraction)
    assert fractions[1] > 0.5
    assert fractions[-1] == 0.0


ANY = st.text(st.characters(codec=None), max_size=60)


@given(ANY)
def test_nothing_that_steers_is_left_every_character_keeps_its_place_and_a_name_takes_one_line(
    text,
):
    assert not ORDERS.search(plain(text))
    assert len(plain(text)) == len(text)
    assert plain(plain(text)) == plain(text)
    assert len(one_line(text).splitlines()) <= 1


@pytest.mark.parametrize(
    "text",
    ["two\nlines\tand a tab", "Grüße, 北京, 🙂", "שלום \u200f(world)\u200e", "<b>&amp;</b>", ""],
)
def test_text_of_every_language_is_left_as_it_is(text):
    assert plain(text) == text


def test_a_tool_tip_shows_markup_instead_of_obeying_it():
    assert tool_tip("<img src='x'>&lt;").count("<") == 2  # our own paragraph


@given(ANY)
@example("a\U0001f600b")
def test_displayable_text_stays_in_one_block_and_takes_the_units_counted(text):
    assert len(displayable(text)) == len(text)
    document = QTextDocument()
    QTextCursor(document).insertText(displayable(text))
    assert document.blockCount() == 1
    assert document.firstBlock().length() - 1 == units(displayable(text)) == units(text)
    assert units("a\U0001f600b") == 4


THEME = "QT_QPA_PLATFORMTHEME"


def desktop(folder: Path, offers: str) -> dict[str, str]:
    """The environment of a desktop whose part of the portal offers that."""
    portals = folder / "xdg-desktop-portal" / "portals"
    portals.mkdir(parents=True)
    (portals / "some.portal").write_text(f"[portal]\nInterfaces=org.{offers};\n", encoding="utf-8")
    return {"XDG_DATA_DIRS": f"/nowhere:{folder}", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt always has it")
@pytest.mark.parametrize(
    ("offers", "more", "chosen"),
    [
        ("FileChooser", {}, "xdgdesktopportal"),
        ("Secret", {}, None),
        ("FileChooser", {"DBUS_SESSION_BUS_ADDRESS": ""}, None),
        ("FileChooser", {"XDG_DATA_DIRS": "/nowhere"}, None),
        ("FileChooser", {THEME: "gtk3"}, "gtk3"),  # what the person chose stays
    ],
)
def test_a_desktop_with_a_bus_and_a_portal_for_files_is_asked(tmp_path, offers, more, chosen):
    environment = desktop(tmp_path, f"freedesktop.impl.portal.{offers}") | more
    prefer_the_systems(environment)
    assert environment.get(THEME) == chosen


def test_a_page_is_never_too_narrow_for_its_buttons(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    page = Page("Models", "What there is.", parent)
    buttons = [button("A long text on a button", page) for _ in range(3)]
    for each in buttons:
        page.foot.addWidget(each)
    page.show()
    page.resize(page.minimumSize())
    qtbot.waitUntil(lambda: page.width() == page.minimumWidth() > 400)
    assert [each for each in buttons if each.width() < each.minimumSizeHint().width()] == []


def test_a_list_scrolls_to_what_gets_the_focus_from_outside(qtbot, qapp):
    content = page_in()
    buttons = [button(str(number), content) for number in range(30)]
    column(*buttons, on=content)
    window = QWidget()
    qtbot.addWidget(window)
    column(Scrolled(content, window), on=window)
    window.resize(200, 200)
    with qtbot.waitExposed(window):
        window.show()
    qtbot.waitUntil(lambda: buttons[-1].y() > window.height())  # the layout has its place
    for each in (buttons[-1], buttons[0]):
        qapp.focusChanged.emit(None, each)  # as for Shift+Tab from below, or a letter with Alt
        assert not each.visibleRegion().isEmpty()
