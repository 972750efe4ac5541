"""How soon and how quickly the published LLMVoX speaks, with random weights of full size.

    python -m tests.benchmarks.llmvox_speed [--device cuda] [--seconds 20] [--profiles full,int8]
        [--reference PATH]

PATH is a checkout of mbzuai-oryx/LLMVoX, as for tests/parity/llmvox_parity.py; it is run as its
server runs it, without the queues: chunks of 10, 30, 90 ... tokens, decoded by themselves.

Neither depends on the values of the weights. All text is there from the start, so sentences go to
both replicas. Seconds are those of the clock, and of all of the processor's threads: on a machine
that does other things only the latter say something, divided by the threads.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path

import torch
from torch.nn import functional

from engine.tts.base import AudioFrame, TtsSession
from engine.tts.llmvox.published import paths
from engine.tts.llmvox.published.synthesiser import PublishedSynthesiser
from tests.engine.tts.llmvox.published.checkpoints import FULL, pickles
from tests.engine.tts.llmvox.published.small_model import of_full_size
from tests.parity.llmvox_parity import their_codebook, their_codec, their_network

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
    return _speed(firsts, _spoken(_opened(model), seconds))


def their_speed(root: Path, device: str, seconds: float) -> Speed:
    """The same of the public code."""
    sys.path[:0] = [str(root), str(root / "WavTokenizer")]
    content = pickles(FULL)
    network = their_network(FULL, content[paths.NETWORK]).to(device)
    tensors = content[paths.CODEC]["state_dict"]
    decode, book = their_codec(FULL, tensors, device), their_codebook(tensors).to(device)

    @torch.inference_mode()
    def samples() -> Iterator[int]:
        heard, cache = torch.zeros(1, 0, FULL.width, device=device), None
        before, codes, chunk = torch.zeros(FULL.entry, device=device), [], 10
        units = torch.randn(FULL.positions, FULL.text, device=device)
        for unit in units:
            x = functional.normalize(torch.cat((unit, before))[None, None], dim=2, eps=1e-8)
            heard = torch.cat((heard, x), dim=1)
            logits, _, cache = network(heard, kvcache=cache)
            codes.append(int(logits[0, -1].softmax(-1).argmax()))
            before = book[codes[-1]]
            if len(codes) == chunk:
                yield len(decode(torch.tensor(codes, device=device)).cpu())
                codes, chunk = [], min(3 * chunk, 1280)

    def spoken(wanted: float) -> tuple[float, float, float]:
        made, began, busy = 0, time.perf_counter(), time.process_time()
        for count in samples():
            made += count
            if made >= wanted * 24_000:
                break
        return time.perf_counter() - began, time.process_time() - busy, made / 24_000

    spoken(1.0)
    return _speed([spoken(0.0) for _ in range(REPEATS)], spoken(seconds))


def _speed(firsts: list[tuple[float, float, float]], whole: tuple[float, float, float]) -> Speed:
    return Speed(
        1000 * statistics.median(wall for wall, _, _ in firsts),
        1000 * statistics.median(cpu for _, cpu, _ in firsts),
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
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--profiles", default="full,int8", help="on the processor")
    options = parser.parse_args()
    profiles = options.profiles.split(",") if options.device == "cpu" else ["full"]
    for profile in profiles:
        device = torch.device(options.device)
        model = of_full_size(device, packed=profile == "int8")
        _tell(options.device, profile, measured(model, options.seconds))
    if options.reference:
        speed = their_speed(options.reference, options.device, options.seconds)
        _tell(options.device, "the public code", speed)
    return 0


def _tell(device: str, name: str, speed: Speed) -> None:
    shown = {name: round(value, 3) for name, value in asdict(speed).items()}
    line = {"device": device, "what": name, "threads": torch.get_num_threads()}
    sys.stdout.write(json.dumps(line | shown) + "\n")


if __name__ == "__main__":
    sys.exit(main())
