"""What a screen reader is told of every page: names, kinds, values, and what it is to say."""

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from app.look.controls import LevelMeter
from app.rate.panel import RateTrace
from app.stage.orb import Orb
from app.status.latency import Bars
from engine.api import Failed, Notice, Part, Phase, PhaseChanged, RateMeasured, Ready
from tests.app.everyone.pages import PAGES, seen, told, words_of
from tests.app.everyone.test_keyboard import controls

ROLES = QAccessible.Role
KINDS: tuple[tuple[type, tuple[ROLES, ...]], ...] = (
    (QCheckBox, (ROLES.CheckBox,)),
    (QAbstractButton, (ROLES.Button, ROLES.ButtonMenu, ROLES.CheckBox, ROLES.ButtonDropDown)),
    (QAbstractSpinBox, (ROLES.SpinBox,)),
    (QComboBox, (ROLES.ComboBox,)),
    (QAbstractSlider, (ROLES.Slider,)),
    (QLineEdit, (ROLES.EditableText,)),
    (QPlainTextEdit, (ROLES.EditableText,)),
    (QTextEdit, (ROLES.EditableText,)),
    (QAbstractItemView, (ROLES.List,)),
    (QTabBar, (ROLES.PageTabList,)),
)
PAINTED = (Bars, LevelMeter, RateTrace, Orb)  # pictures, which have to be told in words


@pytest.fixture(autouse=True)
def listened_to() -> Iterator[None]:
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)  # or every window of every later test is told of as well


def told_of(widget: QWidget) -> QAccessibleInterface:
    found = QAccessible.queryAccessibleInterface(widget)
    assert found is not None, words_of(widget)
    return found


def text_of(interface: QAccessibleInterface) -> str:
    text = interface.textInterface()
    return text.text(0, text.characterCount())


def spoken_of(control: QWidget) -> str:
    """Its name; of a list that opens that of its label, because there the name is the choice."""
    if not isinstance(control, QComboBox):
        return name_of(control)
    labels = control.window().findChildren(QLabel)
    return next((each.text() for each in labels if each.buddy() is control), "")


def name_of(widget: QWidget) -> str:
    return told_of(widget).text(QAccessible.Text.Name)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_told_in_full(window, name):
    root = PAGES[name](window)
    every_control_has_a_name_of_its_own_and_its_kind(root)
    what_is_in_a_control_is_its_value(root)
    no_text_and_no_picture_is_left_out(root)


def every_control_has_a_name_of_its_own_and_its_kind(root: QWidget) -> None:
    names: dict[tuple[ROLES, str], QWidget] = {}
    for control in controls(root):
        interface = told_of(control)
        roles = next(roles for kind, roles in KINDS if isinstance(control, kind))
        assert interface.role() in roles, (words_of(control), interface.role())
        spoken = spoken_of(control).replace("&", "")
        assert spoken.strip(), f"{words_of(control)} in {words_of(control.parentWidget())}"
        two = (interface.role(), spoken) in names and not isinstance(control, QCheckBox)
        assert not two, f"two are called {spoken!r}"
        names[(interface.role(), spoken)] = control
        state = interface.state()
        assert state.focusable or control.focusProxy() is not None, words_of(control)


def what_is_in_a_control_is_its_value(root: QWidget) -> None:
    for control in controls(root):
        interface = told_of(control)
        value = interface.text(QAccessible.Text.Value)
        match control:
            case QLineEdit():
                assert value == control.text()
            case QComboBox():
                assert value == control.currentText()
            case QCheckBox():
                assert bool(interface.state().checked) is control.isChecked()
            case QAbstractSlider():
                assert interface.valueInterface().currentValue() == control.value()
            case QTextEdit() | QPlainTextEdit():
                assert text_of(interface).split() == control.toPlainText().split()
            case _:
                pass


def no_text_and_no_picture_is_left_out(root: QWidget) -> None:
    """A name given to a line of text must not hide what the line says."""
    for widget in seen(root):
        if isinstance(widget, QLabel) and widget.text().replace("&", ""):
            assert widget.text().replace("&", "") in name_of(widget)
        elif isinstance(widget, PAINTED):
            assert name_of(widget)


# ------------------------------------------------------------------ what is said


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
    told(window, Failed("device", "No microphone.", "Plug one in."), Notice("Timer set."))
    assert said == ["No microphone. Plug one in.", "Timer set."]
    said.clear()
    told(window, *(PhaseChanged(1, phase) for phase in Phase))
    PAGES["talk"](window)
    assert said == ["Timer set for ten minutes."]


def test_a_rate_chosen_with_the_keys_is_said_in_words(window, said):
    """The bare number of a slider would be tenths."""
    slider = window.stage.rate.slider
    slider.setFocus()
    slider.setValue(45)
    QApplication.processEvents()
    assert said == ["4.5 syllables per second"]
    told(window, RateMeasured(1, 4.5, 4.1))
    assert len(said) == 1


def test_what_the_assistant_does_is_in_the_name_of_its_line(window):
    told(window, Ready(Part.MICROPHONE, "any"), PhaseChanged(1, Phase.LISTENING))
    assert "Listening" in name_of(window.stage.phase)
    assert QAccessible.queryAccessibleInterface(window.stage.orb).text(QAccessible.Text.Description)
