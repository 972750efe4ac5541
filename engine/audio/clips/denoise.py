"""Remove steady noise from a recording for a voice, with WebRTC's noise suppression.

It helps up to 15 dB of noise, where a clip's snr_db falls below POOR_SNR_DB. Measured on eSpeak's
speech at 24 kHz: the error of short-time magnitudes against the clean speech, and the reduction of
that error in dB. The last column is the error that denoising adds to clean speech.

    noise at        5 dB   10 dB   15 dB   20 dB    clean speech
    white           +5.7    +4.1    +1.6    -1.0    22 to 24 dB below it
    pink            +6.8    +4.9    +3.1    +0.6    (10 to 12 dB without the rehearsal)
    hum             +8.5    +6.8    +4.5    +1.4
    other voices    +0.6    -1.0    -1.4    -2.9

Pauses become 12 to 16 dB quieter (other voices: 5 to 8). So it is neither for clean clips nor
against other people talking. noisereduce, which gates the spectrum, was always worse (white: +2.6,
-1.7, -6.8, -11.9; clean speech: 8 to 9 dB) and requires matplotlib, as does pyrnnoise. Invariant:
the result has the length of the clip and is aligned with it. Without the optional library the clip
is returned unchanged, and denoiser() is empty.
"""

from typing import Any, Final

import numpy as np
import soxr

from engine.audio.echo import canceller as echo
from engine.audio.pcm import Pcm

WEBRTC: Final = "webrtc"
_RATE: Final = 48_000  # Hz; at 16 kHz everything above 8 kHz would be lost
_FRAME: Final = _RATE // 100  # the only frame size of the library
_DELAY: Final = 333  # samples of delay of its output
# The suppressor needs half a second to learn the noise, and damages speech meanwhile. So the
# beginning is processed twice, and the first result is discarded.
_REHEARSAL: Final = _RATE
_FULL_SCALE: Final = 32767.0


def denoiser() -> str:
    """Return the name of the denoiser on this machine; empty if there is none."""
    return WEBRTC if echo.installed() else ""


def denoised(pcm: Pcm, sample_rate: int) -> Pcm:
    """Return a clip [S] with less steady noise, aligned sample by sample; takes about 0.01 s per
    second. Without a working denoiser() the clip itself.
    """
    if not denoiser():
        return pcm
    wide: Pcm = soxr.resample(np.asarray(pcm, dtype=np.float32), sample_rate, _RATE)
    rehearsal = wide[:_REHEARSAL]
    tail = np.zeros(_DELAY + _FRAME, np.float32)
    try:
        cleaned = _suppress(np.concatenate([rehearsal, wide, tail]))
    except (ImportError, OSError, RuntimeError):  # a wheel that does not fit this machine
        return pcm
    start = len(rehearsal) + _DELAY
    narrow: Pcm = soxr.resample(cleaned[start : start + len(wide)], _RATE, sample_rate)
    return np.pad(narrow[: len(pcm)], (0, max(0, len(pcm) - len(narrow))))


def _suppress(pcm: Pcm) -> Pcm:
    """Process complete frames of samples at _RATE; drop the remainder."""
    # The import takes a moment and 20 MB, so only for a noisy clip.
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
