"""The first start, step by step, as a person presses through it."""

from dataclasses import replace
from typing import Any

import pytest

from app.first_start.card import STEP_KEY, STEPS
from app.first_start.steps import EchoStep, LoudspeakerStep, MicrophoneStep, Step
from app.keys import Act
from app.window import Window
from engine import api
from engine.settings import Range, WindowSettings, schema
from tests.fakes_engine import LIBRARY

QUIET, LOUD = api.Levels(-60.0, -120.0, -60.0), api.Levels(-20.0, -120.0, -20.0)


@pytest.fixture
def settings() -> api.Settings:
    """Of a fresh installation."""
    return api.Settings()


def step(window: Window, kind: type[Step]) -> Any:
    return next(each for each in window.first_start.steps if isinstance(each, kind))


def steps_posted(posted: list[api.Command]) -> list[object]:
    return [c.value for c in posted if isinstance(c, api.ChangeSetting) and c.key == STEP_KEY]


def test_every_step_comes_in_its_turn_and_is_remembered(window, posted):
    card = window.first_start
    assert card.isVisible()
    assert schema()[STEP_KEY].rule == Range(0, len(card.steps))
    for at in range(len(card.steps)):
        assert card.at == at
        assert card.progress.text() == f"{at + 1} of {len(card.steps)}"
        card.next.click()
    assert steps_posted(posted) == [1, 2, 3, 4, 5]
    assert not card.isVisible()
    assert window.welcome.isVisible()


def test_one_may_go_back_leave_all_out_and_goes_on_after_a_kill(window, posted):
    card = window.first_start
    assert not card.back.isEnabled()
    card.next.click()
    card.back.click()
    card.leave.click()
    assert steps_posted(posted) == [1, 0, 5]
    assert window.welcome.isVisible()
    window.on_event(api.SettingChanged(STEP_KEY, 3))  # as at the start after a kill
    assert (card.at, card.isVisible()) == (3, True)


def test_a_typed_turn_takes_the_place_of_the_card_and_one_said_to_it_does_not(window):
    window.on_event(api.Heard(1, "can you hear me", 0.9, "sphinx"))
    assert window.first_start.isVisible()
    window.on_event(api.Heard(2, "what time is it", 1.0, "keyboard"))
    assert not window.first_start.isVisible()
    assert window.conversation.isVisible()
    window.post(api.NewConversation())
    assert window.first_start.isVisible()
    window.on_event(api.Heard(3, "can you hear me", 0.9, "sphinx"))
    window.first_start.leave.click()
    assert window.conversation.isVisible()


@pytest.mark.parametrize(
    "settings", [replace(api.Settings(), window=WindowSettings(first_start=STEPS))], ids=["over"]
)
def test_begun_later_it_knows_what_was_told_before(window):
    assert window.first_start.steps == []
    window.on_event(api.VoicesChanged(("Anna", "Bruno"), "Bruno"))
    window.on_event(api.DevicesChanged(("Desk", "Headset"), (), "", ""))
    window.on_event(api.SettingChanged("audio.microphone", "Headset"))
    window.on_event(api.SettingChanged(STEP_KEY, 0))
    assert window.first_start.isVisible()
    assert [each.text() for each in step(window, LoudspeakerStep).voices] == ["Anna", "Bruno"]
    (editor,) = step(window, MicrophoneStep).editors
    assert editor.control.currentText() == "Headset"


def test_a_voice_that_speaks_from_a_file_is_none_of_those_to_choose(window):
    window.on_event(api.VoicesChanged(("Anna", "Bruno"), "me.wav"))
    assert [each.text() for each in step(window, LoudspeakerStep).voices] == ["Anna", "Bruno"]


