"""Speech as a log-mel spectrum, 50 columns a second, and in the few levels of dMel; and the vocoder
from predicted columns to samples: the small codec's decoder with another input. So the systems are
compared by their predictions, not by their vocoders.

The dMel paper's tokens (Bai et al., 2024) are levels of the log magnitudes, evenly spaced and the
same for all bands. Here the ends of the scale are those of the corpus, so a step is finer.
Invariant: a column needs no sample after its own 20 ms. A stream is a value of its own; a vocoder
holds no state between two calls.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import torch
from torch import Tensor, nn

from engine.codec.mimi import MimiStream, quicken, resumed
from engine.codec.small_parts import HOP, Stft, mel_filters
from engine.codec.source import SourceDecoder
from engine.nn.weights_file import load_network, read_shape
from engine.settings.rules import Range
from engine.translatable import Translatable

BANDS: Final = 80
COLUMN: Final = 2 * HOP  # samples of one column, 20 ms
COLUMN_RATE: Final = 50  # Hz
LEVELS: Final = 16
WINDOW: Final = 1200  # samples, 50 ms as in dMel
_FFT: Final = 2048
_FLOOR: Final = 1e-3  # about -65 dB below the corpus's level
FACTOR: Final = 2  # columns of the decoder, at 100 Hz, for each that enters
REMAKE: Final = Translatable("Make the pack again.")


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


@dataclass(frozen=True)
class VocoderConfig:
    """`entry` values a column; `blocks` ConvNeXt blocks of `width`."""

    entry: Annotated[int, Range(BANDS, BANDS)]
    width: Annotated[int, Range(1, 2048)] = 256
    blocks: Annotated[int, Range(1, 32)] = 6


class Vocoder:
    """Opens streams on one decoder. Used from one thread at a time."""

    def __init__(self, decoder: SourceDecoder) -> None:
        quicken(decoder)
        self._decoder: Any = decoder  # moshi's streaming modules have no types

    @torch.inference_mode()
    def open(self) -> "VocoderStream":
        """Return a new stream without a past, as after silence."""
        with self._decoder.streaming(1):
            return VocoderStream(self._decoder, self._decoder.get_streaming_state())


class VocoderStream:
    """The state of one utterance."""

    def __init__(self, decoder: Any, stream: MimiStream) -> None:
        self._decoder = decoder
        self._stream = stream

    @torch.inference_mode()
    def decode(self, columns: Tensor) -> Tensor:
        """The next columns [T, entry] -> their samples [480 T]."""
        with resumed(self._decoder, self._stream):
            pcm: Tensor = self._decoder(columns.t()[None])
        return pcm[0, 0]


def fresh_decoder(config: VocoderConfig) -> SourceDecoder:
    """Return the network with its first weights, in training mode."""
    return SourceDecoder(config.width, config.blocks, config.entry, FACTOR)


def load_vocoder(file: Path) -> Vocoder:
    """Read a vocoder that training exported. ModelError names the fault of the file."""

    def decoder_of(text: str) -> SourceDecoder:
        return fresh_decoder(read_shape(VocoderConfig, text))

    return Vocoder(load_network(file, decoder_of, Translatable("The vocoder"), REMAKE))
