"""The whole engine in a simulated room: it does not hear itself, and it can be interrupted.

The bounds are what the benchmark (tests/benchmarks/barge_in.py) finds easy: echo at and below the
person's level. There is more to say about louder rooms; it says it.
"""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from engine.audio.echo import canceller as echo
from engine.audio.echo.canceller import EchoCanceller
from engine.llm.skills.control import STEP
from engine.messages.commands import SendText
from engine.messages.events import Notice, SettingChanged, TurnEnded
from engine.runtime.host.actions import USUAL_SPS
from tests.end_to_end import spoken as flite
from tests.simulation import people
from tests.simulation.people import spoken
from tests.simulation.room import RATE, Acoustics
from tests.simulation.stepped import SteppedEngine
from tests.simulation.trials import REPLY, bench

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(flite.missing_programs()), reason="flite is not installed"),
]
needs_livekit = pytest.mark.skipif(not echo.installed(), reason="livekit is not installed")
ROOM = Acoustics(delay_ms=80, echo_db=-6, noise_db=15)


def has_ended(engine: SteppedEngine) -> bool:
    return any(isinstance(event, TurnEnded) for _, event in engine.events)


@needs_livekit
@pytest.mark.parametrize(
    "room",
    [
        pytest.param(Acoustics(delay_ms=20, echo_db=-12, noise_db=10), marks=pytest.mark.long),
        pytest.param(Acoustics(delay_ms=80, echo_db=0, noise_db=10), marks=pytest.mark.long),
        Acoustics(delay_ms=300, echo_db=6, noise_db=20, reverberation_s=0.4, drift_ppm=100),
    ],
    ids=["quiet", "even", "loud"],
)
def test_in_twenty_seconds_of_reply_it_never_answers_itself(room):
    with bench(room) as reply:
        reply.run(20)
        assert reply.interruptions() == []


@needs_livekit
@pytest.mark.parametrize(
    ("asks", "of_others"), [(1, 1), pytest.param(3, 2, marks=pytest.mark.long)]
)
def test_sentences_interrupt_and_nods_and_noises_do_not(asks, of_others):
    with bench(ROOM) as reply:
        asked = [reply.trial(sound) for sound in islice(people.interruptions(), 1, 1 + asks)]
        others = [*islice(people.nods(), of_others), *people.noises()[::10][:of_others]]
        nodded = [reply.trial(sound) for sound in others]
    assert [trial for trial in asked if trial.stop_s is None] == []
    assert [trial for trial in nodded if trial.stop_s is not None] == []
    assert np.median([trial.duck_s for trial in asked if trial.duck_s is not None]) < 0.3
    assert np.median([trial.silent_s for trial in asked if trial.silent_s is not None]) < 0.3
    assert np.median([trial.stop_s for trial in asked if trial.stop_s is not None]) < 1.1


@needs_livekit
def test_a_nod_makes_the_reply_quiet_for_a_moment_only():
    with bench(ROOM) as reply:
        trial = reply.trial(spoken("yeah", "awb"))
        assert trial.duck_s is not None
        assert reply.engine.gains[-1] == 1.0


@needs_livekit
@pytest.mark.parametrize(
    "wish", [pytest.param("slow down please", marks=pytest.mark.long), "speak slower please"]
)
def test_slower_said_into_a_reply_makes_that_reply_slower(wish):
    # What is in question is what follows from the words, so the room lets them be understood.
    with SteppedEngine(replace(ROOM, echo_db=-18, noise_db=25), REPLY) as engine:
        engine.post(SendText("go"))
        engine.run(6)
        engine.room.say(spoken(wish, "slt").pcm)
        engine.run(4)
        changed = [event for _, event in engine.events if isinstance(event, SettingChanged)]
        assert [event.key for event in changed] == ["speech.rate"]
        assert changed[0].value == pytest.approx(USUAL_SPS - STEP)
        assert not has_ended(engine)
        assert engine.gains[-1] == 1.0
        assert [history[-1].text for history in engine.model.histories] == ["go"]


def test_without_a_canceller_it_says_so_and_ignores_the_microphone_while_it_speaks():
    with SteppedEngine(ROOM, REPLY, canceller=lambda cleaning: EchoCanceller()) as engine:
        notices = [event.text for _, event in engine.events if isinstance(event, Notice)]
        assert len(notices) == 1
        assert "echo" in notices[0]
        engine.post(SendText("go"))
        engine.run(6)
        engine.room.say(spoken("what is the date today", "slt").pcm)
        engine.run(4)
        assert not has_ended(engine)
        assert min(engine.gains[-1000:]) == 1.0
        assert len(np.concatenate(engine.devices.heard)) == round(engine.now * RATE)
