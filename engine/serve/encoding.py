"""Speech as a stream of bytes in the formats that clients ask for, from the first frame on.

Invariant: what was pushed is handed out as soon as its codec gives it; nothing waits for a buffer
to fill. A WAV in a stream says that it is as long as can be, since nobody knows how long it is.
"""

import io
import struct
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final, Protocol

import numpy as np

from engine.audio.pcm import Pcm
from engine.serve.limits import SAMPLE_RATE

_UNKNOWN: Final = 0xFFFFFFFF
_FULL_SCALE: Final = 32_767


class Encoder(Protocol):
    """One utterance."""

    def push(self, pcm: Pcm) -> bytes:
        """What is ready once these samples [S] at SAMPLE_RATE were added; maybe nothing."""
        ...

    def end(self) -> bytes:
        """The rest."""
        ...


def pcm16(pcm: Pcm) -> bytes:
    """Samples as 16 bits, little-endian."""
    return (np.clip(pcm, -1, 1) * _FULL_SCALE).astype("<i2").tobytes()


class _Plain:
    """Samples as they are, after a header."""

    def __init__(self, header: bytes = b"") -> None:
        self._header = header

    def push(self, pcm: Pcm) -> bytes:
        header, self._header = self._header, b""
        return header + pcm16(pcm)

    def end(self) -> bytes:
        header, self._header = self._header, b""
        return header


class _Coded:
    """By FFmpeg's codecs."""

    def __init__(self, container: str, codec: str, **options: str) -> None:
        import av  # here: some 100 ms, and most clients ask for plain samples

        self._frame_of = av.AudioFrame.from_ndarray
        self._sink = _Sink()
        options["flush_packets"] = "1"
        self._container = av.open(self._sink, "w", format=container, options=options)
        self._stream: Any = self._container.add_stream(codec, rate=SAMPLE_RATE, layout="mono")
        self._samples = 0

    def push(self, pcm: Pcm) -> bytes:
        if len(pcm):
            samples = np.frombuffer(pcm16(pcm), "<i2").reshape(1, -1)  # [1, S]
            frame = self._frame_of(samples, format="s16", layout="mono")
            frame.sample_rate, frame.pts = SAMPLE_RATE, self._samples
            self._samples += len(pcm)
            self._container.mux(self._stream.encode(frame))
        return self._sink.take()

    def end(self) -> bytes:
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._sink.take()


class _Sink(io.RawIOBase):
    """Keeps what is written until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # Any: whatever memory the library lends
        self._held += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self._held)
        self._held.clear()
        return taken


def _wav_header() -> bytes:
    about = struct.pack("<HHIIHH", 1, 1, SAMPLE_RATE, 2 * SAMPLE_RATE, 2, 16)
    parts = (b"RIFF", struct.pack("<I", _UNKNOWN), b"WAVEfmt ", struct.pack("<I", len(about)))
    return b"".join((*parts, about, b"data", struct.pack("<I", _UNKNOWN)))


# Name -> its media type and what makes it.
_FORMATS: Final = MappingProxyType[str, tuple[str, Callable[[], Encoder]]](
    {
        "mp3": (
            "audio/mpeg",
            lambda: _Coded("mp3", "libmp3lame", write_xing="0", id3v2_version="0"),
        ),
        "opus": ("audio/ogg", lambda: _Coded("ogg", "libopus", page_duration="40000")),
        "aac": ("audio/aac", lambda: _Coded("adts", "aac")),
        "flac": ("audio/flac", lambda: _Coded("flac", "flac")),
        "wav": ("audio/wav", lambda: _Plain(_wav_header())),
        "pcm": ("audio/pcm", _Plain),
    }
)
FORMATS: Final = tuple(_FORMATS)


def encoder(name: str) -> Encoder:
    """For one of FORMATS."""
    return _FORMATS[name][1]()


def media_type(name: str) -> str:
    """What a format is called in HTTP."""
    return _FORMATS[name][0]
