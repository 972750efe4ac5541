"""The voice area: a recording becomes a voice only with a name and the person's word."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from engine import api


def inspected(*, usable: bool = True) -> api.ClipInspected:
    return api.ClipInspected(Path("/a/my_aunt.wav"), 6.0, -20.0, -60.0, usable, "Good.")


@pytest.mark.parametrize("usable", [True, False])
def test_a_voice_is_offered_for_a_fit_recording(area, *, usable):
    area.on_event(inspected(usable=usable))
    assert area.sheet.consent.isVisible() is usable


@pytest.mark.parametrize(
    ("megabytes", "words"),
    [(107, "&Fetch Kokoro (107 MB) and learn this voice"), (0, "&Learn this voice")],
)
def test_a_recording_is_kept_and_the_model_for_it_fetched_by_one_button(
    area, posted, megabytes, words
):
    consent = area.sheet.consent
    area.on_event(replace(inspected(), resembles=True, needs=("kokoro", megabytes)))
    assert consent.adopt.text().startswith(words)
    assert (consent.hear.isVisible(), consent.words.isVisible()) == (False, True)
    consent.agreed.setChecked(True)
    consent.adopt.click()
    assert posted == [
        api.AddVoice(Path("/a/my_aunt.wav"), consent=True, name="my aunt"),
        api.LearnVoice("my aunt"),
        api.FetchModels(("kokoro",), use=True),
    ]


def test_nothing_is_sent_before_the_person_has_agreed_and_given_a_name(area, posted, qtbot):
    consent = area.sheet.consent
    area.on_event(inspected())
    consent.agreed.setChecked(True)
    area.on_event(inspected())  # another must be agreed to anew
    assert not consent.agreed.isChecked()
    assert consent.name.text() == "my aunt"
    assert not consent.adopt.isEnabled()
    qtbot.keyClick(consent.name, Qt.Key.Key_Return)
    assert posted == []
    consent.agreed.setChecked(True)
    consent.name.setText("   ")
    assert not consent.adopt.isEnabled()
    consent.name.setText("my aunt")
    qtbot.mouseClick(consent.adopt, Qt.MouseButton.LeftButton)
    assert posted == [api.AddVoice(Path("/a/my_aunt.wav"), consent=True, name="my aunt")]
    assert not area.sheet.isVisible()


def test_a_voice_that_only_resembles_can_be_heard_first_and_is_called_so(area, posted):
    consent = area.sheet.consent
    area.on_event(inspected())
    assert not consent.hear.isVisible()
    area.on_event(replace(inspected(), resembles=True))
    assert "Learn this voice" in consent.adopt.text()
    assert not consent.hear.isEnabled()
    consent.agreed.setChecked(True)
    consent.hear.click()
    assert posted == [api.PreviewVoice(str(Path("/a/my_aunt.wav").absolute()))]


def test_a_recording_can_be_left_at_any_time(area, posted, qtbot):
    sheet = area.sheet
    area.add_file(Path("/a/my_aunt.wav"))
    assert sheet.isVisible()
    qtbot.mouseClick(sheet.cancel, Qt.MouseButton.LeftButton)
    assert posted == [api.AddVoice(Path("/a/my_aunt.wav")), api.CancelClip()]
    assert not sheet.isVisible()


@pytest.mark.parametrize("key", [Qt.Key.Key_Tab, Qt.Key.Key_Backtab])
def test_tab_goes_round_in_the_sheet_and_escape_cancels_it_alone(window, posted, qtbot, key):
    window.composer.line.setFocus()
    QApplication.processEvents()
    window.on_event(inspected())
    sheet = window.side.voices.sheet
    qtbot.waitUntil(sheet.isActiveWindow)
    assert sheet.rect().contains(sheet.cancel.geometry())
    assert sheet.focusWidget() is sheet.consent.name
    seen = set()
    for _ in range(9):
        qtbot.keyClick(sheet.focusWidget(), key)
        seen.add(sheet.focusWidget())
    assert {sheet.consent.name, sheet.consent.agreed, sheet.cancel} <= seen
    qtbot.keyClick(sheet.focusWidget(), Qt.Key.Key_Escape)
    assert not sheet.isVisible()
    assert api.CancelClip() in posted
    assert not any(isinstance(each, api.StopReply) for each in posted)
    assert window.focusWidget() is window.composer.line


def test_the_voices_of_the_conversations_language_are_shown_and_chosen(area, posted):
    names, languages = ("Heart", "Dora", "Emma", "Alex"), ("en", "es", "en", "es")
    changed = api.VoicesChanged(names, "Dora", languages=languages)
    area.on_event(changed)
    assert area.names.currentText() == "Dora"
    assert [area.names.itemText(at) for at in range(area.names.count())] == ["Dora", "Alex"]
    area.names.activated.emit(1)
    assert posted == [api.ChangeSetting(api.SettingKey.VOICE, "Alex")]
    area.on_event(replace(changed, selected="Heart"))
    area.names.activated.emit(1)
    assert posted[1:] == [api.ChangeSetting(api.SettingKey.VOICE, "Emma")]
