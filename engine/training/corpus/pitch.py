"""The pitch of the corpus, as the target for the source in the codec's decoder.

Invariant: there is a pitch at every moment; between voiced parts it is interpolated and weighs
little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES, SAMPLE_RATE
from engine.codec.small_parts import HOP
from engine.codec.source import HIGHEST_HZ, LOWEST_HZ, MIDDLE_HZ
from engine.training.codec.speech import Spoken

COLUMNS: Final = FRAME_SAMPLES // HOP  # of a codec frame
AHEAD: Final = 1  # columns by which the decoder sets the pitch early
UNVOICED_WEIGHT: Final = 0.1


@dataclass(frozen=True)
class PitchTrack:
    """Log of the pitch in Hz and how much it matters (1 = voiced), both [..., T] at 100 Hz."""

    log_hz: Tensor
    weight: Tensor

    def window(self, first: int, frames: int) -> "PitchTrack":
        """The part that the decoder should produce from codec frame `first` on, [frames *
        COLUMNS]."""
        begin = first * COLUMNS + AHEAD
        end = begin + frames * COLUMNS
        missing = max(0, end - len(self.log_hz))
        log_hz = functional.pad(self.log_hz[None, None], (0, missing), mode="replicate")[0, 0]
        return PitchTrack(log_hz[begin:end], functional.pad(self.weight, (0, missing))[begin:end])

    def to(self, device: torch.device) -> "PitchTrack":
        return PitchTrack(self.log_hz.to(device), self.weight.to(device))


def pitch_track(utterance: Spoken) -> PitchTrack:
    """The pitch of an utterance by autocorrelation (Boersma, 1993), one value every 10 ms."""
    import parselmouth  # training only

    sound = parselmouth.Sound(utterance.pcm.astype(np.float64) / 32768, SAMPLE_RATE)
    pitch = sound.to_pitch_ac(
        time_step=HOP / SAMPLE_RATE, pitch_floor=LOWEST_HZ, pitch_ceiling=HIGHEST_HZ
    )
    count = -(-len(utterance.pcm) // HOP)
    middles = (np.arange(count) + 0.5) * HOP / SAMPLE_RATE
    places = np.clip(np.searchsorted(pitch.xs(), middles), 0, len(pitch.xs()) - 1)
    hz = pitch.selected_array["frequency"][places]
    voiced = hz > 0
    if not voiced.any():
        return PitchTrack(
            torch.full((count,), float(np.log(MIDDLE_HZ))), torch.full((count,), UNVOICED_WEIGHT)
        )
    moments = np.arange(count)
    log_hz = np.interp(moments, moments[voiced], np.log(hz[voiced]))
    weight = np.where(voiced, 1.0, UNVOICED_WEIGHT)
    return PitchTrack(torch.from_numpy(log_hz).float(), torch.from_numpy(weight).float())


def stacked(tracks: Sequence[PitchTrack], frames: int) -> PitchTrack:
    """One track [B, T] of the first frames of several."""
    columns = frames * COLUMNS
    return PitchTrack(
        torch.stack([track.log_hz[:columns] for track in tracks]),
        torch.stack([track.weight[:columns] for track in tracks]),
    )
