"""Every page by keyboard, by a screen reader, and where things are to be still.

Tab reaches every control and leaves it again, one sees where it is, and each letter with Alt
chooses one thing; a control that is reached is compared with itself before: what marks it must be
more than a caret. A screen reader is told names, kinds and values, and what it is to say.
"""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6 import QtWidgets
from PySide6.QtCore import QAbstractAnimation, QRect, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtTest import QTest

from app import language as words
from app.language import LANGUAGES, tr
from app.look.controls import LevelMeter
from app.stage.orb import Orb
from app.stage.panel import RateTrace
from app.voice.clip import ClipSheet
from app.window import Window
from engine import api
from tests.app.everyone.pages import PAGES, seen, words_of
from tests.help.window import tell

MOST = 150  # controls on a page
MARKED = 80  # pixels that change; a caret is two by twenty or less
ROLES = QAccessible.Role
KINDS: tuple[tuple[type, tuple[ROLES, ...]], ...] = (
    (QtWidgets.QCheckBox, (ROLES.CheckBox,)),
    (
        QtWidgets.QAbstractButton,
        (ROLES.Button, ROLES.ButtonMenu, ROLES.CheckBox, ROLES.ButtonDropDown),
    ),
    (QtWidgets.QAbstractSpinBox, (ROLES.SpinBox,)),
    (QtWidgets.QComboBox, (ROLES.ComboBox,)),
    (QtWidgets.QAbstractSlider, (ROLES.Slider,)),
    (QtWidgets.QLineEdit, (ROLES.EditableText,)),
    (QtWidgets.QPlainTextEdit, (ROLES.EditableText,)),
    (QtWidgets.QTextEdit, (ROLES.EditableText,)),
    (QtWidgets.QAbstractItemView, (ROLES.List,)),
    (QtWidgets.QTabBar, (ROLES.PageTabList,)),
)
PAINTED = (LevelMeter, RateTrace, Orb)  # pictures, which have to be told in words
CONTROLS = tuple(kind for kind, _ in KINDS)
SECOND_MS = 1000  # what changes that seldom is a clock, no animation
BUSY = (
    api.Loading(api.Part.RECOGNISER, "Loading whisper", None),
    api.ModelProgress("whisper-turbo", api.Activity.VERIFYING, 0, 0),
    api.ModelProgress("qwen3-1-7b", api.Activity.FETCHING, 0, 0),
)


@pytest.fixture(autouse=True)
def listened_to() -> Iterator[None]:
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)  # or every window of every later test is told of as well


def resize(window: Window, *size: int) -> None:
    window.resize(*size)
    QtWidgets.QApplication.processEvents()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_reached_by_keys_told_in_full_and_stands_still_where_wanted(window, name):
    resize(window, 480, 640)
    root = PAGES[name](window)
    tab_comes_to_every_control_and_back_as_one_reads(in_front(root))
    resize(window, 1100, 780)
    tab_comes_to_every_control_and_back_as_one_reads(in_front(root))
    no_letter_chooses_two_things(root)
    every_control_has_a_name_of_its_own_and_its_kind(root)
    what_is_in_a_control_is_its_value(root)
    no_text_and_no_picture_is_left_out(root)
    tell(window, api.SettingChanged("window.motion", "reduced"), *BUSY)
    for phase in api.Phase:
        tell(window, api.PhaseChanged(5, phase))
        assert moving(root) == []


def controls(root: QtWidgets.QWidget) -> list[QtWidgets.QWidget]:
    """What a person can act on; parts of a control belong to it."""
    return [
        each
        for each in seen(root)
        if isinstance(each, CONTROLS)
        and each.isEnabled()
        and not isinstance(each, QtWidgets.QScrollBar)
        and not isinstance(each.parent(), CONTROLS)
        and each.objectName() != "qt_toolbar_ext_button"
    ]


def in_front(root: QtWidgets.QWidget) -> QtWidgets.QWidget:
    """The page, or the sheet of a dropped recording that lies on it and keeps the focus."""
    sheet = root.findChild(ClipSheet)
    return sheet if sheet is not None and sheet.isVisible() else root


