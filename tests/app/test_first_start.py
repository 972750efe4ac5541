"""The first start, step by step, as a person presses through it."""

from dataclasses import replace
from typing import Any

import pytest

from app import language
from app.actions import act
from app.first_start import GLOBAL_KEYS, STEPS, MicrophoneStep, Step, TalkStep, VoiceStep
from app.keys import Shortcut
from app.window import Window
from engine import api
from engine.settings import Range, WindowSettings, schema
from tests.help.fakes.engine import LIBRARY, READY
from tests.help.window import tell

IS_OVER = pytest.mark.parametrize(
    "settings", [replace(api.Settings(), window=WindowSettings(first_start=STEPS))], ids=["over"]
)
QUIET, LOUD = api.Levels(-60.0, -120.0), api.Levels(-20.0, -120.0)


@pytest.fixture
def settings() -> api.Settings:
    """Of a fresh installation."""
    return api.Settings()


def step(window: Window, kind: type[Step]) -> Any:
    return next(each for each in window.first_start.steps if isinstance(each, kind))


def steps_posted(posted: list[api.Command]) -> list[object]:
    return [
        c.value
        for c in posted
        if isinstance(c, api.ChangeSetting) and c.key == api.SettingKey.FIRST_START
    ]


def test_every_step_comes_in_its_turn_and_is_remembered(window, posted):
    card = window.first_start
    assert card.isVisible()
    assert schema()[api.SettingKey.FIRST_START].rule == Range(0, 5)  # versions before had five
    assert len(card.steps) == STEPS
    for at in range(len(card.steps)):
        assert card.at == at
        assert card.progress.text() == f"{at + 1} of {len(card.steps)}"
        card.next.click()
    assert steps_posted(posted) == [1, 2, 3, 4]
    assert not card.isVisible()
    assert window.welcome.isVisible()


def test_one_may_go_back_leave_all_out_and_goes_on_after_a_kill(window, posted):
    card = window.first_start
    assert not card.back.isEnabled()
    card.next.click()
    card.back.click()
    card.leave.click()
    assert steps_posted(posted) == [1, 0, 4]
    assert window.welcome.isVisible()
    window.on_event(
        api.SettingChanged(api.SettingKey.FIRST_START, 3)
    )  # as at the start after a kill
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


@IS_OVER
def test_begun_later_it_knows_what_was_told_before(window):
    assert window.first_start.steps == []
    window.on_event(api.VoicesChanged(("Anna", "Bruno"), "Bruno"))
    window.on_event(api.DevicesChanged(("Desk", "Headset"), (), "", ""))
    window.on_event(api.SettingChanged("audio.microphone", "Headset"))
    window.on_event(api.SettingChanged(api.SettingKey.FIRST_START, 0))
    assert window.first_start.isVisible()
    assert list(step(window, VoiceStep).voices) == ["Anna", "Bruno"]
    (editor,) = step(window, MicrophoneStep).editors
    assert editor.control.currentText() == "Headset"


@IS_OVER
def test_the_first_steps_once_more_leave_the_conversation_as_it_is(window, posted):
    window.on_event(api.Heard(1, "my secret", 1.0, "keyboard"))
    act(window, Shortcut.FIRST_START)
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
    voice = step(window, VoiceStep)
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
    assert step(window, VoiceStep).fetch.isHidden()


def test_nothing_said_or_pressed_in_it_becomes_a_turn(window, posted):
    assert posted == [api.TryMicrophone(True)]
    window.on_event(api.Ready(api.Part.MICROPHONE, "Desk"))  # the engine has only now begun
    assert posted == [api.TryMicrophone(True)] * 2
    posted.clear()
    window.talk_key.pressed.emit()
    assert posted == []
    assert step(window, TalkStep).verdict.text() == "That works: hold it while you speak."
    window.talk_key.released.emit()  # a turn of before would end
    window.first_start.leave.click()
    assert api.TryMicrophone(False) in posted
    window.talk_key.pressed.emit()
    assert posted[-1] == api.PressTalk()
    window.on_event(api.Ready(api.Part.MICROPHONE, "Desk"))
    assert posted[-1] == api.PressTalk()


