"""Trials of interrupting by voice: what a person or a noise does to a reply in a simulated room.

Invariant: a trial is judged by what the engine told and by the loudspeaker's gain alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from engine.messages import Ending, Heard, Phase, PhaseChanged, SendText, TurnEnded
from tests.simulation.people import Sound
from tests.simulation.room import RATE, Acoustics
from tests.simulation.stepped import STEP_S, SteppedEngine

REPLY = (
    "The river rises in the hills and runs slowly to the sea. In spring the meadows are under"
    " water for many weeks, and people go from house to house by boat. Later in the year the grass"
    " is cut and dried, and the cattle come down from the mountains. My grandmother kept bees"
    " behind the barn, and every autumn we carried jars of honey to the market in the town. "
) * 8
WARM_UP_S = 5.0  # of reply before the first trial: the canceller has learnt the room
RAMP_S = 0.02  # from asking for a gain until it is heard: one block and the ramp
APART_S = 3.5  # between trials, at least
PATIENCE_S = 4.0  # after which an interruption counts as missed


@dataclass(frozen=True)
class Trial:
    """`duck_s` and `stop_s` after the onset of the sound; None = it did not happen."""

    sound: str
    duck_s: float | None
    stop_s: float | None
    heard: str


class Bench:
    """A reply that never ends, and who speaks into it."""

    def __init__(self, engine: SteppedEngine, seed: int = 3) -> None:
        self._engine = engine
        self._rng = np.random.default_rng(seed)

    def speak_on(self) -> None:
        """Have the reply begin again when it is over."""
        engine = self._engine
        phases = [event.phase for _, event in engine.events if isinstance(event, PhaseChanged)]
        if not phases or phases[-1] is Phase.IDLE:
            engine.post(SendText("go on"))

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            self.speak_on()
            self._engine.run(1.0)

    def interruptions(self) -> int:
        """How often a reply was stopped by a voice so far."""
        return len(self._stops(0.0))

    def ducks(self) -> int:
        """How often a reply was made quiet so far."""
        return len(self._ducks(0.0))

    @property
    def gain(self) -> float:
        """Of the loudspeaker, now."""
        return self._engine.gains[-1]

    def busy(self) -> dict[str, float]:
        """Share of one core by thread."""
        return self._engine.busy()

    def trial(self, sound: Sound) -> Trial:
        engine = self._engine
        self._wait_speaking()
        engine.run(float(self._rng.uniform(1.0, 2.0)))
        self._wait_speaking()
        began = engine.room.say(sound.pcm) / RATE
        # The room's count and the engine's clock began together.
        onset = began + sound.onset / RATE
        engine.run_until(lambda: bool(self._stops(onset)), at_most=PATIENCE_S)
        stops, ducks = self._stops(onset), self._ducks(onset)
        engine.run(APART_S)
        heard = [e.text for at, e in engine.events if isinstance(e, Heard) and at > onset]
        return Trial(
            sound.name,
            float(ducks[0] - onset + RAMP_S) if ducks else None,
            stops[0] - onset + RAMP_S if stops else None,
            heard[0] if heard else "",
        )

    def _wait_speaking(self) -> None:
        for _ in range(20):
            self.speak_on()
            phases = [e.phase for _, e in self._engine.events if isinstance(e, PhaseChanged)]
            quiet = self._engine.gains[-1] < 0.5
            if phases and phases[-1] is Phase.SPEAKING and not quiet:
                return
            self._engine.run(1.0)
        raise AssertionError("the reply did not begin")

    def _stops(self, since: float) -> list[float]:
        return [
            at
            for at, event in self._engine.events
            if isinstance(event, TurnEnded)
            and event.ending is Ending.INTERRUPTED_BY_SPEECH
            and at > since
        ]

    def _ducks(self, since: float) -> list[float]:
        gains = np.asarray(self._engine.gains) < 0.5
        starts = np.flatnonzero(gains[1:] & ~gains[:-1]) + 2
        return [start * STEP_S for start in starts if start * STEP_S > since]


@contextmanager
def bench(acoustics: Acoustics) -> Iterator[Bench]:
    """A warmed-up reply in a room."""
    with SteppedEngine(acoustics, REPLY) as engine:
        bench = Bench(engine)
        bench.run(WARM_UP_S)
        yield bench