def stop_of(control: QtWidgets.QWidget) -> QtWidgets.QWidget:
    return control.focusProxy() or control


def walk(root: QtWidgets.QWidget, key: Qt.Key) -> Iterator[QtWidgets.QWidget]:
    """Where the focus comes to, from nowhere, until it comes somewhere again."""
    root.activateWindow()
    root.setFocus()
    stops: list[QtWidgets.QWidget] = []
    for _ in range(MOST):
        QTest.keyClick(root.window().windowHandle(), key)
        at = QtWidgets.QApplication.focusWidget()
        assert at is not None, "the focus went nowhere"
        if at in stops or (at is root and stops == []):
            return
        if at is not root:
            stops.append(at)
            yield at
            at.setFocus(Qt.FocusReason.TabFocusReason)
    raise AssertionError(f"no end after {MOST}: {[words_of(each) for each in stops[-5:]]}")


def no_letter_chooses_two_things(root: QtWidgets.QWidget) -> None:
    """In any language: the page is English, and its texts are looked up."""
    buttons = [each for each in seen(root) if isinstance(each, QtWidgets.QAbstractButton)]
    texts = sorted({each.text() for each in buttons if "&" in each.text()})
    for code in LANGUAGES:
        words.choose(code)
        letters = [text[text.index("&") + 1].lower() for text in map(tr, texts)]
        words.choose("en")
        assert len(letters) == len(set(letters)), (code, texts, letters)


def tab_comes_to_every_control_and_back_as_one_reads(root: QtWidgets.QWidget) -> None:
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


def is_next(before: QtWidgets.QWidget, after: QtWidgets.QWidget) -> bool:
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


def marks(root: QtWidgets.QWidget, stop: QtWidgets.QWidget) -> int:
    """How many pixels in and around a control differ between with and without the focus."""
    corner = stop.mapTo(root, stop.rect().topLeft())
    area = QRect(corner, stop.size()).adjusted(-20, -20, 20, 20).intersected(root.rect())
    with_it = root.grab(area).toImage()
    stop.clearFocus()
    QtWidgets.QApplication.processEvents()
    without = root.grab(area).toImage()
    return sum(
        with_it.pixel(x, y) != without.pixel(x, y)
        for y in range(with_it.height())
        for x in range(with_it.width())
    )


def told_of(widget: QtWidgets.QWidget) -> QAccessibleInterface:
    found = QAccessible.queryAccessibleInterface(widget)
    assert found is not None, words_of(widget)
    return found


def text_of(interface: QAccessibleInterface) -> str:
    text = interface.textInterface()
    return text.text(0, text.characterCount())


def spoken_of(control: QtWidgets.QWidget) -> str:
    """Its name; of a list that opens that of its label, because there the name is the choice."""
    if not isinstance(control, QtWidgets.QComboBox):
        return name_of(control)
    labels = control.window().findChildren(QtWidgets.QLabel)
    return next((each.text() for each in labels if each.buddy() is control), "")


def name_of(widget: QtWidgets.QWidget) -> str:
    return told_of(widget).text(QAccessible.Text.Name)


def every_control_has_a_name_of_its_own_and_its_kind(root: QtWidgets.QWidget) -> None:
    names: dict[tuple[ROLES, str], QtWidgets.QWidget] = {}
    for control in controls(root):
        interface = told_of(control)
        roles = next(roles for kind, roles in KINDS if isinstance(control, kind))
        assert interface.role() in roles, (words_of(control), interface.role())
        spoken = spoken_of(control).replace("&", "")
        assert spoken.strip(), f"{words_of(control)} in {words_of(control.parentWidget())}"
        two = (interface.role(), spoken) in names and not isinstance(control, QtWidgets.QCheckBox)
        assert not two, f"two are called {spoken!r}"
        names[(interface.role(), spoken)] = control
        state = interface.state()
        assert state.focusable or control.focusProxy() is not None, words_of(control)


