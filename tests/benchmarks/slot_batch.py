"""How much speech VoXtream2 makes when several sessions share each step of the network, beside as
many sessions that are stepped in turn.

    python -m tests.benchmarks.slot_batch [--profile int8] [--sessions 1 2 4 8] [--frames 12]
                                          [--threads 2]

Full-size random weights (the arithmetic does not depend on the values), prompt of 5 s, guidance on,
each session with words, seed and rate of its own. Both ways take turns frame by frame, so that
what else the machine does meets both; figures are medians over the frames. Speed: seconds of speech
a second, all sessions together. CPU: milliseconds of all threads for a session's frame.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

FRAME_MS = 80
TEXT = (
    "The morning light came slowly over the hills and the small town began to wake while nobody "
    "on the shore remembered what the old captain had promised before the boat left the harbour"
)


@dataclass
class Times:
    """Milliseconds of the steps in which every session got a frame."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self, step: Callable[[], object]) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.cpu.append((time.process_time() - cpu) * 1000)


def measure(model: Any, count: int, frames: int) -> tuple[Times, Times]:
    """Steps of so many sessions in turn, and of as many in a batch."""
    in_turn, together = Times(), Times()
    batch = model.batch(count)
    with ExitStack() as stack:
        alone = [stack.enter_context(speaking(model, seed)) for seed in range(count)]
        beside = [stack.enter_context(speaking(batch, seed)) for seed in range(count)]
        for number in range(-3, frames):  # the first ones warm up
            runs = [
                (in_turn, lambda: [session.step() for session in alone]),
                (together, lambda: batch.step(beside)),
            ]
            for times, step in runs if number % 2 else reversed(runs):
                (times if number >= 0 else Times()).run(step)
    return in_turn, together


def speaking(opener: Any, seed: int) -> Any:
    """A session with all of its words."""
    from engine.tts.voxtream.config import VOXTREAM2_SHAPE
    from engine.tts.voxtream.synthesiser import random_voice

    session = opener.open(random_voice(VOXTREAM2_SHAPE, seed), seed=seed)
    session.rate = 3.0 + seed / 4
    words = TEXT.split()
    for word in words[seed:] + words:
        session.push_word(word)
    session.end_input()
    return session


def show(count: int, in_turn: Times, together: Times) -> None:
    median = statistics.median
    speech = count * FRAME_MS
    speeds = [speech / median(times.wall) for times in (in_turn, together)]
    cpus = [median(times.cpu) / count for times in (in_turn, together)]
    ratio = median(t / b for t, b in zip(in_turn.wall, together.wall, strict=True))
    sys.stdout.write(
        f"{count:2} sessions   in turn {speeds[0]:5.2f} x real time {cpus[0]:6.1f} ms CPU   "
        f"batch {speeds[1]:5.2f} x {cpus[1]:6.1f} ms   "
        f"{ratio:.2f} times as fast, {cpus[0] / cpus[1]:.2f} times less CPU\n"
    )
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default="int8")
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--frames", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    import torch

    from engine.tts.voxtream.config import PROFILES
    from engine.tts.voxtream.files.checkpoint import Target
    from engine.tts.voxtream.synthesiser import load_random

    torch.set_num_threads(options.threads if options.profile == "full" else 1)
    target = Target(torch.device("cpu"), torch.float32, options.threads)
    model = load_random(profile=PROFILES[options.profile], target=target)
    for count in options.sessions:
        show(count, *measure(model, count, options.frames))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
