"""A new setting is one line of the schema: form, check, routing and page of settings follow."""

from dataclasses import dataclass, field
from typing import Annotated

import pytest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QDoubleSpinBox, QLineEdit

from app.settings.dialog import SettingsDialog
from app.settings.form import PAGES
from app.window import Window
from engine.api import ChangeSetting, SettingChanged, Settings
from engine.errors import InvalidInput
from engine.settings import (
    Choice,
    Range,
    Reach,
    SpeechSettings,
    WindowSettings,
    change,
    load_key,
    schema,
    setting_of,
    value_of,
)
from engine.settings.page import page
from engine.settings.rules import Help, LoadedBy, Shown
from tests.app.settings.test_settings_dialog import control


@dataclass(frozen=True)
class MoreOfWindow(WindowSettings):
    zoom: Annotated[int, Range(50, 200, 10, " %"), Shown("Zoom"), Help("Of the text.")] = 100
    blur: Annotated[float, Range(0, 1, 0.25), Shown("Blur", advanced=True)] = 0.5
    haze: Annotated[float, Range(0, 1), Shown("Haze")] = 0.5
    glow: Annotated[bool, Shown("Glow")] = False
    motto: Annotated[str, Shown("Motto")] = ""


@dataclass(frozen=True)
class MoreOfSpeech(SpeechSettings):
    mouth: Annotated[
        str,
        LoadedBy(("espeak",)),
        Choice.of(wide="Wide open", shut="Nearly shut"),
        Shown("Mouth", only_with="espeak"),
    ] = "wide"


@dataclass(frozen=True)
class More(Settings):
    speech: Annotated[MoreOfSpeech, Reach.SYNTHESISER] = field(default_factory=MoreOfSpeech)
    window: MoreOfWindow = field(default_factory=MoreOfWindow)


@pytest.fixture
def dialog(qtbot, theme, posted) -> SettingsDialog:
    window = Window(More(), posted.append, theme)
    qtbot.addWidget(window)
    return window.open_settings(None)


def test_it_is_in_the_form_and_a_change_is_posted(dialog, posted):
    row = dialog.editors("window.zoom")[0].parent()
    assert (row.line.text(), row.editor.control.accessibleName()) == ("Of the text.", "Zoom")
    box = control(dialog, "window.zoom", QDoubleSpinBox)
    assert (box.value(), box.minimum(), box.maximum(), box.suffix()) == (100, 50, 200, " %")
    box.stepUp()
    assert posted == [ChangeSetting("window.zoom", 110)]
    dialog.on_event(SettingChanged("window.zoom", 60))
    assert box.value() == 60
    # Each type has its editor, and a fraction as many decimals as its step.
    assert control(dialog, "window.blur", QDoubleSpinBox).decimals() == 2
    assert control(dialog, "window.haze", QDoubleSpinBox).decimals() == 1
    assert control(dialog, "window.glow", QAbstractButton).isChecked() is False
    assert control(dialog, "window.motto", QLineEdit).text() == ""


def test_a_choice_shows_its_labels_and_only_with_its_engine(dialog):
    box = control(dialog, "speech.mouth", QComboBox)
    assert [box.itemText(each) for each in range(box.count())] == ["Wide open", "Nearly shut"]
    row = dialog.editors("speech.mouth")[0].parent()
    assert row.isHidden()
    dialog.on_event(SettingChanged("speech.engine", "espeak"))
    assert not row.isHidden()


def test_it_is_checked_by_its_rule():
    assert value_of(change(More(), "window.zoom", 150), "window.zoom") == 150
    with pytest.raises(InvalidInput, match=r"'window\.zoom' cannot be 300") as caught:
        change(More(), "window.zoom", 300)
    assert caught.value.hint == "Give a number from 50 to 200."
    with pytest.raises(InvalidInput, match=r"'speech\.mouth' cannot be 'round'") as caught:
        change(More(), "speech.mouth", "round")
    assert caught.value.hint == "Give one of 'wide', 'shut'."


def test_it_is_told_to_whom_its_section_belongs_and_loads_the_engine_that_has_it():
    assert setting_of(More(), "speech.mouth").reach is Reach.SYNTHESISER
    assert setting_of(More(), "window.zoom").reach is Reach.NOBODY
    for engine, loads in (("espeak", True), ("starter", False)):
        wide = MoreOfSpeech(engine=engine)
        shut = MoreOfSpeech(engine=engine, mouth="shut")
        assert (load_key(wide) != load_key(shut)) is loads


def test_it_is_in_the_page_of_settings_and_all_with_a_row_are_on_one_page_of_the_form():
    on_pages = [each.key for page in PAGES for each in page.fields()]
    with_rows = [each.key for each in schema().values() for _ in each.rows]
    assert sorted(on_pages) == sorted(with_rows)
    written = page(More).splitlines()
    assert "| `zoom` | **Zoom**. Of the text. | `100` | a number from 50 to 200 |  |" in written
    assert "| `mouth` | **Mouth**. | `\"wide\"` | one of 'wide', 'shut' | espeak |" in written


def test_without_a_rule_a_number_is_noticed():
    @dataclass(frozen=True)
    class Window(WindowSettings):
        size: int = 1

    @dataclass(frozen=True)
    class Unruled(Settings):
        window: Window = field(default_factory=Window)

    with pytest.raises(AssertionError, match=r"'window\.size' needs a Range"):
        schema(Unruled)
