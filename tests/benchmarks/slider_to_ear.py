"""From moving the slider to hearing it, while a synthesiser (the formant voice, if no other is
named) speaks through a loudspeaker that has no latency of its own.

    python -m tests.benchmarks.slider_to_ear [--engine kokoro] [--moves 40] [--lead-ms 240] [--wall]

Prints the milliseconds to the first sample made at the new rate (how soon a voice that reads the
rate at every frame is heard to follow) and to the first word made at it that begins (what the
formant voice, which takes up a rate at a word, needs), on the count of samples that were played.
The target is 300 ms to the word, half of the time. It runs on a clock that is stepped by hand, on
which computing costs its processor time, so that what else the machine does matters little; with
--wall in real time, with the engine's own threads, to see that the loudspeaker does not run dry.
"""

import argparse
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from engine.api import ChangeSetting, Engine, SendText, Settings
from engine.audio.devices.file_device import Clock, FileLoudspeaker
from engine.messages.events import Event, WordHeard
from engine.runtime.factories import Factories
from engine.settings import AudioSettings, SpeechSettings
from engine.translatable import Progress
from engine.tts import registry
from engine.tts.base import AudioFrame, Step, TtsModel, TtsSession
from tests.help.fakes.parts import FakeLanguageModel, FakeParts
from tests.help.fakes.stepped_clock import SteppedClock
from tests.simulation.stepped import STEP_S, SteppedWorker, stepping

SLOW, FAST = 3.0, 6.0  # SPS
TARGET_MS = 300
LONGEST_S = 30.0  # loading included
SENTENCE = "We walk along the river and look at the boats, because they are under way again. "
Wait = Callable[[Callable[[], object]], None]


@dataclass(frozen=True)
class Move:
    """Milliseconds from the slider to the ear."""

    frame: float
    word: float


