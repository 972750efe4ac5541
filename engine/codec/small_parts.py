"""The encoder of the small codec, and the parts of its decoder.

    samples ─▶ log spectra, 50 columns a second ─▶ ConvNeXt ─▶ 25 Hz latents
    25 Hz latents ─▶ 100 Hz ─▶ ConvNeXt ─▶ columns, which `source.py` turns into samples

Invariant: everything is causal, and piece by piece equals all at once.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

import torch
from moshi.modules.conv import StreamingConv1d, StreamingConvTranspose1d
from moshi.modules.streaming import State, StreamingContainer, StreamingModule
from torch import Tensor, nn
from torch.nn import functional

from engine.nn.mel import mel_edges, triangles

SAMPLE_RATE: Final = 24_000
HOP: Final = 240  # samples between spectra, 10 ms
WINDOW: Final = 960
FFT: Final = 1024
BANDS: Final = 72
FINE_BINS: Final = 44  # lowest bins, not merged into bands, up to 1.07 kHz: they carry the pitch
PAIR: Final = 2  # spectra in one encoder column
UPSAMPLING: Final = 4  # spectra per latent column
KERNEL: Final = 7
LARGEST_LOG: Final = 6.0


class ConvNext(StreamingContainer):
    """A causal ConvNeXt block (Liu et al., 2022; in one dimension as in Vocos)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise: nn.Module = StreamingConv1d(width, width, KERNEL, groups=width, causal=True)
        self.norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 3 * width)
        self.narrow = nn.Linear(3 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        """[B, D, T] -> [B, D, T]."""
        inner = self.norm(self.depthwise(x).transpose(1, 2))
        inner = self.narrow(functional.gelu(self.wide(inner))) * self.scale
        out: Tensor = x + inner.transpose(1, 2)
        return out


@dataclass
class _Past(State):
    """Samples [B, C, n] that the next piece needs. They are never reallocated: a CUDA graph reads
    and writes the same memory every time.
    """

    past: Tensor

    def reset(self, reset_mask: Tensor) -> None:
        super().reset(reset_mask)
        self.past.masked_fill_(reset_mask.view(-1, 1, 1), 0.0)


class Stft(StreamingModule[_Past]):
    """Samples [B, 1, S] -> spectra [B, S / HOP, fft / 2 + 1] of Hann windows, causal: the last
    window ends with the last sample.
    """

    def __init__(self, window: int, fft: int) -> None:
        super().__init__()
        self._fft = fft
        self._kept = window - HOP
        self.register_buffer("window", torch.hann_window(window), persistent=False)

    def _init_streaming_state(self, batch_size: int) -> _Past:
        device = self.get_buffer("window").device
        return _Past(batch_size, device, torch.zeros(batch_size, 1, self._kept, device=device))

    def forward(self, pcm: Tensor) -> Tensor:
        window = self.get_buffer("window")
        state = self._streaming_state or self._init_streaming_state(len(pcm))
        longer = torch.cat((state.past, pcm), dim=-1)
        if self.is_streaming:
            state.past.copy_(longer[..., -self._kept :])
        pieces = longer[:, 0].float().unfold(-1, len(window), HOP) * window
        spectra: Tensor = torch.fft.rfft(pieces, self._fft)
        return spectra


class SpectralEncoder(StreamingContainer):
    """Samples [B, 1, S] at 24 kHz, S a multiple of 960 -> latents [B, D, S / 960]."""

    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.dimension = width  # moshi reads it
        self.register_buffer("filters", mel_filters(FFT, BANDS), persistent=False)
        self.frames = Stft(WINDOW, FFT)
        self.enter = nn.Linear(PAIR * (BANDS + FINE_BINS), width)
        self.blocks = nn.ModuleList(ConvNext(width) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.down = StreamingConv1d(width, width, 4, 2, causal=True)

    def forward(self, pcm: Tensor) -> Tensor:
        spectra = self.frames(pcm).abs()  # [B, T, FFT / 2 + 1] at 100 Hz
        bands = (spectra @ self.get_buffer("filters") + 1e-3).log()
        fine = (spectra[..., 2 : 2 + FINE_BINS] + 1e-2).log()
        features = torch.cat((bands, fine), dim=-1) * 0.5
        pairs = features.reshape(len(features), features.shape[1] // PAIR, -1)
        x = self.enter(pairs).transpose(1, 2)  # [B, D, T] at 50 Hz
        for block in self.blocks:
            x = block(x)
        return cast(Tensor, self.down(self.norm(x.transpose(1, 2)).transpose(1, 2)))


class Columns(StreamingContainer):
    """The common part of decoders: latents [B, D, T] at 25 Hz -> columns [B, 4 T, D] at 100 Hz; or
    other values [B, entry, T] at another rate, `factor` columns each.
    """

    def __init__(
        self, width: int, blocks: int, entry: int | None = None, factor: int = UPSAMPLING
    ) -> None:
        """`entry` None: the input is as wide as the columns."""
        super().__init__()
        self.up = StreamingConvTranspose1d(
            width if entry is None else entry, width, 2 * factor, factor, causal=True
        )
        self.blocks = nn.ModuleList(ConvNext(width) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)

    def columns(self, latents: Tensor) -> Tensor:
        x = self.up(latents)
        for block in self.blocks:
            x = block(x)
        out: Tensor = self.norm(x.transpose(1, 2))
        return out


class OverlapAdd(StreamingModule[_Past]):
    """Pieces [B, T, W], W a multiple of HOP, -> samples [B, 1, HOP T]; each piece is weighted by
    the window [W], and samples that later pieces still add to are kept.
    """

    def __init__(self, window: Tensor) -> None:
        super().__init__()
        self.register_buffer("window", window, persistent=False)

    def _init_streaming_state(self, batch_size: int) -> _Past:
        window = self.get_buffer("window")
        past = torch.zeros(batch_size, 1, len(window) - HOP, device=window.device)
        return _Past(batch_size, window.device, past)

    def forward(self, pieces: Tensor) -> Tensor:
        window = self.get_buffer("window")
        state = self._streaming_state or self._init_streaming_state(len(pieces))
        count, size = pieces.shape[1], len(window)
        length = (count - 1) * HOP + size
        weighted = (pieces * window).transpose(1, 2)  # [B, W, T]
        added = functional.fold(weighted, (1, length), (1, size), stride=(1, HOP))[:, :, 0]
        overlap = size - HOP
        added = torch.cat((added[..., :overlap] + state.past, added[..., overlap:]), dim=-1)
        if self.is_streaming:
            state.past.copy_(added[..., count * HOP :])
        return added[..., : count * HOP]


def mel_filters(fft: int, bands: int) -> Tensor:
    """Return triangles on the mel scale, [fft / 2 + 1, bands], each of area 1."""
    edges = mel_edges(bands, 0.0, SAMPLE_RATE / 2)
    filters = triangles(fft, SAMPLE_RATE, edges)
    # Narrow triangles at low frequencies may contain no bin; then the nearest bin is the band.
    bins = torch.linspace(0, SAMPLE_RATE / 2, fft // 2 + 1)[:, None]
    nearest = (bins - edges[1:-1]).abs().argmin(dim=0)
    filters[nearest, torch.arange(bands)] = filters[nearest, torch.arange(bands)].clamp(min=0.1)
    return filters / filters.sum(dim=0)


def quantised(model: Any, latents: Tensor) -> Any:  # Any: moshi's quantiser results
    """Return the quantised latents [B, D, T] of the first codebook, and those of the others."""
    quantiser = model.quantizer
    return quantiser.rvq_first(latents, model.frame_rate), quantiser.rvq_rest(
        latents, model.frame_rate
    )