def what_is_in_a_control_is_its_value(root: QtWidgets.QWidget) -> None:
    for control in controls(root):
        interface = told_of(control)
        value = interface.text(QAccessible.Text.Value)
        match control:
            case QtWidgets.QLineEdit():
                assert value == control.text()
            case QtWidgets.QComboBox():
                assert value == control.currentText()
            case QtWidgets.QCheckBox():
                assert bool(interface.state().checked) is control.isChecked()
            case QtWidgets.QAbstractSlider():
                assert interface.valueInterface().currentValue() == control.value()
            case QtWidgets.QTextEdit() | QtWidgets.QPlainTextEdit():
                assert text_of(interface).split() == control.toPlainText().split()
            case _:
                pass


def no_text_and_no_picture_is_left_out(root: QtWidgets.QWidget) -> None:
    """A name given to a line of text must not hide what the line says."""
    for widget in seen(root):
        if isinstance(widget, QtWidgets.QLabel) and widget.text().replace("&", ""):
            assert widget.text().replace("&", "") in name_of(widget)
        elif isinstance(widget, PAINTED):
            assert name_of(widget)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a screen reader is asked to say."""
    told: list[str] = []

    def note(event: object) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            told.append(event.message())

    monkeypatch.setattr(QAccessible, "updateAccessibility", note)
    return told


def test_faults_and_notices_are_said_once_and_the_voice_is_not_talked_over(window, said):
    """Words are heard already; a screen reader that said them too would be a second voice."""
    tell(window, api.Failed("device", "No microphone.", "Plug one in."), api.Notice("Timer set."))
    assert said == ["No microphone. Plug one in.", "Timer set."]
    said.clear()
    tell(window, *(api.PhaseChanged(1, phase) for phase in api.Phase))
    PAGES["talk"](window)
    assert said == ["Timer set for ten minutes."]


def test_a_rate_chosen_with_the_keys_is_said_in_words(window, said):
    """The bare number of a slider would be tenths."""
    slider = window.stage.rate.slider
    slider.setFocus()
    slider.setValue(45)
    QtWidgets.QApplication.processEvents()
    assert said == ["4.5 syllables per second"]
    tell(window, api.RateMeasured(1, 4.5, 4.1))
    assert len(said) == 1


def test_what_the_assistant_does_is_in_the_name_of_its_line(window):
    tell(window, api.Ready(api.Part.MICROPHONE, "any"), api.PhaseChanged(1, api.Phase.LISTENING))
    assert "Listening" in name_of(window.stage.phase)
    assert QAccessible.queryAccessibleInterface(window.stage.orb).text(QAccessible.Text.Description)


def moving(root: QtWidgets.QWidget) -> list[str]:
    """What would change the picture again and again without anything having happened."""
    window = root if root.parent() is None else root.parent().window()
    timers = [each for each in window.findChildren(QTimer) if each.isActive()]
    fast = [each for each in timers if not each.isSingleShot() and each.interval() < SECOND_MS]
    running = QAbstractAnimation.State.Running
    animations = [e for e in window.findChildren(QAbstractAnimation) if e.state() == running]
    to_and_fro = [
        e for e in seen(root) if isinstance(e, QtWidgets.QProgressBar) and e.maximum() == 0
    ]
    return [repr(each.parent()) for each in (*fast, *animations)] + list(map(repr, to_and_fro))


@pytest.mark.parametrize("name", ["talk", "models"])
def test_what_moves_would_be_noticed(window, name):
    root = PAGES[name](window)
    tell(window, *BUSY, api.PhaseChanged(5, api.Phase.SPEAKING))
    assert moving(root)


def test_the_system_can_ask_for_it_too_and_whoever_asks_gets_it(window):
    tell(window, api.PhaseChanged(1, api.Phase.SPEAKING))
    for of_system, setting, is_still in (
        (False, "system", False),
        (True, "system", True),
        (False, "system", False),
        (False, "reduced", True),
        (True, "reduced", True),
    ):
        window.motion.follow_system(of_system)
        tell(window, api.SettingChanged("window.motion", setting))
        beat = window.stage.orb.findChild(QTimer)
        assert (window.motion.is_still, beat.isActive()) == (is_still, not is_still)
