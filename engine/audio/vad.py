"""Voice activity: Silero's speech probabilities, and the rule that turns them into utterances.

The network (Silero VAD v6, MIT, from faster-whisper) and the rule are separate, so the rule is
tested without audio. Invariant: results depend on the samples alone, never on their division into
blocks; every position counts 16 kHz samples since the last reset.
"""

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from engine.audio.pcm import Pcm
from engine.errors import ModelError

SAMPLE_RATE = 16_000  # Hz; the network's own rate
WINDOW = 512  # samples per probability: 32 ms
CONTEXT = 64  # samples of the previous window that the network needs again
STATE_WIDTH = 128  # its LSTM
WINDOW_MS = WINDOW * 1000 // SAMPLE_RATE
# The network's state drifts without voice: after a minute and a half of a canceller's residual it
# did not recognise the first word. So it is reset after this many windows (5 s) below this
# probability; that also limits the memory of a call.
FORGET_WINDOWS = 156
_VOICELESS = 0.2


class Vad:
    """Silero VAD as a stream: samples in, one speech probability 0..1 per 512 samples out."""

    def __init__(self) -> None:
        """Load the network (2 MB), which all instances share. ModelError if it is missing."""
        self._session = _load_session(_network_file())
        self.reset()

    def reset(self) -> None:
        """Forget all samples: the next one is sample 0."""
        self._reset_state()
        self._context = np.zeros(CONTEXT, np.float32)
        self._rest = np.zeros(0, np.float32)

    def push(self, pcm: Pcm) -> list[float]:
        """Append samples [S] at 16 kHz; return the probabilities of completed windows. The rest is
        kept. Not-a-number counts as silence, so one broken block cannot poison the state.
        """
        clean = np.clip(np.nan_to_num(pcm, nan=0.0, posinf=0.0, neginf=0.0), -1.0, 1.0)
        pending = np.concatenate([self._rest, clean.astype(np.float32, copy=False)])
        whole = len(pending) // WINDOW * WINDOW
        self._rest = pending[whole:].copy()
        windows = pending[:whole].reshape(-1, WINDOW)  # [N, 512]
        probabilities: list[float] = []
        while len(probabilities) < len(windows):
            first = len(probabilities)
            probabilities += self._run(windows[first : first + FORGET_WINDOWS - self._voiceless])
        return probabilities

    def _reset_state(self) -> None:
        self._h, self._c = (np.zeros((1, 1, STATE_WIDTH), np.float32) for _ in range(2))
        self._voiceless = 0  # windows in a row

    def _run(self, windows: Pcm) -> list[float]:
        """Run the network on windows [N, 512]; its state advances by N windows."""
        tails = windows[:, -CONTEXT:]
        context = np.concatenate([self._context[None], tails[:-1]])  # [N, 64]
        self._context = tails[-1].copy()
        inputs = {"input": np.concatenate([context, windows], 1), "h": self._h, "c": self._c}
        speech, self._h, self._c = self._session.run(None, inputs)
        probabilities: list[float] = speech.reshape(-1).tolist()
        for probability in probabilities:
            self._voiceless = self._voiceless + 1 if probability < _VOICELESS else 0
        if self._voiceless == FORGET_WINDOWS:
            self._reset_state()
        return probabilities


@dataclass(frozen=True)
class _Moment:
    """`sample`: its position; `at`: the same in seconds, if a clock runs with the samples."""

    sample: int
    at: float = 0.0


class SpeechStarted(_Moment):
    """Speech began; reported once the shortest speech has passed."""


class SpeechEnded(_Moment):
    """Speech ended; reported once the end silence has passed."""


class SpeechPaused(_Moment):
    """Speech paused, long enough that it may be over."""


class SpeechResumed(_Moment):
    """Speech continues after a reported pause."""


SpeechEvent = SpeechStarted | SpeechPaused | SpeechResumed | SpeechEnded


