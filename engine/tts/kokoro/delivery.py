"""A person's delivery, which a style does not contain: median and spread of the pitch, pace, and
colour (spectral envelope).

Invariant: the numbers of a voice are within bounds at which Kokoro speaks, or the voice is refused.
So a file from elsewhere cannot make noise at full scale.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

VOICED_HZ: Final = 50.0  # a lower value marks an unvoiced step
TAPS: Final = 320  # of the equaliser: 128 lose a fifth of its gain in likeness, 32 nearly all
SPREADS: Final = (0.7, 1.3)
SLOWNESS: Final = (0.85, 1.2)
_HIGHEST_HZ: Final = 600.0
# Shape, minimum and maximum of a voice's tensors, by name.
_BOUNDS: Final = {
    "pitch offset": ((1,), -4.0, 4.0),
    "pitch spread": ((1,), *SPREADS),
    "slowness": ((1,), *SLOWNESS),
    "equaliser": ((TAPS,), -4.0, 4.0),
}


@dataclass(frozen=True)
class Delivery:
    """Changes to Kokoro's speech. The natural logarithm p of the pitch in Hz becomes `offset` +
    `spread` * p; `slowness` is a factor on durations without a requested rate; `taps` filter the
    samples.
    """

    offset: float = 0.0
    spread: float = 1.0
    slowness: float = 1.0
    taps: Floats | None = None

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, npt.NDArray[np.generic]]) -> Self:
        """Read the delivery from a voice's tensors; a missing tensor changes nothing. ValueError
        for a value out of bounds.
        """
        found: list[Any] = []
        for name, (shape, least, most) in _BOUNDS.items():
            values = tensors.get(name)
            if values is not None and not _is_within(values, shape, least, most):
                raise ValueError(f"the {name} is out of bounds")
            found.append(None if values is None else np.asarray(values, np.float32))
        numbers = [None if each is None else float(each[0]) for each in found[:3]]
        offset, spread, slowness = (
            usual if each is None else each for each, usual in zip(numbers, (0, 1, 1), strict=True)
        )
        return cls(offset, spread, slowness, found[3])

    def tensors(self) -> dict[str, Floats]:
        """Return the tensors that of_tensors() reads."""
        values: list[Any] = [[self.offset], [self.spread], [self.slowness], self.taps]
        named = zip(_BOUNDS, values, strict=True)
        return {name: np.asarray(each, np.float32) for name, each in named if each is not None}

    @classmethod
    def between(cls, parts: Sequence[tuple[Self, float]]) -> Self:
        """Mix several deliveries, whose shares add up to 1."""

        def mean(of: Callable[[Self], Any]) -> Any:
            return sum(share * of(each) for each, share in parts)

        flat = np.eye(1, TAPS, dtype=np.float32)[0]
        taps = mean(lambda each: flat if each.taps is None else each.taps)
        return cls(
            float(mean(lambda each: each.offset)),
            float(mean(lambda each: each.spread)),
            float(mean(lambda each: each.slowness)),
            None if all(each.taps is None for each, _ in parts) else np.asarray(taps, np.float32),
        )

    def pitched(self, pitch: Floats) -> Floats:
        """Return a pitch track moved to this person's pitch; unvoiced values do not change."""
        if (self.offset, self.spread) == (0.0, 1.0):
            return pitch
        moved = np.exp(self.offset + self.spread * np.log(np.maximum(pitch, 1.0)))
        moved = np.clip(moved, VOICED_HZ + 1, _HIGHEST_HZ)
        return np.where(pitch > VOICED_HZ, moved, pitch).astype(np.float32)

    def coloured(self, pcm: Floats, before: Floats) -> Floats:
        """Filter samples [S]; `before`: the available unfiltered samples before them. Each result
        depends only on the last TAPS samples, so pieces join.
        """
        if self.taps is None:
            return pcm
        before = before[-TAPS + 1 :]
        padded = np.pad(np.concatenate([before, pcm]), (TAPS - 1 - len(before), 0))
        return np.convolve(padded, self.taps, "valid").astype(np.float32, copy=False)


AS_IT_IS: Final = Delivery()


def _is_within(
    values: npt.NDArray[np.generic], shape: tuple[int, ...], least: float, most: float
) -> bool:
    if values.shape != shape or not np.issubdtype(values.dtype, np.floating):
        return False
    numbers = np.asarray(values, np.float32)  # as the bounds are compared, so they are within
    return bool(np.all((numbers >= least) & (numbers <= most)))
