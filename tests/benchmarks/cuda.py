"""All that wants a graphics card, in one run and one table: parity, first packet, RTF, long speech.

    python -m tests.benchmarks.cuda [--editions voxtream2-1 voxtream2] [--reference PATH]
        [--llmvox PATH] [--minutes 30] [--report FILE]
    python -m tests.benchmarks.cuda --device cpu --small --minutes 0.2     # tries the script itself

Full-size random weights (neither speed nor parity depends on the values). PATH is a checkout of
herimor/voxtream or the unpacked package voxtream (see tests/parity/reference.py), that of --llmvox
one of mbzuai-oryx/LLMVoX (see llmvox_speed.py); without them their column stays empty. Every part
runs in a process of its own. Exit status 1 when a target was missed.

- Parity, in fp32 without TF32: frames replayed from a captured graph against plain calls, the card
  against the processor, and, with --reference, ours against theirs on the processor.
- Running freely, in fp32 on the card: frames of VoXtream2.1 that differ from those of its own code
  (tests/parity/free_running.json).
- A seed repeats, in the precision that speech has on this card.
- First packet and RTF of every edition: voxtream_speed.py, ours and theirs in the same run.
- Long speech: text without end at 4 syllables a second and without a sentence's end, so that the
  window turns over; every frame timed, memory after the first minute and at the end. Theirs is
  spoken in utterances of 60 s, its limit.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.codec.mimi import FRAME_MS
from engine.nn.packed.product_graph import Precision
from engine.tts.base import AudioFrame
from engine.tts.voxtream.config import EDITIONS, VOXTREAM2_SHAPE, Edition
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.files.pack import target
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.benchmarks import llmvox_speed, voxtream_speed
from tests.engine.tts.llmvox.published import small_model as small_llmvox
from tests.engine.tts.voxtream import small_model
from tests.engine.tts.voxtream.random_weights import TIMELESS, load_random, random_mimi
from tests.parity.free_running import OF_SIZE, SCENARIOS, Frame, Ours
from tests.parity.reference import SoundingWeights

FREE_RUNNING = Path(__file__).parents[1] / "parity" / "free_running.json"
ROOT = Path(__file__).parents[2]
FP32_ERROR = 1e-3  # of samples in -1..1; other codes make 0.02 with the small model
PARITY_FRAMES = 12  # the processor takes a second for each
FIRST_PACKET_MS, RTF = 74.0, 0.25  # of the paper, on a consumer's card
UTTERANCE_FRAMES = 740  # theirs ends at 750
Options = argparse.Namespace


@dataclass(frozen=True)
class Row:
    """One line of the table. `wanted` is the most that ours may be; None = nothing to meet."""

    what: str
    ours: float
    theirs: float | None = None
    wanted: float | None = None

    @property
    def missed(self) -> bool:
        return self.wanted is not None and not self.ours <= self.wanted


# ------------------------------------------------------------- what is measured


def load(
    options: Options, place: Target, *, graphs: bool, edition: Edition = TIMELESS
) -> VoxtreamSynthesiser:
    """Random weights, the same on every device."""
    config = small_model.SMALL if options.small else VOXTREAM2_SHAPE
    mimi = small_model.small_mimi() if options.small else random_mimi(config.codebooks, 0)
    mimi._model.to(place.device)  # drawn on the processor: a card would draw others
    made = load_random(
        0, config=config, edition=edition, precision=Precision.FLOAT, target=place, mimi=mimi
    )
    model = VoxtreamSynthesiser(
        made._parts, made._speaker, made.voices(), made.info.name, graphs=graphs
    )
    model.warm(model.voices()[0])
    if model.info.note:
        raise SystemExit(model.info.note)  # what follows would measure something else
    return model


def said(model: VoxtreamSynthesiser, frames: int) -> np.ndarray:
    """The first frames of an utterance that lasts."""
    with model.open(model.voices()[0], seed=1) as session:
        session.rate = 3.0
        for word in islice(cycle(voxtream_speed.TEXT.split()), frames):
            session.push_word(word)
        steps = [session.step() for _ in range(frames)]
    return np.concatenate([step.pcm for step in steps if isinstance(step, AudioFrame)])


def parity(options: Options) -> list[Row]:
    """Largest differences of samples, all in fp32."""
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    place = Target(torch.device(options.device), torch.float32, threads=1)
    processor = replace(place, device=torch.device("cpu"))
    replayed = said(load(options, place, graphs=True), PARITY_FRAMES)
    plain = said(load(options, place, graphs=False), PARITY_FRAMES)
    there = said(load(options, processor, graphs=False), PARITY_FRAMES)
    return [
        Row("replayed against plain frames", _difference(replayed, plain), wanted=FP32_ERROR),
        Row("this device against processor", _difference(plain, there), wanted=FP32_ERROR),
    ]


def free_running(options: Options) -> list[Row]:
    """Frames off, of every scenario that was kept of this size."""
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    size = "small" if options.small else "full"
    kept = json.loads(FREE_RUNNING.read_text(encoding="utf-8"))[size]
    shape = small_model.SMALL if options.small else VOXTREAM2_SHAPE
    mimi = small_model.small_mimi() if options.small else random_mimi(shape.codebooks, 0)
    with torch.inference_mode():
        ours = Ours(SoundingWeights(shape, 0), shape, mimi, options.device)
        mimi._model.to(options.device)
        rows = []
        for name in OF_SIZE[size]:
            frames, _ = ours.run(SCENARIOS[name])
            wanted = (Frame(*drawn) for drawn in kept[name]["frames"])
            off = sum(one != other for one, other in zip(frames, wanted, strict=True))
            rows.append(Row(f"{name}: frames off", off, wanted=0.0))
    return rows


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max()) if one.shape == other.shape else float("inf")


def repeated(options: Options) -> list[Row]:
    model = load(options, target(options.device), graphs=True)
    frames = 4 * PARITY_FRAMES
    off = _difference(said(model, frames), said(model, frames))
    return [Row("a seed said twice, difference", off, wanted=0.0)]


def speed(options: Options) -> list[Row]:
    """First packets and frames of both, by the benchmark that is there for it. Their code takes the
    same time for both editions.
    """
    arguments = ["--frames", "100", "--repeats", "10"]
    arguments += ["--cuda"] if options.device == "cuda" else []
    theirs = None
    if options.reference:
        path = ["--reference", str(options.reference)]
        theirs = voxtream_speed.child([*arguments, *path], "reference")
    rows: list[Row] = []
    for edition in options.editions:
        ours = voxtream_speed.child([*arguments, "--edition", edition], "full")
        if ours is None:
            raise SystemExit("speed was not measured")
        first = theirs.first_ms if theirs else None
        frame = theirs.frame_ms if theirs else None
        mean = theirs.mean_ms if theirs else None
        rows += [
            Row(
                f"{edition}: first packet, ms",
                ours.first_ms,
                first,
                FIRST_PACKET_MS,
            ),
            Row(f"{edition}: RTF of the median frame", *_shares(ours.frame_ms, frame), RTF),
            Row(f"{edition}: RTF of the mean", *_shares(ours.mean_ms, mean), RTF),
        ]
    return rows


def _shares(ours: float, theirs: float | None) -> tuple[float, float | None]:
    return ours / FRAME_MS, theirs and theirs / FRAME_MS


def published_llmvox(options: Options) -> list[Row]:
    """The published LLMVoX; theirs is its public code."""
    place = torch.device(options.device)
    model = small_llmvox.small() if options.small else small_llmvox.of_full_size(place)
    seconds = 1.0 if options.small else 20.0
    ours, theirs = llmvox_speed.measured(model, seconds), None
    if options.llmvox:
        theirs = llmvox_speed.their_speed(options.llmvox, options.device, seconds)
    return [
        Row("LLMVoX: first packet, ms", ours.first_ms, theirs.first_ms if theirs else None),
        Row("... RTF", ours.rtf, theirs.rtf if theirs else None, RTF),
    ]


# ------------------------------------------------------------------ long speech


def long_speech(options: Options) -> list[Row]:
    """Ours: one utterance."""
    model = load(options, target(options.device), graphs=True)
    words = cycle(voxtream_speed.TEXT.split())
    with model.open(model.voices()[0], seed=1) as session:
        session.rate = 4.0

        def frame() -> None:
            while not isinstance(session.step(), AudioFrame):
                session.push_word(next(words))

        return _timed(cycle([frame]), options)


def their_long_speech(options: Options) -> list[Row]:
    """Theirs: utterances one after the other, without their text processing."""
    sys.path.insert(0, str(options.reference))
    from moshi.models import loaders

    settings = Options(cuda=options.device == "cuda", threads=1)
    if settings.cuda:
        torch.set_default_device("cuda")
    model, config = voxtream_speed._load_reference(options.reference, settings)
    mimi = loaders.get_mimi(None, device=str(torch.get_default_device()), num_codebooks=16)
    mimi.to(model.audio_head.dtype)

    def frames() -> Iterator[Callable[[], Any]]:
        while True:
            mimi.reset_streaming()
            loop = voxtream_speed._reference_loop(model, mimi, config)
            next(loop)
            for _ in range(UTTERANCE_FRAMES):
                yield partial(next, loop)

    with torch.inference_mode(), mimi.streaming(1):
        return _timed(frames(), options)


def _timed(frames: Iterator[Callable[[], Any]], options: Options) -> list[Row]:
    """Time every frame of so many minutes of speech."""
    count = max(20, round(options.minutes * 60_000 / FRAME_MS))
    times, early = [], 0.0
    for number, frame in enumerate(islice(frames, count)):
        began = time.perf_counter()
        frame()
        times.append((time.perf_counter() - began) * 1000)
        if number == min(count // 2, 750):
            early = _memory_mb(options.device)
    late = sum(taken > FRAME_MS for taken in times)
    return [
        Row("long speech, RTF", statistics.mean(times) / FRAME_MS, wanted=RTF),
        Row("... worst but one in a hundred, ms", float(np.quantile(times, 0.99)), wanted=FRAME_MS),
        Row("... worst frame, ms", max(times)),
        Row("... frames later than real time", late),
        Row("... memory, MB", _memory_mb(options.device)),
        Row("... grown since its beginning, MB", _memory_mb(options.device) - early, wanted=50.0),
    ]


def _memory_mb(device: str) -> float:
    """Of the card where there is one; what torch holds, not what it keeps for later."""
    if device == "cuda":
        return torch.cuda.memory_allocated() / 2**20
    return voxtream_speed.memory_mb()


# ------------------------------------------------------------------ the one run


PARTS: dict[str, Callable[[Options], list[Row]]] = {
    "parity": parity,
    "free-running": free_running,
    "repeated": repeated,
    "speed": speed,
    "speech": long_speech,
    "llmvox": published_llmvox,
    "their-speech": their_long_speech,
}


def in_a_process(part: str) -> list[Row]:
    """The rows of one part; one row that misses when it fails."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.cuda", *sys.argv[1:]]
    done = subprocess.run(
        [*command, "--only", part], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        return [Row(f"{part} failed", float("inf"), wanted=0.0)]
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def reference_parity(path: Path) -> Row:
    """How many of the comparisons with the public implementation are off."""
    command = [sys.executable, "-W", "ignore", "tests/parity/voxtream_parity.py", str(path)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    findings = [line for line in done.stdout.splitlines() if line.strip()]
    off = sum(float(line.split()[0]) > 1e-4 for line in findings)
    failed = done.returncode and not off
    what = f"ours against theirs, of {len(findings)} off"
    return Row(what, float("inf") if failed else off, wanted=0.0)


def measure(options: Options) -> list[Row]:
    """The whole table, part by part."""
    tell = sys.stderr.write
    rows: list[Row] = []
    for part in ("parity", "free-running", "repeated", "speed", "speech", "llmvox"):
        if part == "speed" and options.small:
            continue  # measures the full size only
        tell(f"{part} ...\n")
        rows += in_a_process(part)
    if options.reference:
        tell("the reference: parity, speech ...\n")
        rows.append(reference_parity(options.reference))
        theirs = {row.what: row.ours for row in in_a_process("their-speech")}
        rows = [replace(row, theirs=theirs.get(row.what, row.theirs)) for row in rows]
    return rows


def table(rows: list[Row], options: Options) -> str:
    name = torch.cuda.get_device_name() if options.device == "cuda" else f"{os.cpu_count()} cores"
    lines = [f"{name}, torch {torch.__version__}, {target(options.device).dtype}\n"]
    lines.append(f"{'':36} {'ours':>10} {'theirs':>10} {'wanted':>10}\n")
    for row in rows:
        values = "".join(f" {_number(value):>10}" for value in (row.ours, row.theirs, row.wanted))
        lines.append(f"{row.what:36}{values}{'  MISSED' if row.missed else ''}\n")
    return "".join(lines)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def main() -> int:
    parser = argparse.ArgumentParser(description="everything that wants a graphics card")
    parser.add_argument("--editions", nargs="+", choices=EDITIONS, default=list(EDITIONS))
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--llmvox", type=Path, help="a checkout of mbzuai-oryx/LLMVoX")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true", help="a small model, to try the script")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--only", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.stderr.write("There is no CUDA device here.\n")
        return 2
    if options.only:
        rows = PARTS[options.only](options)
        sys.stdout.write(json.dumps([vars(row) for row in rows]) + "\n")
        return 0
    rows = measure(options)
    shown = table(rows, options)
    sys.stdout.write(shown)
    if options.report:
        options.report.write_text(shown, encoding="utf-8")
    return 1 if any(row.missed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