def test_a_key_for_every_program_is_one_click_and_another_is_offered_where_it_is_taken(
    window, posted
):
    talk = step(window, TalkStep)
    for key, other in ((GLOBAL_KEYS[0], GLOBAL_KEYS[1]), (GLOBAL_KEYS[1], GLOBAL_KEYS[2])):
        assert key in talk.everywhere.text()
        talk.everywhere.click()
        assert posted[-1] == api.ChangeSetting("presence.talk_key", key)
        assert talk.everywhere.isHidden()
        assert talk.verdict.text() == f"Press {key} now, here or in another program."
        window.on_event(api.Failed("global key", "It is taken.", "Choose another."))
        assert talk.verdict.text() == "It is taken. Choose another."
        assert not talk.everywhere.isHidden()
        assert other in talk.everywhere.text()
    talk.everywhere.click()
    window.post(api.PressTalk())
    window.first_start.key_felt_everywhere.emit()
    assert talk.verdict.text() == "That key works everywhere."


def test_the_key_that_the_desktop_gave_is_the_one_to_press(window, posted):
    talk = step(window, TalkStep)
    talk.everywhere.click()
    window.first_start.keys_given.emit("The desktop's keys: Super+T (Talk to Rubato while held)")
    assert talk.verdict.text() == (
        "The desktop's keys: Super+T (Talk to Rubato while held). "
        "Press it now, here or in another program."
    )
    assert "Ctrl" not in talk.verdict.text()
    window.first_start.key_felt_everywhere.emit()
    assert talk.verdict.text() == "That key works everywhere."


def test_the_chosen_voice_is_marked_and_its_button_stays(window, posted):
    voice = step(window, VoiceStep)
    window.on_event(api.VoicesChanged(("Anna", "Bruno"), "Bruno"))
    anna, bruno = voice.voices.values()
    assert (anna.isChecked(), bruno.isChecked()) == (False, True)
    assert (anna.icon().isNull(), bruno.icon().isNull()) == (True, False)
    anna.click()
    assert api.PreviewVoice("Anna") in posted  # the engine's sentence, in its language
    assert (anna.isChecked(), bruno.isChecked()) == (True, False)
    window.on_event(api.VoicesChanged(("Anna", "Bruno"), "Anna"))
    assert list(voice.voices.values()) == [anna, bruno]  # with the focus that they have
    assert anna.isChecked()


@pytest.mark.parametrize(
    ("languages", "selected", "offered"),
    [
        ("en en en es es", "Dora", ["Dora", "Alex"]),
        ("es en en en es", "me.wav", ["Bruno", "Clara", "Dora"]),
        ("", "me.wav", ["Anna", "Bruno", "Clara"]),
    ],
)
def test_the_voices_of_the_conversations_language_are_offered_and_none_from_a_file(
    window, languages, selected, offered
):
    voices, codes = ("Anna", "Bruno", "Clara", "Dora", "Alex"), tuple(languages.split())
    window.on_event(api.VoicesChanged(voices, selected, languages=codes))
    assert list(step(window, VoiceStep).voices) == offered


def test_the_orb_speaks_while_a_voice_is_tried(window):
    tell(window, *READY)
    for state, shown in ((api.PreviewState.SPEAKING, "Speaking"), (api.PreviewState.OVER, "Ready")):
        window.on_event(api.PreviewChanged("Anna", state))
        assert window.stage.phase.text() == shown


@pytest.mark.parametrize("size", [(1280, 900), (1000, 700), (640, 640)])
@pytest.mark.parametrize("code", language.LANGUAGES)
def test_no_step_scrolls(qtbot, theme, settings, code, size):
    language.choose(code)
    window = Window(settings, lambda _: None, theme)
    qtbot.addWidget(window)
    window.resize(*size)
    window.show()
    voices = api.VoicesChanged(("Anna", "Bruno", "Carla"), "Anna")
    tell(window, *READY, LIBRARY[0], voices)
    for at in range(STEPS):
        tell(window, api.SettingChanged(api.SettingKey.FIRST_START, at))
        area = window.first_start.steps[at].parentWidget().parentWidget().parentWidget()
        assert area.verticalScrollBar().maximum() == 0, at
