"""Decode a sound file in the sandboxed process, which clip.py starts.

    decode.py SECONDS START < FILE > SAMPLES

The output is one line of JSON about the file (Source without its blocks), then samples mixed to one
channel, native float32, at their original level: SECONDS from START (seconds), and one more if the
file goes on. If the channels cancel each other, the loudest is used instead. The exit status is a
Fault, or 0.

Invariant: reads at most OPENING_BYTES to identify the file, then at most READ_BYTES. It imports
nothing of the program, so it starts quickly.

PyAV gets a list of allowed containers, because FFmpeg would otherwise follow play lists to other
files and addresses.
"""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

OPENING_BYTES = 64 << 20  # a film's tables are much smaller, wherever in the file they are
READ_BYTES = 512 << 20  # a minute of sound in a film of the best quality is less
_CONTAINERS = (
    "mov,mp4,m4a,matroska,webm,aac,ac3,amr,asf,caf,mp3,ogg,flac,wav,w64,aiff,au,avi,mpegts"
)
_LOWEST_RATE, _HIGHEST_RATE = 4_000, 384_000  # Hz; outside: a broken header
_MOST_CHANNELS = 32
_COARSE = ("PCM_U8", "PCM_S8")
_BURIED = 0.1  # of the power of the loudest channel: with less, the mixture has lost it

Block = npt.NDArray[np.float32]  # [S, channels]


class Fault(IntEnum):
    """Exit status: why a file gave no samples, or not all. Any other status means that the file is
    damaged or exceeds the limits.
    """

    NOT_SOUND = 10
    NO_TRACK = 11
    HEADER = 12
    DAMAGED = 13
    NOT_NUMBERS = 14


class FaultError(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.name)
        self.fault = fault


class BoundedFile(io.RawIOBase):
    """A file that appears to end after `left` more bytes."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.left = OPENING_BYTES

    def readinto(self, buffer: Any) -> int:  # Any: the library's buffer type
        view = memoryview(buffer).cast("B")[: self.left]
        data = self._file.read(len(view))
        view[: len(data)] = data
        self.left -= len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    seekable = readable


@dataclass(frozen=True)
class Source:
    """An opened file. `seconds` is None if its length is unknown."""

    sample_rate: int
    channels: int
    seconds: float | None
    coarse: bool
    blocks: Iterator[Block]


@dataclass(frozen=True)
class Mixture:
    """Mono samples. `instead`: the channel to use because the others cancel or bury it; None = the
    mixture is good.
    """

    pcm: npt.NDArray[np.float32]  # [S]
    instead: int | None


def decode(file: BinaryIO, seconds: float, out: BinaryIO, start_s: float = 0.0) -> None:
    """Decode as described in the module's docstring. FaultError."""
    with _opened(file) as source:
        rate, channels = source.sample_rate, source.channels
        header = {"sample_rate": rate, "channels": channels, "seconds": source.seconds}
        out.write(json.dumps({**header, "coarse": source.coarse}).encode() + b"\n")
        if not (_LOWEST_RATE <= rate <= _HIGHEST_RATE and 1 <= channels <= _MOST_CHANNELS):
            raise FaultError(Fault.HEADER)
        first, count = (int(each * source.sample_rate) for each in (start_s, seconds))
        mixture = mix(source.blocks, first, max(1, count) + 1)
    if mixture.instead is not None:
        with _opened(file) as source:
            mixture = mix(source.blocks, first, max(1, count) + 1, channel=mixture.instead)
    out.write(mixture.pcm.tobytes())


def mix(blocks: Iterator[Block], first: int, most: int, channel: int | None = None) -> Mixture:
    """Return at most `most` samples from `first`: the mean of all channels, or one channel."""
    parts: list[npt.NDArray[np.float32]] = []
    sums = powers = np.zeros(1)  # [channels] and, last, the mixture
    left = most
    for block in blocks:
        kept = block[first:][:left]
        first = max(0, first - len(block))
        mono = kept.mean(axis=1, dtype=np.float32) if channel is None else kept[:, channel].copy()
        if not np.isfinite(mono).all():
            raise FaultError(Fault.NOT_NUMBERS)
        parts.append(mono)
        each = np.column_stack((kept, mono)).astype(np.float64)
        sums, powers = sums + each.sum(axis=0), powers + np.square(each).sum(axis=0)
        left -= len(kept)
        if not left:
            break
    loudness = powers - np.square(sums) / max(1, most - left)  # without a constant offset
    best = int(np.argmax(loudness[:-1])) if len(loudness) > 1 else 0
    buried = channel is None and loudness[-1] < _BURIED * loudness[best]
    return Mixture(np.concatenate(parts or [np.zeros(0, np.float32)]), best if buried else None)


@contextmanager
def _opened(file: BinaryIO) -> Iterator[Source]:
    import av  # here: the program imports this module for the names of its faults

    file.seek(0)
    bounded = BoundedFile(file)
    try:
        container = av.open(bounded, "r", options={"format_whitelist": _CONTAINERS})
    except (av.FFmpegError, UnicodeError, ValueError, OSError) as error:
        raise FaultError(Fault.NOT_SOUND) from error
    bounded.left = READ_BYTES
    with container:
        if not container.streams.audio:
            raise FaultError(Fault.NO_TRACK)
        stream = container.streams.audio[0]
        codec = stream.codec_context
        if codec is None:  # FFmpeg cannot decode this codec
            raise FaultError(Fault.NOT_SOUND)
        length = None if container.duration is None else container.duration / av.time_base
        coarse = codec.name.upper() in _COARSE
        yield Source(stream.rate or 0, stream.channels, length, coarse, _blocks(container))


def _blocks(container: Any) -> Iterator[Block]:
    import av  # as above

    resampler = av.AudioResampler(format="fltp")
    try:
        for frame in container.decode(audio=0):
            for part in resampler.resample(frame):
                samples: npt.NDArray[Any] = part.to_ndarray()  # [channels, S]
                yield samples.T.astype(np.float32, copy=False)
    except (av.FFmpegError, UnicodeError, ValueError, OSError) as error:
        raise FaultError(Fault.DAMAGED) from error


def main() -> int:
    try:
        with open(0, "rb", buffering=0) as file, open(1, "wb") as out:  # file descriptors
            decode(file, float(sys.argv[1]), out, float(sys.argv[2]))
    except FaultError as error:
        return error.fault
    return 0


if __name__ == "__main__":
    sys.exit(main())
