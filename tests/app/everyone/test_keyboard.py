"""Every page by keyboard: Tab reaches every control and leaves it again, one sees where it is, and
each letter with Alt chooses one thing.

A control that is reached is compared with itself before: what marks it must be more than a caret.
"""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)

from app import language as words
from app.language import LANGUAGES, tr
from app.voice.sheet import ClipSheet
from app.window import Window
from tests.app.everyone.pages import PAGES, seen, words_of

CONTROLS = (QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox)
CONTROLS += (QLineEdit, QPlainTextEdit, QTabBar, QTextEdit)
MOST = 150  # controls on a page
SIZES = {"wide": (1100, 780), "narrow": (480, 640)}
MARKED = 80  # pixels that change; a caret is two by twenty or less


@pytest.fixture(params=[pytest.param("wide", marks=pytest.mark.long), "narrow"])
def sized(request: pytest.FixtureRequest, window: Window) -> Window:
    window.resize(*SIZES[request.param])
    QApplication.processEvents()
    return window


def controls(root: QWidget) -> list[QWidget]:
    """What a person can act on; parts of a control belong to it."""
    return [
        each
        for each in seen(root)
        if isinstance(each, CONTROLS)
        and each.isEnabled()
        and not isinstance(each, QScrollBar)
        and not isinstance(each.parent(), CONTROLS)
        and each.objectName() != "qt_toolbar_ext_button"
    ]


def in_front(root: QWidget) -> QWidget:
    """The page, or the sheet of a dropped recording that lies on it and keeps the focus."""
    sheet = root.findChild(ClipSheet)
    return sheet if sheet is not None and sheet.isVisible() else root


def stop_of(control: QWidget) -> QWidget:
    return control.focusProxy() or control


def walk(root: QWidget, key: Qt.Key) -> Iterator[QWidget]:
    """Where the focus comes to, from nowhere, until it comes somewhere again."""
    root.activateWindow()
    root.setFocus()
    stops: list[QWidget] = []
    for _ in range(MOST):
        QTest.keyClick(root.window().windowHandle(), key)
        at = QApplication.focusWidget()
        assert at is not None, "the focus went nowhere"
        if at in stops or (at is root and stops == []):
            return
        if at is not root:
            stops.append(at)
            yield at
            at.setFocus(Qt.FocusReason.TabFocusReason)
    raise AssertionError(f"no end after {MOST}: {[words_of(each) for each in stops[-5:]]}")


@pytest.mark.parametrize("name", PAGES)
def test_keys_come_to_every_control(sized, name):
    root = PAGES[name](sized)
    no_letter_chooses_two_things(root)
    tab_comes_to_every_control_and_back_as_one_reads(in_front(root))


def no_letter_chooses_two_things(root: QWidget) -> None:
    """In any language: the page is English, and its texts are looked up."""
    buttons = [each for each in seen(root) if isinstance(each, QAbstractButton)]
    texts = sorted({each.text() for each in buttons if "&" in each.text()})
    for code in LANGUAGES:
        words.choose(code)
        letters = [text[text.index("&") + 1].lower() for text in map(tr, texts)]
        words.choose("en")
        assert len(letters) == len(set(letters)), (code, texts, letters)


def tab_comes_to_every_control_and_back_as_one_reads(root: QWidget) -> None:
    wanted = {stop_of(each) for each in controls(root)}
    there, back = list(walk(root, Qt.Key.Key_Tab)), list(walk(root, Qt.Key.Key_Backtab))
    assert [words_of(each) for each in wanted if each not in there] == []
    assert there == back[::-1]
    leaps = [
        f"{words_of(after)} comes after {words_of(before)}"
        for before, after in pairwise(there)
        if before.parent() is after.parent() and not is_next(before, after)
    ]
    assert leaps == []


def is_next(before: QWidget, after: QWidget) -> bool:
    """Whether one reads one neighbour after the other: below, or at the right of it."""
    first, second = before.geometry(), after.geometry()
    is_beside = second.left() >= first.right() - 4 and second.bottom() > first.top()
    return is_beside or second.top() >= first.bottom() - 4


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_one_sees_where_the_focus_is(window, name):
    root = in_front(PAGES[name](window))
    faint = {}
    for stop in walk(root, Qt.Key.Key_Tab):
        assert not stop.visibleRegion().isEmpty(), f"{words_of(stop)} is out of sight"
        changed = marks(root, stop)
        if changed < MARKED:
            faint[words_of(stop)] = changed
    assert faint == {}


def marks(root: QWidget, stop: QWidget) -> int:
    """How many pixels in and around a control differ between with and without the focus."""
    corner = stop.mapTo(root, stop.rect().topLeft())
    area = QRect(corner, stop.size()).adjusted(-20, -20, 20, 20).intersected(root.rect())
    with_it = root.grab(area).toImage()
    stop.clearFocus()
    QApplication.processEvents()
    without = root.grab(area).toImage()
    return sum(
        with_it.pixel(x, y) != without.pixel(x, y)
        for y in range(with_it.height())
        for x in range(with_it.width())
    )
