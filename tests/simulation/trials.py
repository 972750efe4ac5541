"""Trials of interrupting by voice: what a person or a noise does to a reply in a simulated room.

Invariant: a trial is judged by what the engine told and by the loudspeaker's gain alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from engine.asr.pick import BUILT_IN
from engine.messages.commands import SendText
from engine.messages.events import Heard, PhaseChanged, TurnEnded
from engine.messages.words import Ending, Phase
from engine.runtime.workers.ears.ears import HOLD_S
from engine.settings import Settings, SpeechSettings
from tests.simulation.people import Sound
from tests.simulation.room import RATE, Acoustics
from tests.simulation.stepped import SPEECH, STEP_S, SteppedEngine

REPLY = (
    "The river rises in the hills and runs slowly to the sea. In spring the meadows are under"
    " water for many weeks, and people go from house to house by boat. Later in the year the grass"
    " is cut and dried, and the cattle come down from the mountains. My grandmother kept bees"
    " behind the barn, and every autumn we carried jars of honey to the market in the town. "
) * 8
WARM_UP_S = 5.0  # of reply before the first trial: the canceller has learnt the room
RAMP_S = 0.02  # from asking for a gain until it is heard: one block and the ramp
APART_S = 3.5  # between trials, at least
HELD_S = HOLD_S + STEP_S  # no trace from before the onset keeps a reply quiet for so long
DUCKED = 0.5  # a gain below which the reply counts as quieter
SILENT = 0.01  # and as inaudible
PATIENCE_S = 4.0  # after which an interruption counts as missed
THINKING_S = 20.0  # after which the recogniser is not waited for


@dataclass(frozen=True)
class Trial:
    """Times are after the onset of the sound; None = it did not happen, 0 = it was so before, for
    another reason, and stayed so.

    `duck_s`: the reply is quieter; `silent_s`: it is inaudible; `stop_s`: it has ended for good.
    `pause_s` is how long it was inaudible, all told; 0 when it ended. `remembered`: whether the
    words kept of the reply are those that left the loudspeaker, at one of the places that sound as
    it ended; None where that is not known.
    """

    sound: str
    duck_s: float | None
    silent_s: float | None
    stop_s: float | None
    pause_s: float
    heard: str
    remembered: bool | None


class Bench:
    """A reply that never ends, and who speaks into it."""

    def __init__(self, engine: SteppedEngine) -> None:
        self.engine = engine
        self._rng = np.random.default_rng(3)

    @property
    def phases(self) -> list[tuple[float, Phase]]:
        """Since when it was in each."""
        return [(at, e.phase) for at, e in self.engine.events if isinstance(e, PhaseChanged)]

    @property
    def phase(self) -> Phase:
        return self.phases[-1][1] if self.phases else Phase.IDLE

    def speak_on(self) -> None:
        """Have the reply begin again when it is over."""
        if self.phase is Phase.IDLE:
            self.engine.post(SendText("go on"))

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            self.speak_on()
            self.engine.run(1.0)

    def interruptions(self) -> list[str]:
        """The replies stopped by a voice so far: when, and what was then heard of it."""
        told = [(at, event.text) for at, event in self.engine.events if isinstance(event, Heard)]
        return [
            f"{at:.1f} s: {next((text for later, text in told if later >= at), None)!r}"
            for at in self._stops(0.0)
        ]

    def trial(self, sound: Sound) -> Trial:
        engine = self.engine
        self._wait_speaking()
        engine.run(float(self._rng.uniform(1.0, 2.0)))
        self._wait_speaking()
        began = engine.room.say(sound.pcm) / RATE
        # The room's count and the engine's clock began together.
        onset = began + sound.onset / RATE
        stopped = engine.run_until(lambda: bool(self._stops(onset)), at_most=PATIENCE_S)
        remembered = self._remembered() if stopped else None
        if stopped:
            engine.run_until(lambda: self._understood(onset), at_most=THINKING_S)
        engine.run(APART_S)
        stops = self._stops(onset)
        hushed = np.asarray(engine.gains[round(onset / STEP_S) :]) < SILENT
        heard = [e.text for at, e in engine.events if isinstance(e, Heard) and at > onset]
        return Trial(
            sound.name,
            self._quiet_s(DUCKED, onset),
            self._quiet_s(SILENT, onset),
            stops[0] - onset + RAMP_S if stops else None,
            0.0 if stops else float(np.sum(hushed)) * STEP_S,
            heard[0] if heard else "",
            remembered,
        )

    def _remembered(self) -> bool | None:
        """Of the reply that just ended."""
        began = next(at for at, phase in reversed(self.phases) if phase is Phase.SPEAKING)
        ended = next(e for _, e in reversed(self.engine.events) if isinstance(e, TurnEnded))
        heard = self.engine.heard_words(began - 0.1)
        kept = len(ended.heard.split())
        return any(place.surely <= kept <= place.perhaps for place in heard) if heard else None

    def _understood(self, since: float) -> bool:
        """Whether the words of who interrupted are there, or will never be."""
        return any(
            isinstance(event, Heard)
            or (isinstance(event, TurnEnded) and event.ending is Ending.NOTHING_HEARD)
            for at, event in self.engine.events
            if at > since
        )

    def _wait_speaking(self) -> None:
        for _ in range(20):
            self.speak_on()
            if self.phase is Phase.SPEAKING and self.engine.gains[-1] >= 0.5:
                return
            self.engine.run(1.0)
        raise AssertionError("the reply did not begin")

    def _stops(self, since: float) -> list[float]:
        return [
            at
            for at, event in self.engine.events
            if isinstance(event, TurnEnded)
            and event.ending is Ending.INTERRUPTED_BY_SPEECH
            and at > since
        ]

    def _quiet_s(self, gain: float, onset: float) -> float | None:
        """How long after the onset the reply was below `gain`; as in Trial."""
        first = round(onset / STEP_S)
        if max(self.engine.gains[first - 1 : first + round(HELD_S / STEP_S)]) < gain:
            return 0.0
        falls = self.below(gain, onset)
        return falls[0] - onset + RAMP_S if falls else None

    def below(self, gain: float, since: float = 0.0) -> list[float]:
        """When the loudspeaker's gain fell below `gain`: DUCKED, or SILENT."""
        below = np.asarray(self.engine.gains) < gain
        starts = np.flatnonzero(below[1:] & ~below[:-1]) + 2
        return [float(start) * STEP_S for start in starts if start * STEP_S > since]


@contextmanager
def bench(
    acoustics: Acoustics, *, ears: str = BUILT_IN, voice: SpeechSettings = SPEECH
) -> Iterator[Bench]:
    """A warmed-up reply in a room, with a recogniser of that kind."""
    with SteppedEngine(acoustics, REPLY, Settings(speech=voice), ears=ears) as engine:
        bench = Bench(engine)
        bench.run(WARM_UP_S)
        yield bench
