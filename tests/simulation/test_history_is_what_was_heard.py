"""Whenever a reply is interrupted, the conversation keeps the words that left the loudspeaker."""

import random

import numpy as np
import pytest

from engine.audio.echo.canceller import EchoCanceller
from engine.messages.commands import ChangeSetting, Command, SendText, StopReply
from engine.messages.events import PhaseChanged, TurnEnded
from engine.messages.words import Ending, Phase
from tests.simulation.overheard import FADE_S, FAINT
from tests.simulation.room import Acoustics
from tests.simulation.stepped import STEP_S, FreeWorker, SteppedEngine
from tests.simulation.trials import REPLY

pytestmark = pytest.mark.slow
SHORT = REPLY[: len(REPLY) // 8]  # half a minute
TIMES = 12
SHORTEST_S, LONGEST_S = 0.2, 4.0  # of reply before it is interrupted; less is not recognised
WAYS: tuple[Command, ...] = (StopReply(), StopReply(by_escape=True), SendText("something else"))


@pytest.mark.parametrize("pulled", [False, True], ids=["slider still", "slider pulled"])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))]
)
def test_in_12_interruptions_at_random_times_what_is_kept_is_what_was_heard(seed, pulled):
    rng = random.Random(seed)
    # After a gap where the voice ran dry nobody could recognise what was played.
    with SteppedEngine(
        Acoustics(), SHORT, canceller=lambda cleaning: EchoCanceller(), kind=FreeWorker
    ) as engine:
        for number in range(TIMES):
            engine.post(SendText("go"))
            began = speaking(engine)
            for _ in range(rng.randint(1, 6) if pulled else 0):
                engine.post(ChangeSetting("speech.rate", rng.uniform(2.5, 7.0)))
                engine.run(rng.uniform(0.0, 0.5))
            engine.run(rng.uniform(SHORTEST_S, LONGEST_S))
            # A quick voice answers what was typed before it is seen that the last one fell silent.
            engine.post(rng.choice(WAYS[:2] if pulled else WAYS))
            engine.run(STEP_S + FADE_S)  # to receive it, and to fall silent
            heard = engine.heard_words(began)
            engine.step()  # before the next reply is heard
            assert np.max(np.abs(engine.devices.played[-1])) < FAINT, number
            ended = next(e for _, e in reversed(engine.events) if isinstance(e, TurnEnded))
            assert ended.ending is not Ending.COMPLETE
            assert SHORT.startswith(ended.heard)
            (place,) = heard
            assert place.surely <= len(ended.heard.split()) <= place.perhaps, number
            engine.post(StopReply())
            engine.run(0.3)


def speaking(engine: SteppedEngine) -> float:
    """Wait until a reply is heard; a moment before it was."""
    asked = engine.now

    def heard() -> bool:
        return any(
            at >= asked and isinstance(event, PhaseChanged) and event.phase is Phase.SPEAKING
            for at, event in engine.events[-20:]
        )

    assert engine.run_until(heard, at_most=5.0)
    return engine.now - 0.1
