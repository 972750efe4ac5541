"""The voice area: a recording becomes a voice only with a name and the person's word."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.look.theme import Theme
from app.voice.panel import VoiceArea
from engine.api import AddVoice, CancelClip, ClipInspected, Command


@pytest.fixture
def area(qtbot: QtBot, theme: Theme, posted: list[Command]) -> Iterator[VoiceArea]:
    parent = QWidget()
    qtbot.addWidget(parent)
    area = VoiceArea(posted.append, theme, parent)
    parent.show()
    area.show()
    yield area
    parent.deleteLater()  # until then the parent keeps the area alive


def inspected(*, usable: bool = True, can_clone: bool = True) -> ClipInspected:
    return ClipInspected(Path("/a/my_aunt.wav"), 6.0, -20.0, -60.0, usable, "Good.", can_clone)


@pytest.mark.parametrize(
    ("usable", "can_clone", "offered"),
    [(True, True, True), (False, True, False), (True, False, False)],
)
def test_a_voice_is_offered_for_a_fit_recording_and_a_voice_that_can_clone(
    area: VoiceArea, *, usable: bool, can_clone: bool, offered: bool
) -> None:
    area.on_event(inspected(usable=usable, can_clone=can_clone))
    assert area.consent.isVisible() is offered


def test_nothing_is_sent_before_the_person_has_agreed(
    area: VoiceArea, posted: list[Command], qtbot: QtBot
) -> None:
    area.on_event(inspected())
    assert area.consent.name.text() == "my aunt"
    assert not area.consent.adopt.isEnabled()
    qtbot.keyClick(area.consent.name, Qt.Key.Key_Return)
    assert posted == []
    area.consent.agreed.setChecked(True)
    qtbot.mouseClick(area.consent.adopt, Qt.MouseButton.LeftButton)
    assert posted == [AddVoice(Path("/a/my_aunt.wav"), consent=True, name="my aunt")]
    assert not area.consent.isVisible()


def test_another_recording_must_be_agreed_to_anew(area: VoiceArea) -> None:
    area.on_event(inspected())
    area.consent.agreed.setChecked(True)
    area.on_event(inspected())
    assert not area.consent.agreed.isChecked()


def test_looking_at_a_recording_can_be_cancelled(
    area: VoiceArea, posted: list[Command], qtbot: QtBot
) -> None:
    assert not area.target.cancel.isVisible()
    invitation = area.target.title.text()
    area.add_file(Path("/a/my_aunt.wav"))
    assert area.target.cancel.isVisible()
    qtbot.mouseClick(area.target.cancel, Qt.MouseButton.LeftButton)
    assert posted == [AddVoice(Path("/a/my_aunt.wav")), CancelClip()]
    assert not area.target.cancel.isVisible()
    assert area.target.title.text() == invitation


def test_what_was_found_out_ends_the_offer_to_cancel(area: VoiceArea) -> None:
    area.add_file(Path("/a/my_aunt.wav"))
    area.on_event(inspected())
    assert not area.target.cancel.isVisible()


def test_a_voice_needs_a_name(area: VoiceArea) -> None:
    area.on_event(inspected())
    area.consent.agreed.setChecked(True)
    area.consent.name.setText("   ")
    assert not area.consent.adopt.isEnabled()
