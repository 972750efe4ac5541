"""The view of the last turns' times."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.status.latency import Bars
from tests.app.test_window import CTRL, key, tell
from tests.fakes_engine import spoken_turn


@pytest.fixture
def view(window):
    tell(window, *spoken_turn(1, "a", "b"))
    return window.shelf.status.show_times()


def test_it_opens_by_key_and_by_the_line_under_the_parts(window):
    key(window, Qt.Key.Key_T, CTRL)
    first = window.shelf.status.show_times()
    assert first.isVisible()
    first.close()
    QTest.mouseClick(window.shelf.status.last_turn, Qt.MouseButton.LeftButton)
    assert first.isVisible()


def test_it_says_when_there_is_nothing_to_show(window):
    empty = window.shelf.status.show_times()
    assert empty.none_yet.isVisible()
    assert not empty.copy.isEnabled()


def test_it_follows_the_turns_while_it_is_open(window, view):
    assert [view.cell(row, 0) for row in range(6)] == ["120", "180", "190", "192", "240", "310"]
    before = view.bars.sizeHint().height()
    tell(window, *spoken_turn(2, "a", "b"))
    assert view.bars.sizeHint().height() == 2 * before
    assert view.bars.accessibleDescription() == "turn 2: 0.31 seconds; turn 1: 0.31 seconds"


def test_it_can_be_copied_as_text(view):
    view.copy.click()
    assert "first sound heard\t310\t310\t310" in QApplication.clipboard().text()


def test_a_bar_is_as_long_as_its_turn_took(window, view, theme):
    QApplication.processEvents()
    image = view.bars.grab().toImage()
    middle = image.height() // 2
    colours = [image.pixelColor(x, middle).name() for x in range(image.width())]
    accent, control = theme.colour("accent").name(), theme.colour("control").name()
    assert colours.count(control) == pytest.approx(colours.count(accent) * 120 / 70, rel=0.1)


def test_escape_closes_it_and_the_window_stays(window, view):
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert not view.isVisible()
    assert window.isVisible()


def test_everything_in_it_has_a_name_and_fits_a_small_screen(view):
    assert view.minimumSizeHint().width() <= 480
    assert view.minimumSizeHint().height() <= 640
    for widget in view.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            assert (widget.accessibleName() or getattr(widget, "text", str)()).strip(), widget
    assert view.findChild(Bars).accessibleName()
