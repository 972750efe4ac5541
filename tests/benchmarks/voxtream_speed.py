"""How fast VoXtream2 speaks on this machine, precision by precision, beside the public reference.

    python tests/benchmarks/voxtream_speed.py [--profiles int8 full] [--reference PATH]
                                              [--frames 25] [--repeats 3] [--threads 2] [--cuda]
                                              [--edition voxtream2-1]

Full-size random weights (the arithmetic does not depend on the values), prompt of 5 s, guidance on.
Every system runs in a process of its own, all in one run. First packet: from pushing the first word
to its first samples, voice warm, median of the repeats. Frame: median over frames once text is
complete, with CPU time over all threads beside it, because on a shared parts wall time is noise;
RTF is that of the median frame, the mean's beside it (frames that take up a word cost more).
The reference's g2p and prompt encoding are left out of its times (in its favour).
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

TEXT = (
    "The morning light came slowly over the hills and the small town began to wake while nobody "
    "on the shore remembered what the old captain had promised before the boat left the harbour"
)
FRAME_MS = 80
PROMPT_FRAMES = 62


@dataclass
class Report:
    """One system as measured; times in milliseconds."""

    name: str
    load_s: float = 0.0
    memory_mb: float = 0.0
    first_ms: float = 0.0
    first_cpu_ms: float = 0.0
    frame_ms: float = 0.0
    frame_cpu_ms: float = 0.0
    mean_ms: float = 0.0
    worst_ms: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)  # CPU milliseconds per frame


class Stages:
    """CPU time spent inside named functions, frame by frame."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._frames: list[dict[str, float]] = []

    def start(self) -> None:
        self._frames = []
        self.spent.clear()

    def end_frame(self) -> None:
        self._frames.append(dict(self.spent))
        self.spent.clear()

    def medians(self) -> dict[str, float]:
        """Milliseconds per frame; the mean for what does not happen in most frames."""
        found = {}
        for stage in sorted({stage for frame in self._frames for stage in frame}):
            values = [frame.get(stage, 0.0) * 1000 for frame in self._frames]
            found[stage] = statistics.median(values) or statistics.mean(values)
        return found

    def watch(self, owner: Any, method: str, stage: str) -> None:
        genuine = getattr(owner, method)

        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.process_time()
            try:
                return genuine(*arguments, **options)
            finally:
                self.spent[stage] += time.process_time() - start

        setattr(owner, method, timed)


class Stopwatch:
    """Wall and CPU time of repeated calls."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def run(self, call: Callable[[], Any]) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        result = call()
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.cpu.append((time.process_time() - cpu) * 1000)
        return result


def memory_mb() -> float:
    """Resident memory now (Linux), or the peak where there is no /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure_ours(precision: str, options: argparse.Namespace) -> Report:
    import torch

    from engine.nn.packed.product_graph import Precision
    from engine.tts.voxtream import script
    from engine.tts.voxtream.config import EDITIONS
    from engine.tts.voxtream.files.checkpoint import Target
    from tests.engine.tts.voxtream.random_weights import load_random

    torch.set_num_threads(options.threads if precision == "full" else 1)  # as pack.py does
    device = torch.device("cuda" if options.cuda else "cpu")
    dtype = torch.bfloat16 if options.cuda else torch.float32
    report = Report(f"ours {options.edition} {precision}{' cuda' if options.cuda else ''}")
    load = Stopwatch()
    model = load.run(
        lambda: load_random(
            edition=EDITIONS[options.edition],
            precision=Precision(precision),
            target=Target(device, dtype, options.threads),
        )
    )
    report.load_s = load.wall[0] / 1000
    first = _first_packets(model, options)
    report.first_ms, report.first_cpu_ms = map(statistics.median, (first.wall, first.cpu))
    stages, parts = Stages(), model._parts
    stages.watch(script, "extend", "phone")
    stages.watch(parts.model, "advance", "temporal")
    stages.watch(parts.model, "choose", "semantic")
    stages.watch(parts.model, "acoustic_codes", "depth")
    stages.watch(parts.mimi, "decode_frame", "codec")
    frames = Stopwatch()
    with model.open(model.voices()[0], seed=0) as utterance:
        utterance.rate = 3.0  # slow enough that the text lasts
        for word in TEXT.split() * 3:
            utterance.push_word(word)
        utterance.step()
        stages.start()
        for _ in range(options.frames):
            frames.run(utterance.step)
            stages.end_frame()
    _finish(report, frames, stages)
    return report


