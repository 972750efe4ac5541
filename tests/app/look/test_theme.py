"""Colours can be read, and follow the choice."""

import pytest
from PySide6.QtGui import QColor, QFontDatabase
from PySide6.QtWidgets import QCheckBox

from app.look.controls import pixmap
from app.look.theme import FAMILY, Mode, load_fonts, palettes
from engine.api import resource

BOTH = ["dark", "light"]
TEXT_ON = [
    (text, ground)
    for text in ("text", "muted")
    for ground in ("window", "surface", "raised", "bubble", "danger_soft")
] + [
    ("text", "accent_soft"),
    ("on_accent", "accent"),
    ("on_listening", "listening"),
    ("danger", "surface"),
    ("danger", "raised"),
    ("danger", "danger_soft"),
    ("accent", "window"),
]
SHAPES_ON = [
    ("control", "surface"),
    ("control", "window"),
    ("accent", "surface"),
    ("accent", "raised"),
    ("listening", "surface"),
    ("thinking", "surface"),
    ("success", "surface"),
]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""

    def linear(share: float) -> float:
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    value = QColor(colour)
    red, green, blue = value.redF(), value.greenF(), value.blueF()
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", [palettes()[each] for each in BOTH], ids=BOTH)
@pytest.mark.parametrize(
    ("shown", "ground", "least"),
    [(*each, 4.5) for each in TEXT_ON] + [(*each, 3.0) for each in SHAPES_ON],
)
def test_text_and_shapes_that_mean_something_can_be_seen_on_their_ground(
    colours, shown, ground, least
):
    assert contrast(colours[shown], colours[ground]) >= least


def test_the_theme_follows_the_choice_and_says_so(qtbot, theme):
    with qtbot.waitSignal(theme.changed):
        theme.choose(Mode.LIGHT)
    assert theme.colours is palettes()["light"]
    theme.choose(Mode.DARK)
    assert theme.colours is palettes()["dark"]


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


@pytest.mark.parametrize("path", sorted(resource("icons").glob("*.svg")), ids=lambda p: p.stem)
def test_every_icon_shows_something(qapp, path):
    image = pixmap(path.stem, QColor("#ff0000"), 24).toImage()
    seen = sum(image.pixelColor(x, y).alpha() > 100 for x in range(24) for y in range(24))
    assert seen > 8
