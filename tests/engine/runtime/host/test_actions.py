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
from engine.messages.timers import CancelTimers
from engine.runtime.host.actions import Actions
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.timers import Timers


def port(change: Callable[[str, object], object], situation: Situation) -> ConductorPort:
    """One that changes settings, and knows the situation."""
    return SimpleNamespace(change=change, situation=lambda: situation)


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
    wishes.grant(CancelTimers((1,)))
    assert alarm.running() == ()


def changes(action: Action, rate: float | None = 4.0) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    situation = Situation(rate, 0.5, "Ada", ("Ada", "Bela"))
    Actions(Timers(clock=lambda: 1.0), port(changed.__setitem__, situation)).grant(action)
    return changed


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (ChangeRate(by=-1.0), {"speech.rate": 3.0}),
        (ChangeRate(by=5.0), {"speech.rate": 7.0}),  # as far as the slider goes
        (ChangeRate(to=0.2), {"speech.rate": 1.0}),
        (ChangeRate(), {"speech.rate": None}),
        (ChangeVolume(by=0.2), {"audio.volume": pytest.approx(0.7)}),
        (ChangeVolume(by=2.0), {"audio.volume": 1.0}),
        (ChangeVolume(by=-2.0), {"audio.volume": 0.0}),
        (ChangeVolume(to=0.0), {"audio.volume": 0.0}),
        (ChooseVoice("bella"), {"speech.voice": "Bela"}),  # by what the name sounds like
        (RememberName("Martin"), {"person.name": "Martin"}),
        (RememberName(""), {"person.name": ""}),
        (StopSpeaking(), {}),
    ],
    ids=str,
)
def test_a_wish_changes_its_setting_within_bounds(action: Action, expected: dict[str, Any]) -> None:
    assert changes(action) == expected
    if action == ChangeRate(by=-1.0):
        assert changes(action, rate=None) == expected  # from the usual pace


def test_an_unknown_voice_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InvalidInput, match="Zarathustra") as refused:
        changes(ChooseVoice("Zarathustra"))
    assert "Ada, Bela" in refused.value.hint
