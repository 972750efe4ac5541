"""Takes steady noise out of a recording that is to define a voice, with WebRTC's suppression.

Worth it up to 15 dB of noise, which is where a clip's snr_db falls below POOR_SNR_DB. Measured on
eSpeak's speech at 24 kHz: the error of short-time magnitudes against the clean speech, and by how
many dB denoising makes it smaller; in the last column the error it makes where there is no noise.

    noise at        5 dB   10 dB   15 dB   20 dB    clean speech
    white           +5.7    +4.1    +1.6    -1.0    22 to 24 dB below it
    pink            +6.8    +4.9    +3.1    +0.6    (10 to 12 dB without the rehearsal)
    hum             +8.5    +6.8    +4.5    +1.4
    other voices    +0.6    -1.0    -1.4    -2.9

Pauses become 12 to 16 dB quieter (other voices: 5 to 8). So it is not for clean clips, nor does it
help against other people talking. noisereduce, which gates the spectrum, was worse throughout
(white: +2.6, -1.7, -6.8, -11.9; clean speech: 8 to 9 dB) and brings matplotlib, as pyrnnoise does.
Invariant: the result is as long as the clip and in step with it; without the optional library the
clip comes back as it is, and `denoiser` says so.
"""

from typing import Any, Final

import numpy as np
import soxr

from engine.audio.echo import canceller as echo
from engine.audio.pcm import Pcm

WEBRTC: Final = "webrtc"
_RATE: Final = 48_000  # Hz; at 16 kHz everything above 8 kHz would be lost
_FRAME: Final = _RATE // 100  # the only size the processing takes
_DELAY: Final = 333  # samples by which its output is late
# It takes half a second to know a room, and damages what is said meanwhile: so it hears the
# beginning twice, and what comes of the first time is thrown away.
_REHEARSAL: Final = _RATE
_FULL_SCALE: Final = 32767.0


def denoiser() -> str:
    """The name of what denoises clips here; empty when nothing does."""
    return WEBRTC if echo.installed() else ""


def denoised(pcm: Pcm, sample_rate: int) -> Pcm:
    """A clip [S] with less steady noise, sample for sample at the same place; takes about 0.01 s
    per second.

    Without `denoiser()`, or where it does not fit the machine, the clip itself.
    """
    if not denoiser():
        return pcm
    wide: Pcm = soxr.resample(np.asarray(pcm, dtype=np.float32), sample_rate, _RATE)
    rehearsal = wide[:_REHEARSAL]
    tail = np.zeros(_DELAY + _FRAME, np.float32)
    try:
        cleaned = _suppressed(np.concatenate([rehearsal, wide, tail]))
    except (ImportError, OSError, RuntimeError):  # a wheel that does not fit this machine
        return pcm
    start = len(rehearsal) + _DELAY
    narrow: Pcm = soxr.resample(cleaned[start : start + len(wide)], _RATE, sample_rate)
    return np.pad(narrow[: len(pcm)], (0, max(0, len(pcm) - len(narrow))))


def _suppressed(pcm: Pcm) -> Pcm:
    """Whole frames of samples at _RATE through the suppression; what is left over is dropped."""
    # A moment and 20 MB: only for a noisy clip.
    from livekit.rtc.apm import AudioProcessingModule
    from livekit.rtc.audio_frame import AudioFrame

    processing: Any = AudioProcessingModule(noise_suppression=True)
    whole = (np.clip(pcm, -1.0, 1.0) * _FULL_SCALE).astype("<i2")
    parts = []
    for start in range(0, len(whole) - _FRAME + 1, _FRAME):
        raw = bytearray(whole[start : start + _FRAME].tobytes())
        frame = AudioFrame(raw, _RATE, 1, _FRAME)
        processing.process_stream(frame)
        parts.append(np.frombuffer(frame.data, dtype="<i2").astype(np.float32) / _FULL_SCALE)
    return np.concatenate(parts)