@pytest.mark.parametrize(
    "settings", [replace(api.Settings(), window=WindowSettings(first_start=STEPS))], ids=["over"]
)
def test_the_first_steps_once_more_leave_the_conversation_as_it_is(window, posted):
    window.on_event(api.Heard(1, "my secret", 1.0, "keyboard"))
    window._act(Act.FIRST_START)
    assert window.first_start.isVisible()
    assert not any(isinstance(each, api.NewConversation) for each in posted)
    window.first_start.leave.click()
    assert window.conversation.isVisible()
    assert window.conversation.transcript.exchanges[0].said == "my secret"


def test_a_voice_at_the_microphone_is_told(window):
    microphone = step(window, MicrophoneStep)
    window.on_event(QUIET)
    assert "not heard" in microphone.verdict.text()
    for _ in range(6):
        window.on_event(LOUD)
    assert microphone.verdict.text() == "I hear you."
    assert microphone.meter.fraction > 0.5


def test_a_more_natural_voice_is_fetched_and_used_with_one_click(window, posted):
    voice = step(window, LoudspeakerStep)
    assert voice.fetch.isHidden()
    for _ in range(2):
        window.on_event(api.VoicesChanged(("Anna",), "Anna"))
    assert posted.count(api.ListModels()) == 1
    window.on_event(LIBRARY[0])
    assert not voice.fetch.isHidden()
    assert voice.fetch.text() == "&Fetch a more natural voice: 107 MB"
    voice.fetch.click()
    assert api.FetchModels(("kokoro",), use=True) in posted
    window.on_event(api.ModelProgress("kokoro", api.Activity.FETCHING, 50_000_000, 107_000_000))
    assert voice.fetched.text() == "Fetching: 50 MB of 107 MB"
    assert not voice.fetch.isEnabled()
    window.on_event(api.ModelSettled("kokoro", "Its server could not be reached.", failed=True))
    assert voice.fetched.text() == "Its server could not be reached."
    assert voice.fetch.isEnabled()


@pytest.mark.parametrize("change", [{"state": api.Presence.COMPLETE}, {"fits": False}])
def test_a_more_natural_voice_is_offered_only_where_it_is_absent_and_fits(window, change):
    listed = LIBRARY[0]
    entries = tuple(replace(each, **change) for each in listed.entries)
    window.on_event(replace(listed, entries=entries))
    assert step(window, LoudspeakerStep).fetch.isHidden()


@pytest.mark.parametrize(
    ("quiet_before", "raw_db", "left_db", "advice"),
    [
        (True, -25.0, -58.0, "33 dB quieter than it was: just speak to interrupt."),
        (False, -25.0, -58.0, "33 dB quieter than it was: just speak to interrupt."),
        (True, -59.0, -61.0, "headset"),
        (True, -25.0, -25.0, "35 dB above the room"),
    ],
    ids=["taken out", "begun at once", "not heard", "it stays"],
)
def test_the_echo_is_measured_while_a_sentence_plays(
    window, posted, quiet_before, raw_db, left_db, advice
):
    """A sentence that comes at once is measured against the room before it."""
    echo = step(window, EchoStep)
    assert not echo.measure.isEnabled()
    window.on_event(api.VoicesChanged(("Anna",), "Anna"))
    plays = [api.Levels(left_db, -18.0, raw_db)] * 30 + [QUIET] * 20
    for level in [QUIET] * 20 if quiet_before else []:
        window.on_event(level)
    echo.measure.click()
    assert any(isinstance(command, api.PreviewVoice) for command in posted)
    assert not echo.measure.isEnabled()
    for level in plays if quiet_before else [QUIET] * 20 + plays:
        window.on_event(level)
    assert advice in echo.verdict.text()
    assert ("talk key" in echo.verdict.text()) is (raw_db == left_db)
    assert echo.measure.isEnabled()


def test_a_loudspeaker_that_stays_silent_is_told(window):
    echo = step(window, EchoStep)
    window.on_event(api.VoicesChanged(("Anna",), "Anna"))
    echo.measure.click()
    for _ in range(300):
        window.on_event(QUIET)
    assert echo.verdict.text() == "Nothing was heard. Try again."
