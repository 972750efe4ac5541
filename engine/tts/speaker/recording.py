"""The speech of a recording, from which a voice is made: checked, denoised if noisy, and trimmed.

Invariant: a voice contains the hash of its clip and of the recipe, so a changed clip or a changed
recipe is always noticed.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import soxr
import torch
from torch import Tensor

from engine.audio.clips.clip import POOR_SNR_DB, Clip, snr_db
from engine.audio.clips.denoise import denoised, denoiser
from engine.audio.pcm import brought_to
from engine.audio.vad import SAMPLE_RATE as SPEECH_RATE
from engine.audio.vad import find_speech
from engine.errors import UnreadableClip
from engine.tts.base import Pcm
from engine.tts.voices import RECORDING

SHORTEST_S, LONGEST_S = 1, 20  # released; 3 to 10 s are best (VoXtream2, 3.2)
LEAD_S: Final = 0.3  # kept before every stretch of speech, and behind the last one
LOUDEST_STEP: Final = 8.0  # |sample|; audio does not go far beyond full scale
MAKING: Final = "3"  # raise when the arithmetic below changes


def recipe_version(loudness: float | None = None) -> str:
    """Return the version of the recipe for recordings at `loudness` (LUFS; None = unchanged)."""
    return MAKING if loudness is None else f"{MAKING} at {loudness:g} LUFS"


class SpeakerEncoder(Protocol):
    """A network from speech to the speaker's vector."""

    def embed(self, pcm: Tensor) -> Tensor:
        """Return the vector [192] of a second or more of samples [S] at 16 kHz."""
        ...


@dataclass(frozen=True)
class Recording:
    """The speech of a recording: `speech` as it was recorded, `clean` denoised if that was needed.
    `about` goes into the voice's metadata.
    """

    speech: Pcm
    clean: Pcm
    sample_rate: int
    about: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name to suggest for a voice made from this recording."""
        return f"clip-{self.about[RECORDING][:8]}"

    @torch.inference_mode()
    def speaker(self, encoder: SpeakerEncoder) -> npt.NDArray[np.float32]:
        """Return the speaker's unit vector, from the original: denoising changes it."""
        pcm = torch.from_numpy(resampled(self.speech, self.sample_rate, SPEECH_RATE))
        vector: npt.NDArray[np.float32] = (
            torch.nn.functional.normalize(encoder.embed(pcm), dim=0).float().cpu().numpy()
        )
        return vector


def read(pcm: Pcm, sample_rate: int, loudness: float | None = None) -> Recording:
    """Find the speech in mono samples, brought to `loudness` (LUFS; None = unchanged).
    UnreadableClip gives the reason when no voice can be made from it.
    """
    _check(pcm, sample_rate)
    clip = Clip(pcm, sample_rate).digest
    if loudness is not None:
        pcm = brought_to(pcm, sample_rate, loudness)
    denoising = denoiser() if snr_db(Clip(pcm, sample_rate)) < POOR_SNR_DB else ""
    excerpt = pcm[: 3 * LONGEST_S * sample_rate]  # more than enough to find 20 s of speech in
    parts = _speech(excerpt, sample_rate)
    speech = _cut(excerpt, parts, sample_rate)
    # Noise suppression gets the pauses too, because they show it the room.
    clean = _cut(denoised(excerpt, sample_rate), parts, sample_rate) if denoising else speech
    # Everything that the voice depends on, except the clip and the model.
    options = [recipe_version(loudness), denoising, SHORTEST_S, LONGEST_S, LEAD_S]
    about = {
        RECORDING: clip,
        "clip_rate": str(sample_rate),
        "making": recipe_version(loudness),
        "denoising": denoising or "none",
        "options_sha256": hashlib.sha256(json.dumps(options).encode()).hexdigest(),
        "seconds": f"{len(speech) / sample_rate:.2f}",
    }
    return Recording(speech, clean, sample_rate, about)


def _check(pcm: Pcm, sample_rate: int) -> None:
    if pcm.ndim != 1 or not 8_000 <= sample_rate <= 384_000:
        raise UnreadableClip(
            "A voice needs one channel at 8 to 384 kHz, not {shape} at {rate} Hz.",
            shape=pcm.shape,
            rate=sample_rate,
        )
    if not np.isfinite(pcm).all() or np.abs(pcm).max(initial=0) > LOUDEST_STEP:
        raise UnreadableClip("The recording holds values that are no sound.")
    if len(pcm) < SHORTEST_S * sample_rate:
        raise UnreadableClip(
            "The recording is {seconds} s long, too short for a voice.",
            hint="Give at least one second of speech; three to ten are best.",
            seconds=f"{len(pcm) / sample_rate:.1f}",
        )


def _speech(pcm: Pcm, sample_rate: int) -> list[slice]:
    """Return the parts of the recording that are speech, with their margins."""
    stretches = find_speech(resampled(pcm, sample_rate, SPEECH_RATE))
    parts: list[slice] = []
    end = 0  # of the last part in the recording's own samples: margins never overlap
    for number, stretch in enumerate(stretches):
        start = max(end, int((stretch.start / SPEECH_RATE - LEAD_S) * sample_rate))
        air = LEAD_S if number == len(stretches) - 1 else 0.0
        end = min(len(pcm), int((stretch.end / SPEECH_RATE + air) * sample_rate))
        parts.append(slice(start, end))
    length = sum(part.stop - part.start for part in parts)
    if length < SHORTEST_S * sample_rate:
        raise UnreadableClip(
            "Only {seconds} s of speech were found in the recording.",
            hint="Give at least one second of clear speech by one person.",
            seconds=f"{length / sample_rate:.1f}",
        )
    return parts


def _cut(pcm: Pcm, parts: list[slice], sample_rate: int) -> Pcm:
    """Return the parts joined, at most LONGEST_S."""
    return np.concatenate([pcm[part] for part in parts])[: LONGEST_S * sample_rate]


def resampled(pcm: Pcm, source: int, target: int) -> Pcm:
    if source == target:
        return np.ascontiguousarray(pcm, dtype=np.float32)
    resampled: Pcm = soxr.resample(np.asarray(pcm, dtype=np.float32), source, target)
    return resampled
