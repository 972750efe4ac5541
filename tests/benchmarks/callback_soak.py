"""How well does sound survive a busy interpreter? A C callback against a Python one.

    python -m tests.benchmarks.callback_soak [--seconds 60] [--loads idle,python2,python4,hold]

A tone is played on the virtual loudspeaker by a child process that is kept busy, the loudspeaker's
monitor is recorded, and what is missing from the recording is counted: PortAudio's own over- and
underrun flags stayed at zero through minutes of audible stutter. The writer keeps 0.6 s ahead, so
what is missing was lost between the ring and the device.

Kinds of callback: `c` is the product (rtmixer's callback reading engine.audio.devices.tape),
`python` a minimal sounddevice callback (copy and count); `-1ms` is either with
sys.setswitchinterval(0.001) instead of Python's 5 ms, which the writer's thread gains from, too.

Loads: `python4` is four threads of pure Python; `matmul4` four threads that are mostly outside the
interpreter lock, as torch is; `hold` one thread that now and then makes one C call which keeps the
lock for 0.1 to 0.2 s, as importing, unpickling or a badly behaved extension does.

Silence in ms per 40 s (30 s where marked *), November 2026, two cores shared with other work (load
average 3 to 7), no real-time priority for anybody, latency 40 ms; in brackets how often the writer
itself, 0.6 s ahead, came too late:

    load      c                            c-1ms        python      python-1ms
    idle      0                                         0           0
    python2   0                                         371         0
    python4   1315 (2), 4969* (5), 5046* (5)  0*, 0*    13919       706
    matmul4   191, 0*, 0*                               19          263
    hold      0, 0*                        0*           2780        3830

So the C callback, because no Python one survives `hold`; and a switch interval of 1 ms beside it,
because what is left in `python4` is the writer waiting for the interpreter. A device latency of 20
or 80 ms instead of 40 ms made no difference that these runs could show.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import soundfile

from tests.help.machine.virtual_audio import SPEAKER, virtual_audio

RATE = 48_000
HERTZ = 1_000  # 48 samples a period: the next sample follows exactly from the last two
LEAD_S = 0.6
LOADS = ("idle", "python2", "python4", "matmul4", "hold")
CALLBACKS = ("c", "c-1ms", "python", "python-1ms")
LATENCY_S = 0.04


@dataclass(frozen=True)
class Run:
    """One configuration and what came of it. `gaps`: places where the tone is not continued."""

    callback: str
    load: str
    latency_s: float
    gaps: int = 0
    silent_ms: int = 0
    writer_late: int = 0  # the tape ran empty: the writer's fault, not the callback's
    load_average: float = 0.0


class Player(Protocol):
    @property
    def queued(self) -> int: ...

    def write(self, pcm: npt.NDArray[np.float32]) -> None: ...

    def close(self) -> int:
        """Stop; returns how often the writer came too late."""
        ...


# ----------------------------------------------------------------------- in the child


class CPlayer:
    """The product's loudspeaker."""

    def __init__(self, latency_s: float) -> None:
        from engine.audio.devices import portaudio

        portaudio._LATENCY_S = latency_s
        self._speaker = portaudio.open_loudspeaker(SPEAKER)
        self._speaker.expect_more(True)

    @property
    def queued(self) -> int:
        return self._speaker.samples_written - self._speaker.samples_played

    def write(self, pcm: npt.NDArray[np.float32]) -> None:
        self._speaker.write(pcm)

    def close(self) -> int:
        self._speaker.expect_more(False)
        time.sleep(LEAD_S + 0.3)
        late = self._speaker.underruns
        self._speaker.close()
        return late


class PythonPlayer:
    """The least a Python callback can do."""

    def __init__(self, latency_s: float) -> None:
        import sounddevice

        self._ring = np.zeros(1 << 16, np.float32)
        self._written = self._read = self._late = 0
        self._stream = sounddevice.OutputStream(
            device=SPEAKER,
            samplerate=RATE,
            blocksize=RATE // 100,
            channels=2,
            latency=latency_s,
            callback=self._play,
        )
        self._stream.start()

    def _play(self, out: npt.NDArray[np.float32], frames: int, *_: object) -> None:
        samples = min(frames, self._written - self._read)
        start = self._read % len(self._ring)
        first = min(samples, len(self._ring) - start)
        out[:first, 0] = self._ring[start : start + first]
        out[first:samples, 0] = self._ring[: samples - first]
        out[samples:, 0] = 0
        out[:, 1] = out[:, 0]
        self._read += samples
        self._late += self._written > 0 and samples < frames

    @property
    def queued(self) -> int:
        return self._written - self._read

    def write(self, pcm: npt.NDArray[np.float32]) -> None:
        places = np.arange(self._written, self._written + len(pcm)) % len(self._ring)
        self._ring[places] = pcm
        self._written += len(pcm)

    def close(self) -> int:
        late = self._late
        time.sleep(LEAD_S + 0.3)
        self._stream.close()
        return late