def _first_packets(model: Any, options: argparse.Namespace) -> Stopwatch:
    """From the first word pushed to the first samples; the first repeat warms up."""
    from engine.tts.base import AudioFrame

    voice = model.voices()[0]
    model.warm(voice)
    watch = Stopwatch()
    for repeat in range(options.repeats + 1):
        with model.open(voice, seed=repeat) as utterance:
            feed = iter(TEXT.split())

            def until_sound(utterance: Any = utterance, feed: Any = feed) -> None:
                while not isinstance(utterance.step(), AudioFrame):
                    utterance.push_word(next(feed))

            watch.run(until_sound)
    del watch.wall[0], watch.cpu[0]
    return watch


def measure_reference(path: Path, options: argparse.Namespace) -> Report:
    sys.path.insert(0, str(path))
    warnings.simplefilter("ignore")
    import torch
    from moshi.models import loaders

    report = Report("reference bf16 cuda" if options.cuda else "reference fp32")
    if options.cuda:
        torch.set_default_device("cuda")
    load = Stopwatch()
    reference = load.run(lambda: _load_reference(path, options))
    report.load_s = load.wall[0] / 1000
    model, config = reference
    mimi = loaders.get_mimi(None, device=str(torch.get_default_device()), num_codebooks=16)
    mimi.to(model.audio_head.dtype)
    stages = Stages()
    stages.watch(model, "extract_phoneme_embeddings", "phone")
    stages.watch(model.temp_former, "forward", "temporal")
    stages.watch(model.dep_former, "forward", "depth")
    stages.watch(mimi, "decode", "codec")
    first, frames = Stopwatch(), Stopwatch()
    with torch.inference_mode(), mimi.streaming(1):
        for repeat in range(max(1, options.repeats - 1)):
            mimi.reset_streaming()
            step = _reference_loop(model, mimi, config)
            first.run(partial(_first_two, step))
            if repeat == 0:
                stages.start()
                for _ in range(min(options.frames, 8)):
                    frames.run(partial(next, step))
                    stages.end_frame()
    report.first_ms = statistics.median(first.wall)
    report.first_cpu_ms = statistics.median(first.cpu)
    _finish(report, frames, stages)
    return report


def _first_two(steps: Any) -> tuple[Any, Any]:
    return next(steps), next(steps)


def _load_reference(path: Path, options: argparse.Namespace) -> Any:
    import torch

    from engine.tts.voxtream.config import VOXTREAM2_SHAPE
    from tests.parity import reference

    torch.set_num_threads(options.threads)
    package = reference.imported(path)
    config, _ = reference.settings(package, path)
    shape = package.models.ModelConfig(**reference.config_of(VOXTREAM2_SHAPE))
    model = package.models.Model(shape).eval().requires_grad_(False)
    model.audio_head.normal_(0, 0.03)
    dtype = torch.bfloat16 if options.cuda else torch.float32
    model.to(torch.get_default_device(), dtype).setup_caches(2, dtype)
    if options.cuda:  # as its own generator sets itself up
        from moshi.utils.compile import CUDAGraphed
        from voxtream.utils.model import patch_kv_cache_for_cuda_graph

        patch_kv_cache_for_cuda_graph()
        model._temp_former = CUDAGraphed(model._temp_former)
        model._dep_former_init = CUDAGraphed(model._dep_former)
        model._dep_former = CUDAGraphed(model._dep_former)
    return model, config


