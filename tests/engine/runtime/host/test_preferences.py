"""What is set, wished for and known of the voice: who is told of it, and what is undone."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engine.audio.echo.canceller import Cleaning
from engine.errors import InvalidInput
from engine.llm import base as llm
from engine.messages.commands import ChangeSetting
from engine.messages.events import Notice, SettingChanged, UseWindow, VoicesChanged
from engine.messages.models import FetchModels
from engine.messages.timers import CancelTimers
from engine.messages.voices import Comparing, PreviewVoice, TryMicrophone
from engine.names_file import add, in_force
from engine.runtime.host.actions import Actions
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.preferences import Preferences
from engine.runtime.host.status import Status
from engine.runtime.host.timers import Timers
from engine.runtime.host.voice_preview import VoicePreview
from engine.runtime.turn.orders import UseDevice
from engine.runtime.workers.voice.orders import SelectVoice
from engine.settings import (
    AudioSettings,
    HistorySettings,
    LanguageModelSettings,
    RecogniserSettings,
    Settings,
    SpeechSettings,
    Value,
    WakeSettings,
    change,
)
from engine.text.names import Name
from tests.engine.runtime.test_conductor import hosting
from tests.help.fakes.parts import FakeParts


@pytest.mark.parametrize("rate", [5.0, 3.0, 99.0])  # another one, the same, and none at all
def test_a_change_that_says_its_origin_is_answered_with_it_whatever_came_of_it(rate):
    with hosting(FakeParts(), Settings(speech=SpeechSettings(rate=3.0))) as host:
        host.post(ChangeSetting("speech.rate", rate, origin=7))
        host.wait(lambda: bool(host.of(SettingChanged)))
        in_force = 5.0 if rate == 5.0 else 3.0
        assert host.of(SettingChanged) == [SettingChanged("speech.rate", in_force, origin=7)]


def test_the_rate_stays_within_the_range_that_is_open():
    with hosting(FakeParts(), Settings(speech=SpeechSettings(rate=3.0))) as host:
        for key, value in (("speech.rate", 12.0), ("speech.fast", True), ("speech.rate", 12.0)):
            host.post(ChangeSetting(key, value, origin=1))
        host.post(ChangeSetting("speech.fast", False, origin=1))
        host.wait(lambda: len(host.of(SettingChanged)) == 5)
        assert [(told.key, told.value) for told in host.of(SettingChanged)] == [
            ("speech.rate", 7.0),
            ("speech.fast", True),
            ("speech.rate", 12.0),
            ("speech.fast", False),
            ("speech.rate", 7.0),
        ]


WORKERS = ("ears", "language_model", "speaker", "history_writer")


def told_by(act: Callable[[Preferences], None]) -> tuple[dict[str, list[object]], SimpleNamespace]:
    """What every worker is told then, and the controls."""
    told: dict[str, list[object]] = {name: [] for name in WORKERS}
    inboxes = {name: SimpleNamespace(post=told[name].append) for name in WORKERS}
    workers = SimpleNamespace(**inboxes, controls=SimpleNamespace())
    act(Preferences(Settings(), None, workers, lambda event: None, lambda *given: None))
    return {name: got for name, got in told.items() if got}, workers.controls


@pytest.mark.parametrize(
    ("key", "value", "worker", "message"),
    [
        ("audio.microphone", "USB", "ears", UseDevice("USB")),
        ("audio.muted", True, "ears", UseDevice("", closed=True)),
        ("audio.loudspeaker", "USB", "speaker", UseDevice("USB")),
        ("audio.headset", True, "ears", Cleaning(False, False, False)),
        ("audio.hands_free", False, "ears", Cleaning(False, False, False)),
        ("audio.gain_control", True, "ears", Cleaning(True, False, True)),
        ("recogniser.patience", "quick", "ears", RecogniserSettings(patience="quick")),
        ("recogniser.language", "de", "ears", RecogniserSettings(language="de")),
        ("wake.on", True, "ears", WakeSettings(on=True)),
        ("wake.phrase", "good evening zaphod", "ears", WakeSettings(phrase="good evening zaphod")),
        ("wake.phrase", WakeSettings().phrase, "ears", WakeSettings()),  # it may have been taught
        ("language_model.model", "m", "language_model", LanguageModelSettings(model="m")),
        ("speech.voice", "Ada", "speaker", SelectVoice(SpeechSettings(voice="Ada"))),
        ("speech.seed", 3, "speaker", SpeechSettings(seed=3)),
        ("history.keep", "never", "history_writer", HistorySettings("never")),
    ],
)
def test_a_change_is_told_to_whom_it_concerns_and_to_nobody_else(key, value, worker, message):
    told, _ = told_by(lambda preferences: preferences.change(((key, value),), now=0.0))
    assert told == {worker: [message]}


@pytest.mark.parametrize(
    ("key", "value", "dials"),
    [
        ("speech.pacing", False, {}),
        ("window.motion", "reduced", {}),
        ("presence.tray", False, {}),
        ("person.name", "Ada", {}),
        ("speech.rate", 5.0, {"rate": 5.0}),  # read while sound is made
        ("audio.volume", 0.5, {"volume": 0.5}),
        ("audio.lead_ms", 80, {"lead_ms": 80}),
    ],
)
def test_what_is_read_when_it_is_used_is_told_to_nobody(key, value, dials):
    told, controls = told_by(lambda preferences: preferences.change(((key, value),), now=0.0))
    assert told == {}
    assert dials.items() <= vars(controls).items()


def port(
    change: Callable[[str, object], object],
    state: llm.AssistantState,
    settings: Settings = Settings(speech=SpeechSettings(rate=4.0)),  # noqa: B008 - frozen
) -> ConductorPort:
    """One that changes settings, knows the state, and notes what it emits and receives."""
    sent = SimpleNamespace(emitted=[], posted=[])
    return SimpleNamespace(
        change=change,
        state=lambda: state,
        settings=lambda: settings,
        sent=sent,
        emit=sent.emitted.append,
        receive=sent.posted.append,
    )


STATE = llm.AssistantState(4.0, 0.5, "Ada", ("Ada", "Bela"))


class Wishes(Actions):
    """Actions that note what they changed, emitted and posted."""

    def __init__(self, timers: Timers | None = None) -> None:
        self.changed: list[tuple[str, object]] = []
        there = port(lambda key, value: self.changed.append((key, value)), STATE)
        super().__init__(timers or Timers(), there)
        self.sent = there.sent


def test_what_a_turn_asked_for_is_undone_when_it_turns_out_not_to_be_over():
    alarm = Timers(clock=lambda: 1.0)
    alarm.start(llm.StartTimer(60.0, "eggs", "Eggs."))
    wishes = Wishes(alarm)
    wishes.apply(llm.ChangeRate(by=-1.0), turn=1)
    wishes.apply(llm.StartTimer(9.0, "tea", "Tea."), turn=1)
    wishes.undo(2)
    assert len(alarm.timers) == 2
    wishes.undo(1)
    wishes.undo(1)
    assert wishes.changed == [("speech.rate", 3.0), ("speech.rate", 4.0)]
    assert [timer.label for timer in alarm.running()] == ["eggs"]
    wishes.apply(CancelTimers((1,)))
    assert wishes.sent.posted == [CancelTimers((1,))]


def test_a_voice_that_was_wished_for_is_undone_to_the_setting_and_to_the_rate_before():
    """The voice that speaks by the setting 'automatic' is not one that somebody chose."""
    wishes = Wishes()
    wishes.apply(llm.ChooseVoice("bela"), turn=1)
    wishes.undo(1)
    undone = [("speech.voice", "Bela"), ("speech.voice", ""), ("speech.rate", 4.0)]
    assert wishes.changed == undone


def test_settings_models_and_the_window_are_asked_for_by_words():
    wishes = Wishes()
    asked = [UseWindow("export"), FetchModels(("kokoro",), use=True)]
    asked += [ChangeSetting("window.theme", "dark")]
    for action in asked:
        wishes.apply(action, turn=1)
    assert wishes.sent.posted == asked
    wishes.undo(1)
    assert wishes.changed == [("window.theme", "system")]


@pytest.mark.parametrize(
    ("said", "before", "note"),
    [
        ("normal speed", 4.0, "own pace"),
        ("slower", 4.0, "slower: 3.3"),
        ("faster", None, "faster: 4.7"),
        ("faster", 7.0, "as before: 7.0"),
        ("full volume", 4.0, "volume: 100 %"),
    ],
)
def test_a_wish_about_the_sound_leaves_a_note(said, before, note):
    values = {"speech.rate": before, "audio.volume": 0.5}
    there = port(values.__setitem__, llm.AssistantState(before, 0.5, "", ()))
    there.settings = lambda: Settings(
        audio=AudioSettings(volume=values["audio.volume"]),
        speech=SpeechSettings(rate=values["speech.rate"]),
    )
    assert Actions(Timers(), there).apply_spoken_wish(said)
    assert there.sent.emitted == [Notice(note)]


def test_a_name_told_in_a_private_conversation_is_known_there_and_not_saved():
    wishes = Wishes()
    wishes.begin(private=True)
    wishes.apply(llm.RememberName("Jo"), turn=1)
    assert (wishes.person, wishes.changed) == ("Jo", [])
    wishes.begin(private=False)
    assert wishes.person == ""
    wishes.apply(llm.RememberName("Jo"))
    assert wishes.changed == [("person.name", "Jo")]


@pytest.fixture
def own_names(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))


def test_a_sound_is_learnt_and_forgotten_and_undone_but_not_kept_of_a_private_talk(own_names):
    wishes = Wishes()
    wishes.apply(llm.LearnSound("Niamh", "neev"))
    assert in_force() == (Name("Niamh", "neev"),)
    wishes.apply(llm.LearnSound("Niamh", "nye"), turn=1)
    wishes.apply(llm.LearnSound("Xi", "shee"), turn=1)
    add([Name("Aoife", "EE-fuh")])  # in the window
    wishes.undo(1)
    assert set(in_force()) == {Name("Niamh", "neev"), Name("Aoife", "EE-fuh")}
    wishes.apply(llm.ForgetSound("Aoife"))
    wishes.apply(llm.ForgetSound("niamh"))
    assert in_force() == ()
    wishes.begin(private=True)
    with pytest.raises(InvalidInput, match="private"):
        wishes.apply(llm.LearnSound("Niamh", "neev"))
    assert in_force() == ()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_name_is_heard_as_it_would_be_said_if_it_was_saved(language, own_names):
    add([Name("Xi", "kai", language)])
    with hosting(FakeParts()) as host:
        host.post(PreviewVoice("", "Xi", said="shee", language=language))
        host.wait(lambda: any(session.words for session in host.parts.voice.sessions))
        assert [word for each in host.parts.voice.sessions for word in each.words] == ["shee"]


def test_the_persons_name_is_heard_from_then_on(own_names):
    state = llm.AssistantState(4.0, 0.5, "", ())
    settings = Settings()

    def save(key: str, value: Value) -> None:
        nonlocal settings
        settings = change(settings, key, value)

    there = port(save, state)
    there.settings = lambda: settings
    wishes = Actions(Timers(), there)
    wishes.apply(llm.RememberName("Saoirse"))
    assert in_force() == (Name("Saoirse"),)
    wishes.apply(llm.RememberName("Niamh"), turn=1)
    assert in_force() == (Name("Niamh"),)
    wishes.undo(1)
    assert in_force() == (Name("Saoirse"),)
    add([Name("Saoirse", "SEER-shuh")])
    wishes.apply(llm.RememberName(""))
    assert in_force() == (Name("Saoirse", "SEER-shuh"),)


def changes(action: llm.Action, rate: float | None = 4.0) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    state = llm.AssistantState(rate, 0.5, "Ada", ("Ada", "Bela"))
    Actions(Timers(clock=lambda: 1.0), port(changed.__setitem__, state)).apply(action)
    return changed


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (llm.ChangeRate(by=-1.0), {"speech.rate": 3.0}),
        (llm.ChangeRate(by=5.0), {"speech.rate": 7.0}),  # as far as the slider goes
        (llm.ChangeRate(to=0.2), {"speech.rate": 1.0}),
        (llm.ChangeRate(), {"speech.rate": None}),
        (llm.ChangeVolume(by=0.2), {"audio.volume": pytest.approx(0.7)}),
        (llm.ChangeVolume(by=2.0), {"audio.volume": 1.0}),
        (llm.ChangeVolume(by=-2.0), {"audio.volume": 0.0}),
        (llm.ChangeVolume(to=0.0), {"audio.volume": 0.0}),
        (llm.ChooseVoice("bella"), {"speech.voice": "Bela"}),  # by what the name sounds like
        (llm.RememberName("Martin"), {"person.name": "Martin"}),
        (llm.RememberName(""), {"person.name": ""}),
        (llm.StopSpeaking(), {}),
    ],
    ids=str,
)
def test_a_wish_changes_its_setting_within_bounds(action, expected):
    assert changes(action) == expected
    if action == llm.ChangeRate(by=-1.0):
        assert changes(action, rate=None) == expected  # from the usual pace


def test_an_unknown_voice_is_refused_with_the_names_there_are():
    with pytest.raises(InvalidInput, match="Zarathustra") as refused:
        changes(llm.ChooseVoice("Zarathustra"))
    assert "Ada, Bela" in refused.value.hint


def test_the_voice_before_is_the_last_one_of_another_name():
    status = Status()
    for selected in ("Anna", "Clara", "Clara"):
        status.on_voices(VoicesChanged(("Anna", "Bruno", "Clara"), selected))
    assert (status.voice, status.voice_before) == ("Clara", "Anna")


def test_the_skills_know_the_voices_that_speak_their_language():
    status = Status()
    names, languages = ("Anna", "Dora", "Clara"), ("en", "es", "en")
    for selected in ("Clara", "Dora", "Clara"):
        status.on_voices(
            VoicesChanged(names, selected, languages=languages, chosen=("Clara", "Dora"))
        )
    assert (status.voices, status.voice, status.voice_before) == (("Anna", "Clara"), "Clara", "")
    status.on_voices(VoicesChanged(names, "Dora", languages=languages, chosen=("Anna", "Dora")))
    assert (status.voice, status.voice_before, status.speaking) == ("Anna", "Clara", "Dora")


def never(*_: Any) -> Any:
    raise AssertionError("nobody asks for this")


def test_what_is_heard_during_a_comparison_or_a_test_was_not_said_to_the_assistant():
    heard: list[bool] = []
    port = ConductorPort(
        never,
        never,
        never,
        lambda: heard.append(preview.hearing),
        Settings,
        cast(Any, never),
        never,
    )
    preview = VoicePreview(cast(Any, None), Status(), port)
    for message in (
        *(Comparing(True), TryMicrophone(True), Comparing(False), TryMicrophone(False)),
        *(TryMicrophone(False), TryMicrophone(True), TryMicrophone(True), TryMicrophone(False)),
    ):
        preview.handle(message)
    assert heard == [True, True, True, False, False, True, True, False]