class Watch:
    """What is made, and at which rate: `anew` is the sample from which on the sound has the newest
    one (None = it has not been taken up), `word` the one at which the first word behind it begins.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.changed = threading.Condition()
        self.rate: float | None = None
        self.anew: int | None = None
        self.word: int | None = None
        self.begun = False

    def has_reached(self, time_s: float) -> bool:
        return self.clock() >= time_s

    def receive(self, event: Event) -> None:
        with self.changed:
            self.begun |= isinstance(event, WordHeard)
            self.changed.notify_all()

    def tap(self, load: Callable[[SpeechSettings, Progress], TtsModel]) -> Callable[..., TtsModel]:
        """A synthesiser whose sound is noted."""

        def tapped(settings: SpeechSettings, progress: Progress) -> TtsModel:
            model = load(settings, progress)
            opened = model.open
            model.open = lambda voice, *, seed: self._note(opened(voice, seed=seed))  # type: ignore[method-assign]
            return model

        return tapped

    def _note(self, session: Any) -> TtsSession:
        make, take_back = session.step, session.rewind

        def rewind(sample: int) -> int | None:
            end: int | None = take_back(sample)
            if session.rate != self.rate or end is not None:
                self.rate, self.word = session.rate, None
                self.anew = session._made if end is None else end
            return end

        def step() -> Step:
            if session.rate != self.rate:
                self.rate, self.word = session.rate, None
                self.anew = session._made
            made: Step = make()
            if isinstance(made, AudioFrame) and self.word is None and self.anew is not None:
                behind = (each.sample for each in made.onsets if each.sample >= self.anew)
                self.word = next(behind, None)
            return made

        session.step, session.rewind = step, rewind
        return session  # type: ignore[no-any-return]


def factories(watch: Watch, loudspeaker: FileLoudspeaker, moves: int) -> Factories:
    parts = FakeParts(model=FakeLanguageModel(SENTENCE * (moves + 5)))
    return replace(
        parts.factories(),
        synthesiser=watch.tap(registry.load),
        loudspeaker=lambda name: loudspeaker,
    )


@contextmanager
def stepped() -> Iterator[tuple[Watch, Wait]]:
    """On a clock that is stepped by hand."""
    clock, workers = SteppedClock(), list[SteppedWorker]()

    def wait(condition: Callable[[], object]) -> None:
        for _ in range(round(LONGEST_S / STEP_S)):
            if condition():
                return
            clock.advance(STEP_S)
            for worker in (*workers, *workers):
                worker.run()
        raise SystemExit(f"Nothing came of it within {LONGEST_S:g} s.")

    with stepping(workers, clock):
        yield Watch(clock), wait


@contextmanager
def wall() -> Iterator[tuple[Watch, Wait]]:
    """In real time."""
    watch = Watch(time.monotonic)

    def wait(condition: Callable[[], object]) -> None:
        """Until an event or a time makes it true."""
        deadline = time.monotonic() + LONGEST_S
        with watch.changed:
            while not condition():
                watch.changed.wait(STEP_S)
                if time.monotonic() > deadline:
                    raise SystemExit(f"Nothing came of it within {LONGEST_S:g} s.")

    yield watch, wait


def measure(
    watch: Watch, wait: Wait, moves: int, lead_ms: int, name: str = "espeak"
) -> tuple[list[Move], int]:
    """Pull the slider to and fro at moments that are spread evenly over words and frames; also how
    often the loudspeaker ran dry.
    """
    chance = random.Random(7)
    loudspeaker = FileLoudspeaker(None, 48_000, clock=watch.clock)
    settings = Settings(
        audio=AudioSettings(hands_free=False, lead_ms=lead_ms),
        speech=SpeechSettings(engine=name, rate=SLOW, pacing=False),
    )
    engine = Engine(settings, watch.receive, factories=factories(watch, loudspeaker, moves))
    engine.start()
    try:
        engine.post(SendText("Go on."))
        wait(lambda: watch.begun)
        found = []
        for number in range(moves):
            pulled = watch.clock() + chance.uniform(0.5, 1.0)
            wait(partial(watch.has_reached, pulled))
            found.append(pull(engine, watch, wait, SLOW if number % 2 else FAST))
        return found, loudspeaker.underruns
    finally:
        engine.stop()


def pull(engine: Engine, watch: Watch, wait: Wait, rate: float) -> Move:
    utterance: Any = engine._conductor._workers.speaker._utterance
    moved, heard_at = watch.clock(), dict[str, float]()
    engine.post(ChangeSetting("speech.rate", rate))

    def heard() -> bool:
        """Whether both were; notes when."""
        position = utterance.playback.delivery().speech_ms * utterance.playback._model_rate / 1000
        for name, sample in (("frame", watch.anew), ("word", watch.word)):
            if watch.rate == rate and sample is not None and position >= sample:
                heard_at.setdefault(name, 1000 * (watch.clock() - moved))
        return len(heard_at) == len(fields(Move))

    wait(heard)
    return Move(**heard_at)


def main() -> None:
    parser = argparse.ArgumentParser(description="From moving the slider to hearing it.")
    parser.add_argument("--engine", default="espeak")
    parser.add_argument("--moves", type=int, default=40)
    parser.add_argument("--lead-ms", type=int, default=AudioSettings().lead_ms)
    parser.add_argument("--wall", action="store_true", help="in real time")
    given = parser.parse_args()
    with wall() if given.wall else stepped() as (watch, wait):
        found, underruns = measure(watch, wait, given.moves, given.lead_ms, given.engine)
    for name, times in (
        ("frame", [move.frame for move in found]),
        ("word", [move.word for move in found]),
    ):
        median, p95 = np.percentile(times, (50, 95))
        within = sum(each <= TARGET_MS for each in times)
        sys.stdout.write(
            f"slider to {name}: median {median:.0f} ms, p95 {p95:.0f} ms,"
            f" {within} of {len(times)} within {TARGET_MS} ms\n"
        )
    sys.stdout.write(f"the loudspeaker ran dry {underruns} times\n")


if __name__ == "__main__":
    main()
