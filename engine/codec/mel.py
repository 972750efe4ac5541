"""Speech as a log-mel spectrum, 50 columns a second, and in the few levels of dMel.

The dMel paper's tokens (Bai et al., 2024) are levels of the log magnitudes, evenly spaced and the
same for all bands. Here the ends of the scale are those of the corpus, so a step is finer.
Invariant: a column needs no sample after its own 20 ms.
"""

from dataclasses import dataclass
from typing import Annotated, Final

import torch
from torch import Tensor, nn

from engine.codec.small_parts import HOP, Stft, mel_filters
from engine.settings.rules import Range

BANDS: Final = 80
COLUMN: Final = 2 * HOP  # samples of one column, 20 ms
COLUMN_RATE: Final = 50  # Hz
LEVELS: Final = 16
WINDOW: Final = 1200  # samples, 50 ms as in dMel
_FFT: Final = 2048
_FLOOR: Final = 1e-3  # about -65 dB below the corpus's level


class MelSpectrum(nn.Module):
    """Samples [B, S] at 24 kHz -> log magnitudes [B, S / COLUMN, BANDS], for whole clips."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = Stft(WINDOW, _FFT)
        self.register_buffer("filters", mel_filters(_FFT, BANDS), persistent=False)

    @torch.no_grad()
    def forward(self, pcm: Tensor) -> Tensor:
        spectra = self.frames(pcm[:, None, : pcm.shape[1] // COLUMN * COLUMN]).abs()
        logs: Tensor = (spectra[:, 1::2] @ self.get_buffer("filters") + _FLOOR).log()
        return logs


@dataclass(frozen=True)
class Levels:
    """LEVELS even steps from `lowest` to `highest`, both log magnitudes."""

    lowest: Annotated[float, Range(-100, 100)]
    highest: Annotated[float, Range(-100, 100)]

    @property
    def step(self) -> float:
        return (self.highest - self.lowest) / (LEVELS - 1)

    def quantised(self, mel: Tensor) -> Tensor:
        """Return the nearest level of every value, int64."""
        return ((mel - self.lowest) / self.step).round().clamp(0, LEVELS - 1).long()

    def restored(self, levels: Tensor) -> Tensor:
        """Return the log magnitudes of levels, which may be fractions."""
        return self.lowest + self.step * levels.float()

    def expected(self, logits: Tensor) -> Tensor:
        """Return log magnitudes [...] from logits [..., LEVELS]: the mean, not a level."""
        places = torch.arange(LEVELS, dtype=torch.float32, device=logits.device)
        return self.restored(logits.softmax(-1) @ places)
