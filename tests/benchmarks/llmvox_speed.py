"""How soon and how quickly the published LLMVoX speaks, with random weights of full size.

    python -m tests.benchmarks.llmvox_speed [--device cuda] [--seconds 20] [--profiles full,int8]

Neither depends on the values of the weights. All text is there from the start, so sentences go to
both replicas. Seconds are those of the clock, and of all of the processor's threads: on a machine
that does other things only the latter say something, divided by the threads.
"""

import argparse
import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from itertools import cycle, islice

import torch

from engine.tts.base import AudioFrame, TtsSession
from engine.tts.llmvox.published.synthesiser import PRECISIONS, PublishedSynthesiser, load_random

TEXT = "It is a quarter past seven, and the sun will rise in ten minutes. Ten miles are long."
REPEATS = 5  # of the first packet


@dataclass(frozen=True)
class Speed:
    """`first_ms`: from the first word to the first samples, all text known; `rtf`: time over length
    of sound. Each by the clock, and by the processor's threads together.
    """

    first_ms: float
    first_cpu_ms: float
    rtf: float
    cpu_rtf: float


def measured(model: PublishedSynthesiser, seconds: float) -> Speed:
    """So many seconds of sound."""
    model.warm(model.voices()[0])
    firsts = [_spoken(_opened(model), 0.0) for _ in range(REPEATS)]
    whole = _spoken(_opened(model), seconds)
    return Speed(
        *(1000 * statistics.median(one[place] for one in firsts) for place in (0, 1)),
        whole[0] / whole[2],
        whole[1] / whole[2],
    )


def _opened(model: PublishedSynthesiser) -> TtsSession:
    session = model.open(model.voices()[0], seed=0)
    for word in islice(cycle(TEXT.split()), 2000):
        session.push_word(word)
    return session


def _spoken(session: TtsSession, seconds: float) -> tuple[float, float, float]:
    """Seconds of the clock, of the processor, and of the sound; one frame at least."""
    samples, began, busy = 0, time.perf_counter(), time.process_time()
    with session:
        while not samples or samples < seconds * 24_000:
            step = session.step()
            assert isinstance(step, AudioFrame)
            samples += len(step.pcm)
    return time.perf_counter() - began, time.process_time() - busy, samples / 24_000


def main() -> int:
    parser = argparse.ArgumentParser(description="speed of the published LLMVoX")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--profiles", default="full,int8", help="on the processor")
    options = parser.parse_args()
    profiles = options.profiles.split(",") if options.device == "cpu" else ["full"]
    for profile in profiles:
        device = torch.device(options.device)
        model = load_random(device=device, precision=PRECISIONS[profile])
        speed = measured(model, options.seconds)
        shown = {name: round(value, 3) for name, value in asdict(speed).items()}
        line = {"device": options.device, "profile": profile, "threads": torch.get_num_threads()}
        sys.stdout.write(json.dumps(line | shown) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
