"""The small codec's decoder for speech: a source of pulses and noise behind filters.

    25 Hz latents ─▶ 100 Hz columns ─▶ pitch ─▶ pulses ─▶ minimum-phase filter ─┐
                                    └─▶ two envelopes     noise ─▶ filter ───────┴─▶ samples

Spectral decoders of this size blur pitch and phase; here both are exact by construction (the
source-filter model; with learned filters in DDSP, Engel et al., 2020). Invariant: everything is
causal, and piece by piece equals all at once, the noise included.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple, cast

import torch
from moshi.modules.streaming import State, StreamingModule
from torch import Tensor, nn

from engine.codec.small_parts import (
    HOP,
    LARGEST_LOG,
    SAMPLE_RATE,
    UPSAMPLING,
    Columns,
    OverlapAdd,
    Stft,
)
from engine.nn.mel import mel_edges

WINDOW: Final = 2 * HOP  # of the source; half of it lies ahead of the column's samples
FFT: Final = 2 * WINDOW  # twice as long, so that the filter can ring
BINS: Final = FFT // 2 + 1
PULSE_BANDS: Final = 96
NOISE_BANDS: Final = 48
MIDDLE_HZ: Final = 130.0  # pitch of an untrained decoder
LOWEST_HZ, HIGHEST_HZ = 50.0, 600.0
FIRST_LOG: Final = -4.0  # gain of an untrained filter, near that of speech
NOISE_SAMPLES: Final = 1 << 16
DEFAULT_SEED: Final = 24


class Shape(NamedTuple):
    """The sound to make, 100 columns a second: log of the pitch in Hz [B, T], log gains of the
    pulses [B, T, PULSE_BANDS] and of the noise [B, T, NOISE_BANDS].
    """

    pitch: Tensor
    pulses: Tensor
    noise: Tensor


@dataclass
class _SourceState(State):
    """Periods of the pitch so far [B], the part of the last pulse that falls on the next sample
    [B], and the samples of noise so far [B]. The tensors never move.
    """

    turns: Tensor
    late: Tensor
    offset: Tensor

    def reset(self, reset_mask: Tensor) -> None:
        super().reset(reset_mask)
        for values in (self.turns, self.late, self.offset):
            values.masked_fill_(reset_mask, 0)


class Source(StreamingModule[_SourceState]):
    """Pitch [B, T] in Hz -> pulses and noise, [B, 1, HOP T] each, both of power 1."""

    def __init__(self) -> None:
        super().__init__()
        dice = torch.Generator().manual_seed(DEFAULT_SEED)
        noise = torch.randn(NOISE_SAMPLES, generator=dice)
        self.register_buffer("noise", noise, persistent=False)

    def _init_streaming_state(self, batch_size: int) -> _SourceState:
        device = self.get_buffer("noise").device
        turns = torch.zeros(batch_size, dtype=torch.float64, device=device)
        return _SourceState(batch_size, device, turns, turns.float(), turns.long())

    def forward(self, pitch: Tensor) -> tuple[Tensor, Tensor]:
        state = self._streaming_state or self._init_streaming_state(len(pitch))
        return self._pulses(pitch, state)[:, None], self._noise(pitch, state)[:, None]

    def _pulses(self, pitch: Tensor, state: _SourceState) -> Tensor:
        """One pulse per period, split between the two samples it falls between, and one sample
        late."""
        steps = (pitch.double() / SAMPLE_RATE).repeat_interleave(HOP, dim=1)
        turns = state.turns[:, None] + steps.cumsum(dim=1)
        whole = turns.floor()
        before = torch.cat((state.turns[:, None].floor(), whole[:, :-1]), dim=1)
        ago = ((turns - whole) / steps).clamp(max=1.0)  # samples since the period began
        sizes = torch.where(whole > before, steps.rsqrt(), torch.zeros_like(steps))
        late = (sizes * (1 - ago)).float()
        pulses = (sizes * ago).float() + torch.cat((state.late[:, None], late[:, :-1]), dim=1)
        if self.is_streaming:
            state.turns.copy_(turns[:, -1] - whole[:, -1])
            state.late.copy_(late[:, -1])
        return pulses

    def _noise(self, pitch: Tensor, state: _SourceState) -> Tensor:
        count = HOP * pitch.shape[1]
        offset = state.offset
        if self.training:  # windows of a batch begin anywhere in an utterance
            offset = torch.randint(NOISE_SAMPLES, (len(pitch),), device=pitch.device)
        places = (offset[:, None] + torch.arange(count, device=pitch.device)) % NOISE_SAMPLES
        if self.is_streaming:
            state.offset.copy_((offset + count) % NOISE_SAMPLES)
        noise: Tensor = self.get_buffer("noise")[places]
        return noise


class SourceDecoder(Columns):
    """Latents [B, D, T] at 25 Hz -> samples [B, 1, 960 T]; see Columns for other entries."""

    def __init__(
        self, width: int, blocks: int, entry: int | None = None, factor: int = UPSAMPLING
    ) -> None:
        super().__init__(width, blocks, entry, factor)
        self.leave = nn.Linear(width, 1 + PULSE_BANDS + NOISE_BANDS)
        with torch.no_grad():
            self.leave.bias.fill_(FIRST_LOG)[0] = 0.0
        self.source = Source()
        self.pulse_frames = Stft(WINDOW, FFT)
        self.noise_frames = Stft(WINDOW, FFT)
        self.overlap = OverlapAdd(torch.ones(FFT))  # Hann windows half apart add up to 1
        self.register_buffer("pulse_bins", _between(PULSE_BANDS), persistent=False)
        self.register_buffer("noise_bins", _between(NOISE_BANDS), persistent=False)

    def forward(self, latents: Tensor) -> Tensor:
        shape = self.shape(latents)
        return self.samples(shape, shape.pitch)

    def shape(self, latents: Tensor) -> Shape:
        """Return the shape that the latents describe."""
        out = self.leave(self.columns(latents)).float()
        pitch, pulses, noise = out.split((1, PULSE_BANDS, NOISE_BANDS), dim=-1)
        return Shape(pitch[..., 0] + torch.tensor(MIDDLE_HZ).log(), pulses, noise)

    def samples(self, shape: Shape, pitch: Tensor) -> Tensor:
        """Return samples [B, 1, HOP T] of a shape; `pitch` (log Hz [B, T]) is that of the shape or,
        in training, the true one. Column t sets the pitch from sample HOP (t + 1) on.
        """
        pulses, noise = self.source(pitch.exp().clamp(LOWEST_HZ, HIGHEST_HZ))
        gains = (shape.pulses @ self.get_buffer("pulse_bins")).clamp(max=LARGEST_LOG)
        breath = (shape.noise @ self.get_buffer("noise_bins")).clamp(max=LARGEST_LOG)
        spectra = self.pulse_frames(pulses) * minimum_phase(gains)
        spectra = spectra + self.noise_frames(noise) * breath.exp()
        return cast(Tensor, self.overlap(torch.fft.irfft(spectra, FFT)))


def minimum_phase(log_gains: Tensor) -> Tensor:
    """Return the spectrum of the causal filter with these log gains [..., BINS] and the shortest
    response, by folding the cepstrum (Oppenheim and Schafer, Discrete-Time Signal Processing).
    """
    cepstrum = torch.fft.irfft(log_gains, FFT)
    middle = FFT // 2
    folded = torch.cat(
        (cepstrum[..., :1], 2 * cepstrum[..., 1:middle], cepstrum[..., middle : middle + 1]), dim=-1
    )
    spectrum: Tensor = torch.fft.rfft(folded, FFT)
    return spectrum.exp()


def _between(bands: int) -> Tensor:
    """Return the matrix [bands, BINS] that interpolates values at the bands' centres linearly."""
    middles = mel_edges(bands, 0.0, SAMPLE_RATE / 2)[1:-1]
    bins = torch.linspace(0, SAMPLE_RATE / 2, BINS)
    upper = torch.searchsorted(middles, bins).clamp(1, bands - 1)
    share = ((bins - middles[upper - 1]) / (middles[upper] - middles[upper - 1])).clamp(0, 1)
    weights = torch.zeros(bands, BINS)
    places = torch.arange(BINS)
    weights[upper - 1, places] = 1 - share
    weights[upper, places] += share
    return weights
