from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from engine.errors import InvalidInput
from engine.llm.base import (
    Action,
    ChangeRate,
    ChangeVolume,
    ChooseVoice,
    RememberName,
    Situation,
    StartTimer,
    StopSpeaking,
)
from engine.llm.skills.control.pace import STEP
from engine.messages.timers import CancelTimers
from engine.runtime.host.actions import Actions
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.timers import Timers


def port(change: Callable[[str, object], object], situation: Situation) -> ConductorPort:
    """One that changes settings, and knows the situation."""
    return SimpleNamespace(change=change, situation=lambda: situation)


def test_a_wish_about_the_pace_of_the_reply_is_granted_and_nothing_else() -> None:
    changed: dict[str, Any] = {}
    situation = Situation(4.0, 0.5, "Ada", ("Ada",))
    wishes = Actions(Timers(clock=lambda: 1.0), port(changed.__setitem__, situation))
    assert not wishes.grant_said("louder")
    assert changed == {}
    assert wishes.grant_said("Slow down, please.")
    assert changed == {"speech.rate": pytest.approx(4.0 - STEP)}


def test_what_a_turn_asked_for_is_undone_when_it_turns_out_not_to_be_over() -> None:
    changed: list[tuple[str, object]] = []
    alarm = Timers(clock=lambda: 1.0)
    alarm.start(StartTimer(60.0, "eggs", "Eggs."))
    situation = Situation(4.0, 0.5, "Ada", ("Ada", "Bela"))
    wishes = Actions(alarm, port(lambda key, value: changed.append((key, value)), situation))
    wishes.grant(ChangeRate(by=-1.0), turn=1)
    wishes.grant(StartTimer(9.0, "tea", "Tea."), turn=1)
    wishes.undo(2)
    assert len(alarm.timers) == 2
    wishes.undo(1)
    wishes.undo(1)
    assert changed == [("speech.rate", 3.0), ("speech.rate", 4.0)]
    assert [timer.label for timer in alarm.running()] == ["eggs"]


def changes(action: Action, *, rate: float | None = 4.0, volume: float = 0.5) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    situation = Situation(rate, volume, "Ada", ("Ada", "Bela"))
    Actions(Timers(clock=lambda: 1.0), port(changed.__setitem__, situation)).grant(action)
    return changed


@pytest.mark.parametrize(
    ("action", "rate", "expected"),
    [
        (ChangeRate(by=-1.0), 4.0, 3.0),
        (ChangeRate(by=-1.0), None, 3.0),
        (ChangeRate(by=5.0), 4.0, 7.0),
        (ChangeRate(to=0.2), 4.0, 1.0),
        (ChangeRate(), 4.0, None),
    ],
)
def test_the_rate_moves_within_the_slider(
    action: ChangeRate, rate: float | None, expected: float | None
) -> None:
    assert changes(action, rate=rate) == {"speech.rate": expected}


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (ChangeVolume(by=0.2), 0.7),
        (ChangeVolume(by=2.0), 1.0),
        (ChangeVolume(by=-2.0), 0.0),
        (ChangeVolume(to=0.0), 0.0),
    ],
)
def test_the_volume_moves_between_silent_and_full(action: ChangeVolume, expected: float) -> None:
    assert changes(action) == {"audio.volume": pytest.approx(expected)}


def test_a_voice_is_found_by_what_its_name_sounds_like() -> None:
    assert changes(ChooseVoice("bella")) == {"speech.voice": "Bela"}


def test_an_unknown_voice_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InvalidInput, match="Zarathustra") as refused:
        changes(ChooseVoice("Zarathustra"))
    assert "Ada, Bela" in refused.value.hint


def test_timers_start_and_are_cancelled() -> None:
    alarm = Timers(clock=lambda: 1.0)
    situation = Situation(None, 1.0, "Ada", ("Ada",))
    wishes = Actions(alarm, port(dict[str, Any]().__setitem__, situation))
    for action in (StartTimer(60.0, "tea", "Tea."), StartTimer(60.0, "egg", "Egg.")):
        wishes.grant(action)
    wishes.grant(CancelTimers((1,)))
    assert [timer.label for timer in alarm.running()] == ["egg"]


def test_a_name_is_kept_among_the_settings_and_forgotten() -> None:
    assert changes(RememberName("Martin")) == {"person.name": "Martin"}
    assert changes(RememberName("")) == {"person.name": ""}


def test_stop_changes_no_setting() -> None:
    assert changes(StopSpeaking()) == {}
