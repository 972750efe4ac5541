"""The settings dialog shows and changes settings; a new one is one line of the schema."""

from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated

import pytest
from PySide6 import QtWidgets
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.settings.dialog import SettingsDialog
from app.settings.form import PAGES
from app.window import Window
from engine.api import ChangeSetting, Part, Ready, SettingChanged, Settings
from engine.settings import (
    AppliesTo,
    Choice,
    Range,
    SpeechSettings,
    WindowSettings,
    change,
    keys,
    schema,
)
from engine.settings.page import page
from engine.settings.rules import Help, LoadedBy, Shown
from tests.help.fakes.engine import READY
from tests.help.window import tell


@pytest.fixture
def dialog(window) -> SettingsDialog:
    made = window.open_settings(None)
    QtWidgets.QApplication.processEvents()
    return made


def control(dialog: SettingsDialog, key: str, kind: type):
    return next(each.control for each in dialog.editors(key) if isinstance(each.control, kind))


def test_every_field_is_a_setting_and_offers_only_what_is_allowed():
    for each in chain.from_iterable(group.fields() for group in PAGES):
        assert each.key in keys()
        if isinstance(each.rule, Choice):
            for word in each.rule.words:
                change(Settings(), each.key, word)
        if isinstance(each.rule, Range) and each.rule.offered is not None:
            assert each.rule.offered <= each.rule.highest


def test_it_shows_the_settings_in_force_and_posts_no_change_from_elsewhere(dialog, posted, window):
    assert control(dialog, "recogniser.engine", QtWidgets.QComboBox).currentData() == "auto"
    lead = control(dialog, "audio.lead_ms", QtWidgets.QDoubleSpinBox)
    assert lead.value() == 240
    prompt = control(dialog, "language_model.system_prompt", QtWidgets.QPlainTextEdit)
    assert prompt.toPlainText() == Settings().language_model.system_prompt
    window.on_event(SettingChanged("audio.lead_ms", 400))
    window.on_event(SettingChanged("audio.headset", True))
    assert lead.value() == 400
    assert posted == []


def test_choosing_an_engine_posts_it_and_shows_what_it_needs(dialog, posted):
    model = dialog.editors("recogniser.model")[0]
    dialog.show_part(Part.RECOGNISER)
    assert not model.isVisible()
    box = control(dialog, "recogniser.engine", QtWidgets.QComboBox)
    box.setCurrentIndex(2)
    box.activated.emit(2)
    assert posted == [ChangeSetting("recogniser.engine", "whisper")]
    assert model.isVisible()


@pytest.mark.parametrize(
    ("system", "named"), [("es_MX:en", "Español"), ("nb_NO", "Norsk bokmål"), ("xx", "Xx")]
)
def test_the_language_that_is_heard_is_chosen_by_its_own_name(
    system, named, window, posted, monkeypatch
):
    monkeypatch.setenv("LANGUAGE", system)
    box = control(window.open_settings(None), "recogniser.language", QtWidgets.QComboBox)
    assert box.currentText() == f"That of the system ({named})"
    labels = {box.itemData(at): box.itemText(at) for at in range(box.count())}
    assert (labels["fr"], labels["pt"], labels["jw"]) == ("Français", "Português", "Jawa")
    assert not {label for code, label in labels.items() if label.lower() == code}
    for code in labels:
        change(Settings(), "recogniser.language", code)
    box.activated.emit(box.findData("nl"))
    assert posted[-1] == ChangeSetting("recogniser.language", "nl")


@pytest.mark.parametrize(
    ("key", "part"), [("speech.engine", Part.SYNTHESISER), ("recogniser.engine", Part.RECOGNISER)]
)
def test_what_is_automatic_says_why_it_is_what_it_is(window, key, part):
    window.on_event(Ready(part, "it", why="It is quick."))
    dialog = window.open_settings(part)
    row = dialog.editors(key)[0].parent()
    assert row.line.text().endswith("\nIt is quick.")
    window.on_event(Ready(part, "it", why="It is quicker."))
    assert row.line.text().endswith("\nIt is quicker.")
    window.on_event(SettingChanged(key, "espeak" if part is Part.SYNTHESISER else "sphinx"))
    assert "quicker" not in row.line.text()


def test_text_is_posted_when_it_is_finished(dialog, posted, window):
    window.change("language_model.engine", "server")
    dialog.on_event(SettingChanged("language_model.engine", "server"))
    dialog.show_part(Part.LANGUAGE_MODEL)
    posted.clear()
    line = control(dialog, "language_model.address", QtWidgets.QLineEdit)
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "http://127.0.0.1:11434/v1")
    assert posted == []
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert posted == [ChangeSetting("language_model.address", "http://127.0.0.1:11434/v1")]