def _reference_loop(model: Any, mimi: Any, config: Any) -> Any:
    """The reference's own frame loop on random phones, one word of four phones per frame."""
    import torch

    model.reset_caches()
    length = PROMPT_FRAMES + 1
    tokens = torch.full((2, length), 122)
    tokens[:, 0] = 123
    codes = torch.randint(0, 2048, (2, 16, length))
    speaker = model.spk_emb_proj(torch.randn(2, 192, dtype=model.audio_head.dtype))
    indices = torch.arange(length)[None, :, None].expand(2, -1, 2)
    position = torch.arange(length)[None]
    semantic = None
    for step in range(750):
        if step < len(TEXT.split()):
            word = torch.randint(0, 117, (1, 4))
            tokens = torch.cat((tokens, torch.cat((word, torch.full((1, 4), 122)))), dim=1)
            rows = model.extract_phoneme_embeddings(tokens, prompt_len=length)
        frame, _, _ = model.generate_frame(
            config=config,
            phone_emb=model.reorder_phone_emb(rows, indices),
            audio_tokens=codes,
            input_pos=position,
            spk_embeddings=speaker,
            cfg_gamma=1.5,
            spk_rate_weight=None,
            cur_spk_rate_cnt=torch.ones(6, dtype=torch.int64),
            target_spk_rate_cnt=None,
        )
        if semantic is not None:
            spoken = torch.cat((semantic, frame[:, 1:]), dim=1).clamp(0, 2047)
            mimi.decode(spoken[:, :, None]).cpu()
        semantic = frame[:, :1]
        codes = frame[:, :, None].repeat(2, 1, 1)
        position = position[:, -1:] + 1
        at = min(length + step, rows.shape[1] - 2)  # it lingers on the last phones
        indices = torch.tensor([[[at, at + 1]]]).expand(2, -1, -1)
        yield


def _finish(report: Report, frames: Stopwatch, stages: Stages) -> None:
    report.frame_ms = statistics.median(frames.wall)
    report.frame_cpu_ms = statistics.median(frames.cpu)
    report.mean_ms = statistics.mean(frames.wall)
    report.worst_ms = max(frames.wall)
    report.memory_mb = memory_mb()
    report.stages = stages.medians()


def show(reports: list[Report]) -> None:
    write = sys.stdout.write
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    write(f"{os.cpu_count()} cores{load}; milliseconds, CPU time in brackets\n")
    write(f"{'':16} load s  MB  first packet      frame           worst   RTF  mean\n")
    for report in reports:
        write(
            f"{report.name:16} {report.load_s:6.1f} {report.memory_mb:5.0f}"
            f" {report.first_ms:7.0f} [{report.first_cpu_ms:.0f}]"
            f" {report.frame_ms:7.1f} [{report.frame_cpu_ms:.1f}] {report.worst_ms:7.0f}"
            f" {report.frame_ms / FRAME_MS:6.2f} {report.mean_ms / FRAME_MS:5.2f}\n"
        )
        stages = ", ".join(f"{stage} {spent:.1f}" for stage, spent in report.stages.items())
        write(f"{'':16} CPU per frame: {stages}\n")


def child(arguments: list[str], which: str) -> Report | None:
    """Measure one system in a process of its own."""
    module = ["-P", "-W", "ignore", "-m", "tests.benchmarks.voxtream_speed"]
    run = [sys.executable, *module, *arguments, "--only", which]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(run, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        sys.stdout.write(f"{which}: not measured: {done.stderr.strip().splitlines()[-1]}\n")
        return None
    return Report(**json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    parser = argparse.ArgumentParser(description="speed of VoXtream2 on this machine")
    parser.add_argument("--profiles", nargs="+", default=["int8", "full"])
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--frames", type=int, default=25)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--edition", default="voxtream2-1", choices=("voxtream2-1", "voxtream2"))
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only == "reference":
        sys.stdout.write(json.dumps(asdict(measure_reference(options.reference, options))) + "\n")
        return 0
    if options.only:
        sys.stdout.write(json.dumps(asdict(measure_ours(options.only, options))) + "\n")
        return 0
    which = [*options.profiles, *(["reference"] if options.reference else [])]
    reports = [child(sys.argv[1:], each) for each in which]
    show([report for report in reports if report is not None])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