class Endpointer:
    """Turn speech probabilities into starts and ends of speech, by arithmetic on window counts.

    Speech starts with `minimum_speech_ms` of windows at or above `threshold` (windows between the
    two thresholds neither count nor interrupt), and ends after `end_silence_ms` without a window at
    or above `release`. With `pause_ms`, shorter silences of at least that length are reported too,
    and the speech after them. The times and `threshold` may be changed at any time.
    """

    def __init__(
        self,
        *,
        end_silence_ms: int = 700,
        minimum_speech_ms: int = 96,
        threshold: float = 0.5,
        release: float = 0.35,
        pause_ms: int | None = None,
    ) -> None:
        self.end_silence_ms = end_silence_ms
        self.minimum_speech_ms = minimum_speech_ms
        self.pause_ms = pause_ms  # None = pauses are not reported
        self.threshold = threshold
        self._release = release
        self.reset()

    def reset(self) -> None:
        """Return to silence; the next window is the first."""
        self._windows = 0  # processed so far
        self.speaking = False  # speech has started and not ended
        self._first: int | None = None  # first window of an uncertain start; None = no start
        self._voiced = 0  # windows at or above threshold since then
        self._silent_from: int | None = None  # None = the last window was speech
        self._paused = False  # that silence was reported as a pause

    def push(self, probabilities: Iterable[float]) -> list[SpeechEvent]:
        """Process the next windows; return events in order."""
        events: list[SpeechEvent] = []
        for probability in probabilities:
            event = self._ending(probability) if self.speaking else self._beginning(probability)
            self._windows += 1
            if event is not None:
                events.append(event)
        return events

    def finish(self) -> SpeechEnded | None:
        """End the audio: return the end of speech that is still open, or None."""
        if not self.speaking:
            return None
        end = self._windows if self._silent_from is None else self._silent_from
        self.speaking = self._paused = False
        self._silent_from = None
        return SpeechEnded(end * WINDOW)

    def _beginning(self, probability: float) -> SpeechStarted | None:
        if probability < min(self._release, self.threshold):
            self._first, self._voiced = None, 0
            return None
        if probability < self.threshold:
            return None
        if self._first is None:
            self._first = self._windows
        self._voiced += 1
        if self._voiced * WINDOW_MS < self.minimum_speech_ms:
            return None
        started = SpeechStarted(self._first * WINDOW)
        self.speaking, self._first, self._voiced, self._silent_from = True, None, 0, None
        return started

    def _ending(self, probability: float) -> SpeechEvent | None:
        if probability >= self._release:
            resumed = SpeechResumed(self._windows * WINDOW) if self._paused else None
            self._silent_from, self._paused = None, False
            return resumed
        if self._silent_from is None:
            self._silent_from = self._windows
        silence_ms = (self._windows + 1 - self._silent_from) * WINDOW_MS
        if silence_ms >= self.end_silence_ms:
            ended = SpeechEnded(self._silent_from * WINDOW)
            self.speaking, self._silent_from, self._paused = False, None, False
            return ended
        if self._paused or self.pause_ms is None or silence_ms < self.pause_ms:
            return None
        self._paused = True
        return SpeechPaused(self._silent_from * WINDOW)


@dataclass(frozen=True)
class Stretch:
    """Samples [start, end) of a clip that contain speech."""

    start: int
    end: int


def find_speech(pcm: Pcm) -> tuple[Stretch, ...]:
    """Return the stretches of speech in a clip [S] at 16 kHz: in order, separate, within the
    clip.
    """
    network = Vad()
    tail = np.zeros(-len(pcm) % WINDOW, np.float32)  # the last, incomplete window counts too
    probabilities = network.push(pcm) + network.push(tail)
    return speech_stretches(probabilities, len(pcm))


def speech_stretches(
    probabilities: Iterable[float], samples: int, *, pause_ms: int = 300, margin_ms: int = 64
) -> tuple[Stretch, ...]:
    """Return the stretches of speech in a clip of `samples` whose windows have these probabilities.

    Pauses shorter than `pause_ms` stay inside a stretch. Every stretch is widened by `margin_ms` on
    both sides, because weak consonants sit at the edges.
    """
    endpointer = Endpointer(end_silence_ms=pause_ms)
    events = [*endpointer.push(probabilities), endpointer.finish()]
    edges = [event.sample for event in events if event is not None]
    margin = margin_ms * SAMPLE_RATE // 1000
    stretches: list[Stretch] = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        wide = Stretch(max(0, start - margin), min(samples, end + margin))
        if stretches and wide.start <= stretches[-1].end:
            wide = Stretch(stretches.pop().start, wide.end)
        stretches.append(wide)
    return tuple(stretches)


def _network_file() -> Path:
    """Find the ONNX file inside faster-whisper without importing it (that takes a second)."""
    spec = importlib.util.find_spec("faster_whisper")
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder, "assets").glob("silero_vad*.onnx"), reverse=True):
            return file
    raise ModelError(
        "The speech detector's network ({file}) is not installed.",
        hint="It comes with the package faster-whisper {version}; install Rubato again.",
        file="silero_vad_v6.onnx",
        version="1.2.1",
    )


@cache
def _load_session(file: Path) -> Any:
    # onnxruntime costs 30 MB and a tenth of a second: only if the user listens.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # one window is far too little work to share
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(
            str(file), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's errors share no base class
        raise ModelError(
            "The speech detector's network {file} does not load: {error}",
            hint="The file is broken; install Rubato again.",
            file=file.name,
            error=error,
        ) from error
