"""The bar says how loud it is, to eyes and to screen readers."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget

from app.look.controls import LOUD_DB, QUIET_DB, LevelMeter
from app.look.theme import Theme


@pytest.fixture
def meter(qtbot, theme: Theme) -> Iterator[LevelMeter]:
    parent = QWidget()
    qtbot.addWidget(parent)
    yield LevelMeter("Microphone", theme, parent)
    parent.close()


@pytest.mark.parametrize(
    ("level_db", "fraction"),
    [(-120.0, 0.0), (QUIET_DB, 0.0), ((QUIET_DB + LOUD_DB) / 2, 0.5), (LOUD_DB, 1.0), (0.0, 1.0)],
)
def test_the_bar_is_as_long_as_it_is_loud(meter, level_db, fraction):
    meter.show_level(level_db)
    assert meter.fraction == pytest.approx(fraction)
    assert meter.accessibleName() == f"Microphone: {fraction:.0%}"