def test_the_talk_key_is_chosen_by_pressing_it_and_a_number_keeps_its_type(dialog, posted, window):
    QTest.keyClick(control(dialog, "window.talk_key", QtWidgets.QLineEdit), Qt.Key.Key_F9)
    assert posted == [ChangeSetting("window.talk_key", "F9")]
    assert window.talk_key.label == "F9"
    posted.clear()
    control(dialog, "audio.lead_ms", QtWidgets.QDoubleSpinBox).setValue(300)
    control(dialog, "language_model.temperature", QtWidgets.QDoubleSpinBox).setValue(0.5)
    assert posted == [
        ChangeSetting("audio.lead_ms", 300),
        ChangeSetting("language_model.temperature", 0.5),
    ]
    for command in posted:
        change(Settings(), command.key, command.value)


def test_a_half_typed_number_outlasts_what_is_told_meanwhile(dialog, posted, window):
    box = control(dialog, "audio.lead_ms", QtWidgets.QDoubleSpinBox)
    dialog.show_part(Part.MICROPHONE)
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "30")
    dialog.on_event(SettingChanged("audio.lead_ms", 180))
    for told in READY:
        dialog.on_event(told)
    QTest.keyClicks(box, "0")
    assert posted == []
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert posted == [ChangeSetting("audio.lead_ms", 300)]
    dialog.on_event(SettingChanged("audio.lead_ms", 200))
    assert box.value() == 200


def test_a_number_that_is_typed_again_after_it_was_changed_elsewhere_is_posted(dialog, posted):
    box = control(dialog, "audio.lead_ms", QtWidgets.QDoubleSpinBox)
    dialog.show_part(Part.MICROPHONE)
    before = round(box.value())
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, str(before))
    dialog.on_event(SettingChanged("audio.lead_ms", before + 60))
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert posted == [ChangeSetting("audio.lead_ms", before)]


def test_a_paragraph_that_nobody_changed_is_not_posted_over_a_newer_one(dialog, posted, window):
    box = control(dialog, "language_model.system_prompt", QtWidgets.QPlainTextEdit)
    dialog.show_part(Part.LANGUAGE_MODEL)
    box.setFocus()
    dialog.on_event(SettingChanged("language_model.system_prompt", "Be brief."))
    box.editingFinished.emit()
    assert posted == []
    assert box.toPlainText() == "Be brief."


def test_devices_that_appear_can_be_chosen_and_one_that_is_gone_is_still_shown(
    dialog, posted, window
):
    window.on_event(SettingChanged("audio.microphone", "Gone"))
    tell(window, *READY)
    box = control(dialog, "audio.microphone", QtWidgets.QComboBox)
    assert box.currentData() == "Gone"
    index = box.findText("USB headset")
    box.setCurrentIndex(index)
    box.activated.emit(index)
    assert posted == [ChangeSetting("audio.microphone", "USB headset")]


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
    speech: Annotated[MoreOfSpeech, AppliesTo.SYNTHESISER] = field(default_factory=MoreOfSpeech)
    window: MoreOfWindow = field(default_factory=MoreOfWindow)


@pytest.fixture
def form(qtbot, theme, posted) -> SettingsDialog:
    window = Window(More(), posted.append, theme)
    qtbot.addWidget(window)
    return window.open_settings(None)


def test_it_is_in_the_form_and_a_change_is_posted(form, posted):
    row = form.editors("window.zoom")[0].parent()
    assert (row.line.text(), row.editor.control.accessibleName()) == ("Of the text.", "Zoom")
    box = control(form, "window.zoom", QtWidgets.QDoubleSpinBox)
    assert (box.value(), box.minimum(), box.maximum(), box.suffix()) == (100, 50, 200, " %")
    box.stepUp()
    assert posted == [ChangeSetting("window.zoom", 110)]
    form.on_event(SettingChanged("window.zoom", 60))
    assert box.value() == 60
    # Each type has its editor, and a fraction as many decimals as its step.
    assert control(form, "window.blur", QtWidgets.QDoubleSpinBox).decimals() == 2
    assert control(form, "window.haze", QtWidgets.QDoubleSpinBox).decimals() == 1
    assert control(form, "window.glow", QtWidgets.QAbstractButton).isChecked() is False
    assert control(form, "window.motto", QtWidgets.QLineEdit).text() == ""


def test_a_choice_shows_its_labels_and_only_with_its_engine(form):
    box = control(form, "speech.mouth", QtWidgets.QComboBox)
    assert [box.itemText(each) for each in range(box.count())] == ["Wide open", "Nearly shut"]
    row = form.editors("speech.mouth")[0].parent()
    assert row.isHidden()
    form.on_event(SettingChanged("speech.engine", "espeak"))
    assert not row.isHidden()


def test_it_is_in_the_page_of_settings_and_all_with_a_row_are_on_one_page_of_the_form():
    on_pages = [each.key for page in PAGES for each in page.fields()]
    with_rows = [each.key for each in schema().values() for _ in each.rows]
    assert sorted(on_pages) == sorted(with_rows)
    written = page(More).splitlines()
    assert "| `zoom` | **Zoom**. Of the text. | `100` | a number from 50 to 200 |  |" in written
    assert "| `mouth` | **Mouth**. | `\"wide\"` | one of 'wide', 'shut' | espeak |" in written