def play(run: Run, seconds: float) -> int:
    """Play the tone under load; returns how often the writer was late."""
    if run.callback.endswith("-1ms"):
        sys.setswitchinterval(0.001)
    player: Player = (
        CPlayer(run.latency_s) if run.callback[0] == "c" else PythonPlayer(run.latency_s)
    )
    stop = threading.Event()
    threads = [threading.Thread(target=work, args=[stop]) for work in _workers(run.load)]
    for thread in threads:
        thread.start()
    position, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        missing = int(LEAD_S * RATE) - player.queued
        if missing > 0:
            player.write(tone(position, missing))
            position += missing
        time.sleep(0.02)
    stop.set()
    for thread in threads:
        thread.join()
    return player.close()


def tone(start: int, samples: int) -> npt.NDArray[np.float32]:
    phase = 2 * np.pi * HERTZ / RATE * (np.arange(start, start + samples) % RATE)
    sound: npt.NDArray[np.float32] = (0.5 * np.sin(phase)).astype(np.float32)
    return sound


def _workers(load: str) -> Sequence[Callable[[threading.Event], None]]:
    return {
        "idle": [],
        "python2": [_count] * 2,
        "python4": [_count] * 4,
        "matmul4": [_multiply] * 4,
        "hold": [_hold],
    }[load]


def _count(stop: threading.Event) -> None:
    number = 0
    while not stop.is_set():
        for _ in range(1000):
            number = (number * 31 + 7) % 1_000_003


def _multiply(stop: threading.Event) -> None:
    matrix = np.random.default_rng(1).random((400, 400), np.float32)
    while not stop.is_set():
        matrix = matrix @ matrix
        matrix /= np.abs(matrix).max()


def _hold(stop: threading.Event) -> None:
    while not stop.is_set():
        sum(range(5_000_000))  # one call into C; measured 0.1 to 0.2 s
        time.sleep(0.3)


# ---------------------------------------------------------------------- in the parent


def measure(run: Run, seconds: float, folder: Path, record: Callable[[Path], object]) -> Run:
    wav = folder / "heard.wav"
    wav.unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.benchmarks.callback_soak", "--seconds", str(seconds)]
    with record(wav):  # type: ignore[attr-defined]
        child = subprocess.run(
            [*command, "--child", json.dumps(asdict(run))],
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    gaps, silent_ms = examine(wav)
    return Run(
        run.callback,
        run.load,
        run.latency_s,
        gaps,
        silent_ms,
        int(child.stdout),
        os.getloadavg()[0],
    )


def examine(wav: Path) -> tuple[int, int]:
    """Gaps and milliseconds of silence between the first and the last of the tone."""
    pcm = soundfile.read(wav)[0][:, 0]
    heard = np.flatnonzero(np.abs(pcm) > 0.1)
    pcm = pcm[heard[0] + 100 : heard[-1] - 100]
    predicted = 2 * np.cos(2 * np.pi * HERTZ / RATE) * pcm[1:-1] - pcm[:-2]
    broken = np.flatnonzero(np.abs(pcm[2:] - predicted) > 0.004)
    gaps = int(len(broken) > 0) + int((np.diff(broken) > RATE // 50).sum())
    silent = int((np.convolve(np.abs(pcm), np.ones(48) / 48, "valid") < 0.01).sum())
    return gaps, silent * 1000 // RATE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="of each run")
    parser.add_argument("--loads", default=",".join(LOADS))
    parser.add_argument("--callbacks", default=",".join(CALLBACKS))
    parser.add_argument("--latencies", default=str(LATENCY_S), help="seconds, asked of the device")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        sys.stdout.write(str(play(Run(**json.loads(options.child)), options.seconds)))
        return
    runs = [
        Run(callback, load, float(latency))
        for load in options.loads.split(",")
        for callback in options.callbacks.split(",")
        for latency in options.latencies.split(",")
    ]
    sys.stdout.write("callback    load     latency  gaps  silent ms  writer late  load average\n")
    with tempfile.TemporaryDirectory(prefix="soak") as name, virtual_audio(Path(name)) as card:
        for run in runs:
            done = measure(run, options.seconds, Path(name), card.recording)
            sys.stdout.write(
                f"{done.callback:11} {done.load:8} {done.latency_s:7} {done.gaps:5} "
                f"{done.silent_ms:10} {done.writer_late:12} {done.load_average:13.1f}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
