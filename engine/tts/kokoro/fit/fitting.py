"""The steps of a fit: gradient descent on the timbre, until the decoder reproduces the clip.

One timbre and a shift of it for each norm are trainable. So gain and bias of a layer move together,
as they do between real voices; free gains and biases had a lower loss and sounded worse (P.808 2.95
instead of 4.08). Invariant: the same material gives the same numbers, also after a checkpoint,
because each step draws its stretch of the clip from its own number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as read_tensors
from safetensors.torch import save as pack
from torch import Tensor

from engine.tts.base import Pcm
from engine.tts.kokoro.fit.decoder import TorchDecoder, inputs_of, timbre_of
from engine.tts.kokoro.fit.measuring import mel_filters
from engine.tts.kokoro.natural import NaturalSpeech
from engine.tts.kokoro.parts import Floats
from engine.tts.kokoro.source import FINE_ROWS, FRAME, SAMPLE_RATE, Source

STEPS: Final = 60
KEEP_EVERY: Final = 10  # steps
_SIZE, _MARGIN = 32, 4  # frames of a stretch, and those at each side that are not judged
_RATE: Final = 0.01
_TIMBRE_STRIDE: Final = 2.0  # of the timbre, against 1 of a shift
_BETAS: Final = (0.9, 0.95)
_WARMING: Final = 5  # steps
_LAST: Final = 0.1  # of the rate
_RESOLUTIONS: Final = ((2048, 300, 80), (1024, 240, 80), (512, 120, 40))  # size, hop, mel bands
_LOWEST_HZ: Final = 50.0
_HIGH_BANDS: Final = 8
_HIGH_WEIGHT: Final = 0.3
_TOP_HZ: Final = 11_000.0  # a clip with sound up to here says enough of the octave above
_FLOOR: Final = 1e-3  # of the loud frames' level in a band


@dataclass(frozen=True)
class Material:
    """The target of a fit. `clip`: the recording at 24 kHz; `speech`: its sounds, pitch and energy.
    `before`: the same speech by the blend, which is the target above the clip's `highest_hz`.
    """

    clip: Pcm
    before: Pcm
    speech: NaturalSpeech
    highest_hz: float


class FitState:
    """State of a fit: the moves [1 + N, 128] of the timbre and of the N norms' shifts, and what the
    optimiser knows of them.
    """

    def __init__(self, style: Floats, norms: int) -> None:
        """Start at the timbre of a style [1, 256]."""
        self._start = timbre_of(style)
        self.moves = torch.zeros(1 + norms, len(self._start), requires_grad=True)
        self.optimiser = torch.optim.Adam([self.moves], betas=_BETAS)

    @property
    def step(self) -> int:
        """Number of the steps taken."""
        return int(self.optimiser.state[self.moves].get("step", 0))

    def tensors(self) -> tuple[Tensor, Tensor]:
        """Return the timbre [128] and the shifts [N, 128]."""
        return self._start + _TIMBRE_STRIDE * self.moves[0], self.moves[1:]

    def packed(self) -> bytes:
        """Return a checkpoint."""
        return pack({"moves": self.moves.detach(), **self.optimiser.state[self.moves]})

    def restore(self, checkpoint: bytes) -> bool:
        """Load a checkpoint. Returns False, without a change, if it is damaged."""
        try:
            tensors = read_tensors(checkpoint)
        except SafetensorError:
            return False
        shapes = dict.fromkeys(("moves", "exp_avg", "exp_avg_sq"), self.moves.shape)
        fits = {name: each.shape for name, each in tensors.items()} == {**shapes, "step": ()}
        if not fits or not all(bool(each.isfinite().all()) for each in tensors.values()):
            return False
        self.moves.data.copy_(tensors.pop("moves"))
        self.optimiser.state[self.moves] = tensors
        return True


def run(
    decoder: TorchDecoder, source: Source, material: Material, progress: FitState
) -> Iterator[float]:
    """Do the remaining steps; yield the loss of each."""
    speech = material.speech
    inputs = inputs_of(source, speech)
    loss_of = _Loss(material)
    sounding = (speech.energy > 0).reshape(-1, 2).any(1)
    places = np.flatnonzero(np.convolve(sounding, np.ones(9), "same"))
    last = max(0, len(speech.features) - _SIZE - 2 * _MARGIN)
    for step in range(progress.step, STEPS):
        turned = (1 + np.cos(np.pi * step / STEPS)) / 2
        rate = _RATE * min(1, (step + 1) / _WARMING) * (_LAST + (1 - _LAST) * turned)
        progress.optimiser.param_groups[0]["lr"] = rate
        middle = int(np.random.default_rng(step).choice(places))
        first = int(np.clip(middle - _SIZE // 2 - _MARGIN, 0, last))
        timbre, shift = progress.tensors()
        decoder.set_shift(shift)
        loss = loss_of(decoder(*_cut(inputs, first), timbre), first)
        progress.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        progress.optimiser.step()
        yield float(loss.detach())


def _cut(inputs: list[Tensor], first: int) -> list[Tensor]:
    """Cut out a stretch and its margins; the spectrum has one row more."""
    last, rows = first + _SIZE + 2 * _MARGIN, (1, 1, FINE_ROWS)
    cuts = (slice(n * first, n * last + (n == FINE_ROWS)) for n in rows)
    return [each[..., cut] for each, cut in zip(inputs, cuts, strict=True)]


class _Loss:
    """Distance of log mel levels at three resolutions: from the clip up to its bandwidth, from the
    blend above it.
    """

    def __init__(self, material: Material) -> None:
        self._clip, self._before = (torch.tensor(x) for x in (material.clip, material.before))
        self._top = min(material.highest_hz, _TOP_HZ + 900)
        self._floors = [
            _FLOOR * torch.quantile(low, 0.95, dim=0) + 1e-9 for low, _ in self._levels(self._clip)
        ]

    def __call__(self, said: Tensor, first: int) -> Tensor:
        """Return the loss of the samples of a stretch with its margins, from frame `first` on."""
        inner = slice((first + _MARGIN) * FRAME, (first + _MARGIN + _SIZE) * FRAME)
        said = said[_MARGIN * FRAME : -_MARGIN * FRAME]
        all_levels = (self._levels(x) for x in (said, self._clip[inner], self._before[inner]))
        total = torch.zeros(())
        for ours, theirs, before, floor in zip(*all_levels, self._floors, strict=True):
            total = total + _distance(ours[0] + floor, theirs[0] + floor) / 3
            if self._top < _TOP_HZ:
                total = total + _HIGH_WEIGHT * _distance(ours[1] + 1e-6, before[1] + 1e-6) / 3
        return total

    def _levels(self, pcm: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the levels below the clip's bandwidth and above it, at each resolution."""
        for size, hop, bands in _RESOLUTIONS:
            window = torch.hann_window(size)
            spectra = torch.stft(
                pcm, size, hop, window=window, return_complex=True, pad_mode="constant"
            )
            power = (spectra.real.square() + spectra.imag.square()).T / window.square().sum()
            ends = ((bands, _LOWEST_HZ, self._top), (_HIGH_BANDS, self._top, SAMPLE_RATE / 2))
            low, high = (torch.tensor(mel_filters(n, size, SAMPLE_RATE, *hz)) for n, *hz in ends)
            yield power @ low, power @ high


def _distance(one: Tensor, other: Tensor) -> Tensor:
    """Return the distance of levels [T, bands] and of their means over time, which do not depend on
    the exact alignment.
    """
    apart = one.log() - other.log()
    return apart.abs().mean() + apart.mean(0).abs().mean()
