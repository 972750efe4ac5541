"""The sound of a conversation as a stereo file: the person on the left, the assistant on the right,
as the microphone heard the one and as the other left the loudspeaker.

Invariant: position and time agree: sample n was heard n / SAMPLE_RATE seconds after `start_at`, to
within SLACK_S, whatever devices come and go. A recording never fills the disk.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from engine.audio.base import Pcm, Played
from engine.audio.clips.wave_file import WaveFile
from engine.audio.echo.played_line import PlayedLine
from engine.audio.pcm import Resampler
from engine.errors import DeviceError, InvalidInput

SAMPLE_RATE = 24_000  # Hz; of the neural voices
LONGEST_S = 2 * 3600.0  # of one recording: 690 MB
SPARE_BYTES = 500_000_000  # left free on the disk
SLACK_S = 0.25  # behind the clock by more means that samples were lost: silence takes their place
WRITE_S = 0.25  # written so much at a time
LOOK_S = 10.0  # how often the free space is looked at
_BYTES_PER_S = SAMPLE_RATE * 2 * 2
_FRAME = SAMPLE_RATE // 100
_NOTHING: Pcm = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True)
class Recorded:
    """A stretch of sound in a file: it began at `start_at` (seconds on the engine's clock)."""

    path: Path
    start_at: float
    seconds: float


class Recording:
    """Grows by add() until close(). `longest_s` is how much is recorded at most.

    DeviceError when the file cannot be created.
    """

    def __init__(
        self,
        path: Path,
        start_at: float,
        *,
        longest_s: float = LONGEST_S,
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self._path = path
        self._start_at = start_at
        self._longest_s = longest_s
        self._free_bytes = free_bytes
        self._file = WaveFile(path, SAMPLE_RATE, channels=2)
        self._resampler = Resampler(SAMPLE_RATE, SAMPLE_RATE)
        self._rate = SAMPLE_RATE  # Hz of the microphone
        self._heard: Pcm = _NOTHING  # of the left side, not written
        self._arrived = 0.0  # position up to which the left side was given
        self._line = PlayedLine(SAMPLE_RATE)
        self._done = 0  # samples written or ready to be
        self._ready: list[Pcm] = []  # [S, 2]
        self._looked_s = 0.0

    @property
    def so_far(self) -> Recorded:
        """What is in the file now."""
        ready = sum(map(len, self._ready))
        return Recorded(self._file.partial, self._start_at, (self._done - ready) / SAMPLE_RATE)

    @property
    def ended_by(self) -> str:
        """A sentence on why it cannot go on; empty while it can."""
        if self._file.fault:
            reason = self._file.fault.strerror or self._file.fault
            return f"The recording could not be written on: {reason}."
        seconds = self._done / SAMPLE_RATE
        if seconds >= self._longest_s:
            return f"The recording has reached {seconds / 60:.0f} minutes, which is the most."
        if seconds - self._looked_s >= LOOK_S:
            self._looked_s = seconds
            if self._free_bytes(self._path.parent) < SPARE_BYTES:
                return "The recording was ended, as the disk is nearly full."
        return ""

    def add(self, heard: Pcm, rate: int, played: Played, at: float) -> None:
        """What the microphone heard (mono, `rate` Hz) and the loudspeaker played up to `at`."""
        if rate != self._rate:
            self._heard = np.concatenate((self._heard, self._resampler.end()))
            self._resampler, self._rate = Resampler(rate, SAMPLE_RATE), rate
        self._heard = np.concatenate((self._heard, self._resampler.push(heard)))
        self._arrived += len(heard) * SAMPLE_RATE / rate
        self._catch_up((at - self._start_at) * SAMPLE_RATE)
        self._line.push(played, int(self._arrived))
        frames = [self._take(_FRAME) for _ in iter(lambda: self._knows(self._done + _FRAME), False)]
        self._ready += frames
        if sum(map(len, self._ready)) >= WRITE_S * SAMPLE_RATE:
            self._write()

    def close(self) -> Recorded:
        """Write the rest and give the file its name; after a fault it holds what was written."""
        self._heard = np.concatenate((self._heard, self._resampler.end()))
        played_on = max(0, self._line.end - self._done - len(self._heard))
        self._heard = np.concatenate((self._heard, np.zeros(played_on, np.float32)))
        self._ready.append(self._take(len(self._heard)))
        self._write()
        self._file.close(despite_fault=True)
        return Recorded(self._path, self._start_at, self._done / SAMPLE_RATE)

    def _knows(self, position: int) -> bool:
        left = self._done + len(self._heard) >= position
        return left and self._line.known(position, int(self._arrived))

    def _take(self, samples: int) -> Pcm:
        left, self._heard = self._heard[:samples], self._heard[samples:]
        right = self._line.take(self._done, len(left))
        self._done += len(left)
        self._line.forget(self._done)
        both: Pcm = np.stack((left, right), axis=1)  # [S, 2]
        return both

    def _catch_up(self, position: float) -> None:
        """Silence for what no microphone heard."""
        missing = int(position - self._arrived)
        if missing > SLACK_S * SAMPLE_RATE:
            self._heard = np.concatenate((self._heard, np.zeros(missing, np.float32)))
            self._arrived += missing

    def _write(self) -> None:
        self._file.append(np.concatenate(self._ready))
        self._ready.clear()


def join(stretches: Sequence[Recorded], path: Path) -> None:
    """Write stretches of one conversation into one file, with silence between them, so that its
    time is the conversation's from the first of them on.

    InvalidInput when there are none, when it would be longer than LONGEST_S, or cannot be written.
    """
    if not stretches:
        raise InvalidInput(
            "There is no recording of this conversation.",
            hint="Switch recording on before you talk. Text can be saved as it is.",
        )
    last = stretches[-1]
    length_s = last.start_at + last.seconds - stretches[0].start_at
    if length_s > LONGEST_S:
        raise InvalidInput(
            "The recording and its pauses are {hours} hours long.",
            hint="Each part is a file of its own in the folder of recordings.",
            hours=f"{length_s / 3600:.1f}",
        )
    try:
        file = WaveFile(path, SAMPLE_RATE, channels=2)
    except DeviceError as error:
        raise InvalidInput(error.message, hint=error.hint) from error
    try:
        for block in _joined(stretches):
            file.append(block)
    except (OSError, soundfile.SoundFileError) as error:
        file.fault = OSError(f"a part of it cannot be read ({error})")
    finally:
        file.close()
    if file.fault:
        raise InvalidInput(
            "The file {path} cannot be written: {error}.",
            hint="Choose a place where there is room.",
            path=path,
            error=file.fault.strerror or file.fault,
        )


def longest_s(folder: Path, most_bytes: int) -> float:
    """How much more may be recorded in a folder that may hold `most_bytes` of recordings."""
    size = sum(file.stat().st_size for file in folder.glob("*.wav"))
    free = shutil.disk_usage(folder).free - SPARE_BYTES
    return min(LONGEST_S, (most_bytes - size) / _BYTES_PER_S, free / _BYTES_PER_S)


def _joined(stretches: Sequence[Recorded]) -> Iterator[Pcm]:
    """Blocks [S, 2] of all stretches in order."""
    reached = 0
    for stretch in stretches:
        start = round((stretch.start_at - stretches[0].start_at) * SAMPLE_RATE)
        yield np.zeros((max(0, start - reached), 2), np.float32)
        reached = max(start, reached)
        for block in soundfile.blocks(
            stretch.path, blocksize=SAMPLE_RATE, dtype="float32", always_2d=True
        ):
            reached += len(block)
            yield block
