"""WavTokenizer's decoder (Ji et al., 2024), from scratch: vectors of one codebook, 75 a second, to
samples at 24 kHz.

    vectors ─▶ convolutions around attention ─▶ ConvNeXt ─▶ magnitude, phase ─▶ inverse FFT

It is not causal: a token's sound depends on all tokens it is decoded with. A stream decodes windows
that overlap: BEHIND tokens that were already output, the new ones, and AHEAD tokens that are output
with the next window, cross-faded.
Invariant: a stream's samples depend on its pieces alone; forward never writes to the module.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.audio.finishing import Ending
from engine.codec.small_parts import KERNEL, SAMPLE_RATE, ConvNext
from engine.nn.weights_file import load_network, read_shape
from engine.settings.rules import Range
from engine.translatable import Translatable

HOP: Final = 320  # samples of a token
FFT: Final = 1280  # also the window's length
# What the convolutions around a token reach is 49 tokens; attention and the norms hear a window.
BEHIND: Final = 50
AHEAD: Final = 8  # 107 ms of latency
AHEAD_MS: Final = round(AHEAD * HOP * 1000 / SAMPLE_RATE)
FADE: Final = HOP // 2  # samples in which a window gives way to the next, 7 ms
_GROUPS: Final = 32
_NORM_EPS: Final = 1e-6
_LARGEST_MAGNITUDE: Final = 100.0
_CROPPED: Final = (FFT - HOP) // 2  # at both ends, so that a token has HOP samples


@dataclass(frozen=True)
class WavTokenizerConfig:
    """`entry` numbers a vector; `blocks` ConvNeXt blocks of `width`."""

    entry: Annotated[int, Range(1, 4096)] = 512
    width: Annotated[int, Range(1, 4096)] = 768
    blocks: Annotated[int, Range(1, 64)] = 12


class WavTokenizerDecoder(nn.Module):
    """The weights."""

    def __init__(self, config: WavTokenizerConfig) -> None:
        super().__init__()
        width = config.width
        self.enter = nn.Conv1d(config.entry, width, KERNEL, padding=KERNEL // 2)
        self.around = nn.Sequential(
            *(_Residual(width), _Residual(width), _Attention(width), _Residual(width)),
            *(_Residual(width), _group_norm(width)),
        )
        self.norm = nn.LayerNorm(width, eps=_NORM_EPS)
        self.blocks = nn.ModuleList(_ConvNext(width) for _ in range(config.blocks))
        self.last_norm = nn.LayerNorm(width, eps=_NORM_EPS)
        self.leave = nn.Linear(width, FFT + 2)
        self.register_buffer("window", torch.hann_window(FFT), persistent=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """[T, entry] -> samples [HOP T]."""
        x = self.around(self.enter(vectors.t()[None]))  # [1, D, T]
        x = self.norm(x.transpose(1, 2)).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        logs, phases = self.leave(self.last_norm(x.transpose(1, 2)))[0].chunk(2, dim=-1)
        magnitudes = logs.exp().clamp(max=_LARGEST_MAGNITUDE)
        return self._samples(torch.polar(magnitudes, phases))

    def open(self) -> "WindowStream":
        """Return a stream on this decoder."""
        return WindowStream(self)

    def _samples(self, spectra: Tensor) -> Tensor:
        """Add the windows of spectra [T, FFT / 2 + 1], divided by the windows' power."""
        window = self.get_buffer("window")
        pieces = torch.fft.irfft(spectra, FFT) * window
        both = torch.stack((pieces, window.square().expand_as(pieces)))  # [2, T, FFT]
        length = (len(spectra) - 1) * HOP + FFT
        added = functional.fold(both.transpose(1, 2), (1, length), (1, FFT), stride=(1, HOP))
        samples, power = added[:, 0, 0, _CROPPED : length - _CROPPED]
        out: Tensor = samples / power
        return out


class _ConvNext(ConvNext):
    """The block of the small codec, but not causal."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.depthwise = nn.Conv1d(width, width, KERNEL, padding=KERNEL // 2, groups=width)
        self.norm = nn.LayerNorm(width, eps=_NORM_EPS)


class _Residual(nn.Module):
    """Two convolutions, each behind a norm and a SiLU."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(_group_norm(width), nn.SiLU(), nn.Conv1d(width, width, 3, padding=1)),
            *(_group_norm(width), nn.SiLU(), nn.Conv1d(width, width, 3, padding=1)),
        )

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.layers(x)
        return out


class _Attention(nn.Module):
    """One head over the complete window."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = _group_norm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """[1, D, T] -> [1, D, T]."""
        queries, keys, values = self.qkv(self.norm(x).transpose(1, 2)).chunk(3, dim=-1)
        mixed = functional.scaled_dot_product_attention(queries, keys, values)
        out: Tensor = x + self.output(mixed).transpose(1, 2)
        return out


def _group_norm(width: int) -> nn.GroupNorm:
    return nn.GroupNorm(_GROUPS, width, eps=_NORM_EPS)


class WindowStream:
    """Samples of one sentence after the other. It holds AHEAD tokens back until end()."""

    def __init__(self, decoder: WavTokenizerDecoder) -> None:
        self._decoder = decoder
        self._begin()

    def _begin(self) -> None:
        self._vectors: list[Tensor] = []  # pieces [T, entry]: those behind, and the new ones
        self._given = 0  # of these tokens, whose samples were given out
        self._next = torch.zeros(FADE)  # how the last window went on; silence before the first
        self._ending = Ending(SAMPLE_RATE)

    @torch.inference_mode()
    def decode(self, columns: Tensor) -> Tensor:
        """Take the next vectors [T, entry]; return the samples [HOP n] that are now final."""
        self._vectors.append(columns)
        pcm = self._until(sum(map(len, self._vectors)) - AHEAD)
        self._ending.hear(pcm.numpy())
        return pcm

    @torch.inference_mode()
    def end(self) -> Tensor:
        """Return the samples held back, with a fade-out. The next vector begins a sentence."""
        pcm = self._until(sum(map(len, self._vectors)))
        self._ending.hear(pcm.numpy())
        rest = torch.cat((pcm, torch.from_numpy(self._ending.sound())))
        self._begin()
        return rest

    def _until(self, token: int) -> Tensor:
        """Return the samples of the tokens before this one that were not returned yet."""
        if token <= self._given:
            return torch.zeros(0)
        vectors = torch.cat(self._vectors)
        pcm: Tensor = self._decoder(vectors).float().cpu()
        begin, end = self._given * HOP, token * HOP
        share = torch.linspace(0, 1, FADE)
        pcm[begin : begin + FADE].lerp_(self._next, 1 - share)
        self._next = pcm[end : end + FADE].clone()
        dropped = max(0, token - BEHIND)
        self._vectors, self._given = [vectors[dropped:]], token - dropped
        return pcm[begin:end]


def load_wavtokenizer(file: Path, entry: int, hint: str) -> WavTokenizerDecoder:
    """Read a converted decoder, for vectors of `entry` numbers. ModelError names the fault."""

    def decoder_of(text: str) -> WavTokenizerDecoder:
        config = read_shape(WavTokenizerConfig, text)
        if config.entry != entry or config.width % _GROUPS:
            raise ValueError(f"a decoder of {config} for vectors of {entry} numbers")
        return WavTokenizerDecoder(config)

    return load_network(file, decoder_of, Translatable("The codec file"), hint)
