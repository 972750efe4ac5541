"""A file of sound decoded in a process of its own, which clip.py starts.

    python decode.py SECONDS START < FILE > SAMPLES

Out come one line of JSON about the file (Header) and its samples, mixed to one channel, native
float32, as large as they are: those of SECONDS from START (seconds) on and one more where the file
goes on. Where the channels cancel each other, the loudest is taken instead. The exit status is a
Fault, or 0.

Invariant: reads at most OPENING_BYTES to find out what the file is, then at most READ_BYTES; the
process has limits on memory and processor time where the system knows such limits. It imports
nothing of the program, so that it starts quickly.

soundfile reads WAV, FLAC, OGG, Opus, MP3 and more; what it does not know (M4A, MP4, WebM) goes to
PyAV with a list of allowed containers, because FFmpeg would otherwise follow play lists to other
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
import soundfile

OPENING_BYTES = 64 << 20  # the tables of a film are much less, wherever in it they are
READ_BYTES = 512 << 20  # a minute of sound in a film of the best quality is less
MEMORY_BYTES = 1 << 30  # address space; the libraries alone take a third of it
PROCESSOR_S = 60
_CONTAINERS = "mov,mp4,m4a,matroska,webm,aac,ac3,amr,asf,caf,mp3,ogg,flac,wav,w64,aiff,avi,mpegts"
_LOWEST_RATE, _HIGHEST_RATE = 4_000, 384_000  # Hz; outside is a broken header
_MOST_CHANNELS = 32
_BLOCK_SAMPLES = 1 << 18
_UNKNOWN = 2**63 - 1  # soundfile's length of a file whose header has none
_COARSE = ("PCM_U8", "PCM_S8")
_BURIED = 0.1  # of the power of the loudest channel: the mixture has lost it

Block = npt.NDArray[np.float32]  # [S, channels]


class Fault(IntEnum):
    """The exit status: why a file gave no samples, or not all. A file whose decoder died in another
    way is damaged or asks for more than it may have."""

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
    """A file that seems to end once `left` bytes were read of it."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.left = OPENING_BYTES

    def readinto(self, buffer: Any) -> int:  # Any: whatever memory the library lends
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

    def seekable(self) -> bool:
        return True


def limits_memory() -> bool:
    """Whether the system can limit memory: Windows cannot, and macOS ignores the limit."""
    return sys.platform not in {"win32", "darwin"}


def limit() -> None:
    """Let this process take no more memory and processor time than MEMORY_BYTES, PROCESSOR_S."""
    if not limits_memory():
        return
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@dataclass(frozen=True)
class Source:
    """An opened file. `seconds` None: it does not say how long it is."""

    sample_rate: int
    channels: int
    seconds: float | None
    coarse: bool
    blocks: Iterator[Block]


@dataclass(frozen=True)
class Mixture:
    """`instead`: the channel to take because the others all but cancel or bury it; None = the
    mixture is good.
    """

    pcm: npt.NDArray[np.float32]  # [S]
    instead: int | None


def decode(file: BinaryIO, seconds: float, out: BinaryIO, start_s: float = 0.0) -> None:
    """See the module; FaultError."""
    with _opened(file) as source:
        _tell(out, source)
        first, count = (int(each * source.sample_rate) for each in (start_s, seconds))
        mixture = mix(source.blocks, first, max(1, count) + 1)
    if mixture.instead is not None:
        with _opened(file) as source:
            mixture = mix(source.blocks, first, max(1, count) + 1, channel=mixture.instead)
    out.write(mixture.pcm.tobytes())


def mix(blocks: Iterator[Block], first: int, most: int, channel: int | None = None) -> Mixture:
    """At most `most` samples from `first` on: the mean of all channels, or one channel."""
    parts: list[npt.NDArray[np.float32]] = []
    sums = powers = np.zeros(1)  # [channels], and the mixture's as the last
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
    """Open a file with soundfile, or with PyAV if it was written to a pipe: soundfile takes such a
    WAV for empty, and cannot read such a FLAC, which has no length.
    """
    file.seek(0)
    bounded = BoundedFile(file)
    try:
        sound = soundfile.SoundFile(bounded)
    except (soundfile.LibsndfileError, ValueError, TypeError, OSError):
        sound = None
    if sound is None or not 0 < sound.frames < _UNKNOWN:
        file.seek(0)
        with _opened_with_av(file) as source:
            yield source
        return
    bounded.left = READ_BYTES
    with sound:
        length = sound.frames / max(1, sound.samplerate)
        coarse = sound.subtype in _COARSE
        blocks = _soundfile_blocks(sound)
        yield Source(sound.samplerate, sound.channels, length, coarse, blocks)


def _soundfile_blocks(sound: Any) -> Iterator[Block]:
    frames = max(1, _BLOCK_SAMPLES // sound.channels)
    while True:
        try:
            block = sound.read(frames, dtype="float32", always_2d=True)
        except (soundfile.LibsndfileError, ValueError, OSError) as error:
            raise FaultError(Fault.DAMAGED) from error
        if not len(block):
            return
        yield block


@contextmanager
def _opened_with_av(file: BinaryIO) -> Iterator[Source]:
    import av  # here: most files never need it

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
        if codec is None:  # of a kind that FFmpeg cannot decode
            raise FaultError(Fault.NOT_SOUND)
        length = None if container.duration is None else container.duration / av.time_base
        coarse = codec.name.upper() in _COARSE
        yield Source(stream.rate or 0, stream.channels, length, coarse, _av_blocks(container))


def _av_blocks(container: Any) -> Iterator[Block]:
    import av  # as above

    resampler = av.AudioResampler(format="fltp")
    try:
        for frame in container.decode(audio=0):
            for part in resampler.resample(frame):
                samples: npt.NDArray[Any] = part.to_ndarray()  # [channels, S]
                yield samples.T.astype(np.float32, copy=False)
    except (av.FFmpegError, UnicodeError, ValueError, OSError) as error:
        raise FaultError(Fault.DAMAGED) from error


def _tell(out: BinaryIO, source: Source) -> None:
    """The line of JSON."""
    rate, channels = source.sample_rate, source.channels
    header = {"sample_rate": rate, "channels": channels, "seconds": source.seconds}
    out.write(json.dumps({**header, "coarse": source.coarse}).encode() + b"\n")
    if not (_LOWEST_RATE <= rate <= _HIGHEST_RATE and 1 <= channels <= _MOST_CHANNELS):
        raise FaultError(Fault.HEADER)


def main() -> int:
    limit()
    try:
        with open(0, "rb", buffering=0) as file, open(1, "wb") as out:  # descriptors
            decode(file, float(sys.argv[1]), out, float(sys.argv[2]))
    except FaultError as error:
        return error.fault
    return 0


if __name__ == "__main__":
    sys.exit(main())
