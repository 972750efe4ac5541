"""Who is told of a change of a setting, and what follows when one is said again."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from engine.audio.echo.canceller import Cleaning
from engine.messages.commands import ChangeSetting
from engine.messages.events import SettingChanged
from engine.runtime.host.preferences import Preferences
from engine.runtime.turn.orders import UseDevice
from engine.runtime.workers.voice.orders import SelectVoice
from engine.settings import (
    HistorySettings,
    LanguageModelSettings,
    RecogniserSettings,
    Settings,
    SpeechSettings,
    Value,
    WakeSettings,
)
from tests.engine.runtime.test_conductor import hosting
from tests.fakes import FakeParts


@pytest.mark.parametrize("rate", [5.0, 3.0, 99.0])  # another one, the same, and none at all
def test_a_change_that_says_its_origin_is_answered_with_it_whatever_came_of_it(rate: float) -> None:
    with hosting(FakeParts(), Settings(speech=SpeechSettings(rate=3.0))) as host:
        host.post(ChangeSetting("speech.rate", rate, origin=7))
        host.wait(lambda: bool(host.of(SettingChanged)))
        in_force = 5.0 if rate == 5.0 else 3.0
        assert host.of(SettingChanged) == [SettingChanged("speech.rate", in_force, origin=7)]


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
        ("speech.voice", "Ada", "speaker", SelectVoice("Ada")),
        ("speech.seed", 3, "speaker", SpeechSettings(seed=3)),
        ("history.keep", "never", "history_writer", HistorySettings("never")),
    ],
)
def test_a_change_is_told_to_whom_it_concerns_and_to_nobody_else(
    key: str, value: Value, worker: str, message: object
) -> None:
    told, _ = told_by(lambda preferences: preferences.change(key, value, now=0.0))
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
def test_what_is_read_when_it_is_used_is_told_to_nobody(
    key: str, value: Value, dials: dict[str, float]
) -> None:
    told, controls = told_by(lambda preferences: preferences.change(key, value, now=0.0))
    assert told == {}
    assert dials.items() <= vars(controls).items()


def test_at_the_start_everyone_is_told_his_part_once() -> None:
    told, _ = told_by(Preferences.load_all)
    assert {name: len(got) for name, got in told.items()} == {
        "ears": 4,  # microphone, cleaning, recogniser, wake phrase
        "language_model": 1,
        "speaker": 2,  # loudspeaker, synthesiser with its voice
        "history_writer": 1,
    }
