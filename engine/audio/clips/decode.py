"""A file of sound decoded in a process of its own, which clip.py starts.

    python decode.py SECONDS START < FILE > SAMPLES

Out come one line of JSON about the file (Header) and its samples, mixed to one channel, native
float32: those of SECONDS from START (seconds) on and one more where the file goes on. The exit
status is a Fault, or 0.

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
_COARSE = ("PCM_U8", "PCM_S8")

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


def decode(file: BinaryIO, seconds: float, out: BinaryIO, start_s: float = 0.0) -> None:
    """See the module; FaultError."""
    bounded = BoundedFile(file)
    try:
        sound = soundfile.SoundFile(bounded)
    except (soundfile.LibsndfileError, ValueError, TypeError, OSError):
        file.seek(0)
        _decode_with_av(file, seconds, out, start_s)
        return
    bounded.left = READ_BYTES
    with sound:
        length = sound.frames / max(1, sound.samplerate)
        _tell(out, sound.samplerate, sound.channels, length, coarse=sound.subtype in _COARSE)
        skipped = int(start_s * sound.samplerate)
        _write(_soundfile_blocks(sound), int(seconds * sound.samplerate), out, skipped)


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


def _decode_with_av(file: BinaryIO, seconds: float, out: BinaryIO, start_s: float) -> None:
    import av  # here: most files never need it

    faults = (av.FFmpegError, UnicodeError, ValueError, OSError)
    bounded = BoundedFile(file)
    try:
        container = av.open(bounded, "r", options={"format_whitelist": _CONTAINERS})
    except faults as error:
        raise FaultError(Fault.NOT_SOUND) from error
    bounded.left = READ_BYTES
    with container:
        if not container.streams.audio:
            raise FaultError(Fault.NO_TRACK)
        stream = container.streams.audio[0]
        if stream.codec_context is None:  # of a kind that FFmpeg cannot decode
            raise FaultError(Fault.NOT_SOUND)
        length = None if container.duration is None else container.duration / av.time_base
        _tell(out, stream.rate or 0, stream.channels, length, coarse=False)
        try:
            skipped = int(start_s * stream.rate)
            _write(_av_blocks(container), int(seconds * stream.rate), out, skipped)
        except faults as error:
            raise FaultError(Fault.DAMAGED) from error


def _av_blocks(container: Any) -> Iterator[Block]:
    import av  # as above

    resampler = av.AudioResampler(format="flt", layout="mono")
    for frame in container.decode(audio=0):
        for part in resampler.resample(frame):
            samples: npt.NDArray[Any] = part.to_ndarray()  # [1, S]
            yield samples.reshape(-1, 1).astype(np.float32, copy=False)


def _tell(
    out: BinaryIO, sample_rate: int, channels: int, seconds: float | None, *, coarse: bool
) -> None:
    """The line of JSON. `seconds` None: the file does not say how long it is."""
    header = {"sample_rate": sample_rate, "channels": channels, "seconds": seconds}
    out.write(json.dumps({**header, "coarse": coarse}).encode() + b"\n")
    if not (_LOWEST_RATE <= sample_rate <= _HIGHEST_RATE and 1 <= channels <= _MOST_CHANNELS):
        raise FaultError(Fault.HEADER)


def _write(blocks: Iterator[Block], most: int, out: BinaryIO, skipped: int) -> None:
    """At most `most` samples and one, behind those that are skipped."""
    left = max(1, most) + 1
    for block in blocks:
        mono = block[skipped:].mean(axis=1, dtype=np.float32)[:left]
        skipped = max(0, skipped - len(block))
        if not np.isfinite(mono).all():
            raise FaultError(Fault.NOT_NUMBERS)
        out.write(np.clip(mono, -1.0, 1.0).tobytes())
        left -= len(mono)
        if not left:
            return


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
