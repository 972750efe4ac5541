"""From moving the slider to hearing it, while the formant voice speaks through a loudspeaker that
plays in real time but has no latency of its own.

    python -m tests.benchmarks.slider_to_ear [--moves 40] [--lead-ms 240]

Prints the milliseconds to the first frame made at the new rate (how soon a voice that reads the
rate at every frame is heard to follow) and to the first word that begins after it (what the formant
voice, which takes up a rate at the next word, needs). The target is 300 ms to the frame.
"""

import argparse
import random
import sys
import threading
import time
from dataclasses import dataclass, replace

import numpy as np

from engine.api import Engine, SendText, SetRate, Settings
from engine.audio.devices.file_device import FileLoudspeaker
from engine.messages import Event, RateMeasured, WordHeard
from engine.settings import AudioSettings, SpeechSettings
from engine.tts import registry
from tests.fakes import FakeLanguageModel, Stage

SLOW, FAST = 3.0, 6.0  # SPS
TARGET_MS = 300
LONGEST_S = 30.0  # loading included
SENTENCE = "We walk along the river and look at the boats, because they are under way again. "


@dataclass(frozen=True)
class Move:
    """Milliseconds from the slider to the ear."""

    frame: float
    word: float


class Listener:
    """Moves the slider and waits until that is heard."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._events: list[tuple[float, Event]] = []

    def receive(self, event: Event) -> None:
        with self._changed:
            self._events.append((time.monotonic(), event))
            self._changed.notify_all()

    def wait_for(self, kind: type[Event], since: float, rate: float | None = None) -> float:
        """When the first event of a kind (with this target) came after `since`."""

        def found() -> float | None:
            for at, event in self._events:
                fits = rate is None or (isinstance(event, RateMeasured) and event.target == rate)
                if at >= since and isinstance(event, kind) and fits:
                    return at
            return None

        with self._changed:
            if not self._changed.wait_for(lambda: found() is not None, LONGEST_S):
                raise SystemExit(f"No {kind.__name__} within {LONGEST_S:g} s.")
            at = found()
            self._events.clear()
        assert at is not None
        return at

    def move(self, engine: Engine, rate: float) -> Move:
        moved = time.monotonic()
        engine.post(SetRate(rate))
        framed = self.wait_for(RateMeasured, moved, rate)
        begun = self.wait_for(WordHeard, framed)
        return Move((framed - moved) * 1000, (begun - moved) * 1000)


def measure(moves: int, lead_ms: int) -> list[Move]:
    """Pull the slider to and fro at moments that are spread evenly over words and frames."""
    chance = random.Random(7)
    listener = Listener()
    stage = Stage(model=FakeLanguageModel(SENTENCE * (moves + 5)))
    parts = replace(
        stage.parts(),
        synthesiser=registry.load,
        loudspeaker=lambda name: FileLoudspeaker(None, 48_000),
    )
    settings = Settings(
        audio=AudioSettings(hands_free=False, lead_ms=lead_ms),
        speech=SpeechSettings(engine="espeak", rate=SLOW, pacing=False),
    )
    engine = Engine(settings, listener.receive, parts=parts)
    engine.start()
    try:
        engine.post(SendText("Go on."))
        listener.wait_for(WordHeard, 0.0)
        found = []
        for number in range(moves):
            time.sleep(chance.uniform(0.5, 1.0))
            found.append(listener.move(engine, SLOW if number % 2 else FAST))
        return found
    finally:
        engine.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description="From moving the slider to hearing it.")
    parser.add_argument("--moves", type=int, default=40)
    parser.add_argument("--lead-ms", type=int, default=AudioSettings().lead_ms)
    arguments = parser.parse_args()
    found = measure(arguments.moves, arguments.lead_ms)
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


if __name__ == "__main__":
    main()
