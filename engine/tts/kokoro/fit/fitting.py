"""The steps of a fit: gradient descent on the timbre, until the decoder reproduces the clip.

One timbre and a shift of it for each norm are trainable. So gain and bias of a layer move together,
as they do between real voices; free gains and biases had a lower loss and sounded worse (P.808 2.95
instead of 4.08). Invariant: the same material gives the same numbers, also after a checkpoint,
because each step draws its stretch of the clip from its own number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

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
_STYLE_RATE, _SHIFT_RATE = 0.02, 0.01
_BETAS: Final = (0.9, 0.95)
_WARMING: Final = 5  # steps
_LAST: Final = 0.1  # of the rate
_RESOLUTIONS: Final = ((2048, 300, 80), (1024, 240, 80), (512, 120, 40))  # size, hop, mel bands
_LOWEST_HZ: Final = 50.0
_HIGH_BANDS: Final = 8
_HIGH_WEIGHT: Final = 0.3
_TOP_HZ: Final = 11_000.0  # a clip with sound up to here says enough of the octave above
_MEAN_WEIGHT: Final = 1.0
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


@dataclass
class FitState:
    """State of a fit after a step."""

    step: int
    timbre: Tensor  # [128]
    shift: Tensor  # [N, 128]
    optimiser: torch.optim.Adam

    @classmethod
    def from_style(cls, style: Floats, norms: int) -> "FitState":
        """Start at the timbre of a style [1, 256]."""
        timbre = timbre_of(style).requires_grad_()
        shift = torch.zeros(norms, len(timbre)).requires_grad_()
        groups: list[dict[str, Any]] = [{"params": [timbre]}, {"params": [shift]}]
        return cls(0, timbre, shift, torch.optim.Adam(groups, betas=_BETAS))

    def packed(self) -> bytes:
        """Return a checkpoint."""
        tensors = {"timbre": self.timbre, "shift": self.shift, "step": torch.tensor([self.step])}
        for number, values in self.optimiser.state_dict()["state"].items():
            tensors |= {f"{number} {name}": each for name, each in values.items()}
        return pack({name: each.detach().contiguous() for name, each in tensors.items()})

    def restore(self, checkpoint: bytes) -> bool:
        """Load a checkpoint. Returns False, without a change, if it is damaged."""
        try:
            tensors = read_tensors(checkpoint)
            whole = all(bool(each.isfinite().all()) for each in tensors.values())
            fits = tensors["timbre"].shape == self.timbre.shape
            if not (whole and fits and tensors["shift"].shape == self.shift.shape):
                return False
            names = ("step", "exp_avg", "exp_avg_sq")
            state = {n: {name: tensors[f"{n} {name}"] for name in names} for n in (0, 1)}
            step = int(tensors["step"])
        except (SafetensorError, KeyError, ValueError, RuntimeError):
            return False
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
        with torch.no_grad():
            self.timbre.copy_(tensors["timbre"])
            self.shift.copy_(tensors["shift"])
        self.step = step
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
        for group, rate in zip(progress.optimiser.param_groups, _RATES, strict=True):
            turned = (1 + np.cos(np.pi * step / STEPS)) / 2
            group["lr"] = rate * min(1, (step + 1) / _WARMING) * (_LAST + (1 - _LAST) * turned)
        middle = int(np.random.default_rng(step).choice(places))
        first = int(np.clip(middle - _SIZE // 2 - _MARGIN, 0, last))
        decoder.set_shift(progress.shift)
        said = decoder(*_cut(inputs, first), progress.timbre)
        loss = loss_of(said, first)
        progress.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        progress.optimiser.step()
        progress.step = step + 1
        yield float(loss.detach())


_RATES: Final = (_STYLE_RATE, _SHIFT_RATE)


def _cut(inputs: list[Tensor], first: int) -> list[Tensor]:
    """Cut out a stretch and its margins."""
    last = first + _SIZE + 2 * _MARGIN
    features, curves, spectrum = inputs
    fine = slice(FINE_ROWS * first, FINE_ROWS * last + 1)
    return [features[..., first:last], curves[..., first:last], spectrum[..., fine]]


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
    return apart.abs().mean() + _MEAN_WEIGHT * apart.mean(0).abs().mean()
