"""A microphone that plays a recording and a loudspeaker that makes one, for tests, `demo` and
`converse` with files.

Invariant: samples advance only with the clock, however often they are requested. So the same calls
at the same times give the same samples, and a manually stepped device is exact to the sample.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.audio.base import HISTORY_S
from engine.audio.clips.clip import Clip, printable, read_clip
from engine.audio.clips.recording import WaveFile
from engine.audio.devices.tape import Ring, Tape
from engine.audio.pcm import Pcm
from engine.errors import DeviceError

_LONGEST_QUESTION_S = 600.0
_CAPACITY_S = 1.0
_BLOCK_S = 0.01  # block size of a real device: an edit cannot be closer to now
_EMPTY: Pcm = np.zeros(0, dtype=np.float32)

Clock = Callable[[], float]  # seconds since some moment; never goes back


class FileMicrophone:
    """See Microphone: plays a file, or samples in memory, once, then `tail_s` of silence.

    Time starts at the first read(), so nothing is spoken while models load. Raises UnreadableClip.
    """

    joins_midway = False

    def __init__(
        self, source: Path | Clip, *, clock: Clock = time.monotonic, tail_s: float = 2.0
    ) -> None:
        clip = source
        if isinstance(clip, Path):
            clip = read_clip(clip, max_seconds=_LONGEST_QUESTION_S)
        self.name = printable(source.name) if isinstance(source, Path) else "samples"
        self.sample_rate = clip.sample_rate
        tail = np.zeros(int(tail_s * clip.sample_rate), dtype=np.float32)
        self._pcm: Pcm = np.concatenate([clip.pcm, tail])
        self._clock = clock
        self._started_at: float | None = None  # None: not read yet
        self._delivered = 0
        self._closed = False

    @property
    def ended(self) -> bool:
        return self._closed or self._delivered == len(self._pcm)

    def read(self) -> Pcm:
        if self._closed:
            return _EMPTY
        if self._started_at is None:
            self._started_at = self._clock()
        due = min(len(self._pcm), _due(self._clock() - self._started_at, self.sample_rate))
        pcm = self._pcm[self._delivered : due]
        self._delivered = due
        return pcm

    def close(self) -> None:
        self._closed = True


class FileLoudspeaker(Tape):
    """See Loudspeaker: writes its output, including silence, to a 16-bit WAV.

    The file has a temporary name until close(), and a valid header after every write. With `path`
    None nothing is written, and recorded() returns the samples.
    """

    latency_s = 0.0

    def __init__(
        self, path: Path | None, sample_rate: int, *, clock: Clock = time.monotonic
    ) -> None:
        self.sample_rate = sample_rate
        self.name = path.name if path else "memory"
        self._ring = Ring(int(sample_rate * (_CAPACITY_S + HISTORY_S)))
        margin, history = (int(sample_rate * each) for each in (_BLOCK_S, HISTORY_S))
        super().__init__(self._ring, sample_rate=sample_rate, margin=margin, history=history)
        self._clock = clock
        self._started_at = clock()
        self._passed = 0  # samples of elapsed time, sound or silence
        self._parts: list[Pcm] = []
        self._file = WaveFile(path, sample_rate) if path else None
        self._keep: Callable[[Pcm], None] = self._file.append if self._file else self._parts.append
        self._closed = False
        self._lock = threading.Lock()  # every thread that reads the state advances the ring

    def write(self, pcm: Pcm) -> int:
        """See Loudspeaker. DeviceError if the file cannot be written (a full disk)."""
        self._advance()
        if self._closed:
            return 0
        if self._file and self._file.fault:
            raise DeviceError(
                "The recording '{name}' could not be written ({error}).",
                hint="Free some space, or choose another folder.",
                name=self.name,
                error=self._file.fault,
            )
        return super().write(pcm)

    @property
    def fault(self) -> OSError | None:
        """The error that ended the writing, after which close() leaves no file; None = no error."""
        return self._file.fault if self._file else None

    def recorded(self) -> Pcm:
        """Return the samples played so far, including silence; empty if they go to a file."""
        self._advance()
        return np.concatenate([_EMPTY, *self._parts])

    def close(self) -> None:
        """Complete the file and give it its name. Never raises; write() reports a fault."""
        self._advance()
        with self._lock:
            if not self._closed and self._file:
                self._file.close()
            self._closed = True

    def _advance(self) -> None:
        """Do the work of a device's callback for the time since the last call."""
        with self._lock:
            if self._closed:
                return
            due = _due(self._clock() - self._started_at, self.sample_rate) - self._passed
            while due > 0:  # in parts: hours may have passed
                block = np.zeros(min(due, self.sample_rate), dtype=np.float32)
                self._ring.read_into(block)
                self._keep(block)
                self._passed += len(block)
                due -= len(block)


def _due(seconds: float, sample_rate: int) -> int:
    """Return the number of complete samples; without the millionth, 0.1 + 0.2 would lose one."""
    return int(seconds * sample_rate + 1e-6)
