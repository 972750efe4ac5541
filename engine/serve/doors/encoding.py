"""Encode speech as a byte stream in the clients' formats, from the first frame on.

Invariant: samples are returned as soon as their codec emits them; nothing waits for a full buffer.
A streamed WAV states the greatest length, since its length is unknown.
"""

import base64
from types import MappingProxyType
from typing import Any, Final, Literal

import av
import numpy as np

from engine.audio.pcm import SYNTHETIC, Pcm
from engine.serve.service import SAMPLE_RATE

Format = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
_FULL_SCALE: Final = 32_767
# FFmpeg's names: container, codec, options.
_CODECS: Final = MappingProxyType[str, tuple[str, str, dict[str, str]]](
    {
        "mp3": ("mp3", "libmp3lame", {"write_xing": "0", "id3v2_version": "0"}),
        "opus": ("ogg", "libopus", {"page_duration": "40000"}),
        "aac": ("adts", "aac", {}),
        "flac": ("flac", "flac", {}),
        "wav": ("wav", "pcm_s16le", {}),
        "pcm": ("s16le", "pcm_s16le", {}),
    }
)


def media_type(name: Format) -> str:
    """Return the media type for HTTP."""
    return {"mp3": "audio/mpeg", "opus": "audio/ogg"}.get(name, f"audio/{name}")


def pcm16(pcm: Pcm) -> bytes:
    """Return samples as 16 bits, little-endian."""
    return (np.clip(pcm, -1, 1) * _FULL_SCALE).astype("<i2").tobytes()


def samples_of(audio: str) -> Pcm:
    """Decode samples [S] of 16 bits in base64. ValueError."""
    sound = np.frombuffer(base64.b64decode(audio, validate=True), "<i2")
    return sound.astype(np.float32) / np.float32(32_768)


class Encoder:
    """One utterance in one format."""

    def __init__(self, name: Format) -> None:
        container, codec, options = _CODECS[name]
        options = {**options, "flush_packets": "1"}
        self._samples = 0
        self._sink = _Sink()
        self._container = av.open(self._sink, "w", format=container, options=options)
        self._container.metadata["comment"] = SYNTHETIC  # MP3 and AAC cannot store it here
        self._stream: Any = self._container.add_stream(codec, rate=SAMPLE_RATE, layout="mono")

    def push(self, pcm: Pcm) -> bytes:
        """Encode samples [S] at SAMPLE_RATE; return the bytes that are ready, maybe none."""
        if len(pcm):
            samples = np.frombuffer(pcm16(pcm), "<i2").reshape(1, -1)  # [1, S]
            frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            frame.sample_rate, frame.pts = SAMPLE_RATE, self._samples
            self._samples += len(pcm)
            self._container.mux(self._stream.encode(frame))
        return self._sink.take()

    def end(self) -> bytes:
        """Return the rest."""
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._sink.take()


class _Sink(bytearray):
    """A file that cannot seek; stores written bytes until they are taken."""

    def write(self, data: Any) -> int:  # Any: the library's buffer type
        self += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self)
        self.clear()
        return taken
