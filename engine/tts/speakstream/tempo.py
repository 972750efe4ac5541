"""A speaking rate for a system without one: its spectrum is stretched before the vocoder (ours).

Columns are read with another step and interpolated linearly. The vocoder takes the pitch from the
columns, so the pitch stays. Invariant: the result depends on the columns and their steps alone.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

SLOWEST, FASTEST = 0.5, 1.8  # steps; beyond these, speech falls apart
LEAST, MOST = 0.8, 1.25  # limits of the correction by the measured rate
SLOWEST_RATE, FASTEST_RATE = 0.7, 1.4  # times the own pace: the range that is offered


def step_for(wanted: float, pace: float, measured: float | None) -> float:
    """Return the step, the number of columns read for each column played, for speech at `wanted`
    SPS. `pace`: the usual rate of the speech; `measured`: its recent rate (None = not known yet).
    """
    correction = 1.0 if not measured else min(max(pace / measured, LEAST), MOST)
    return clamped(wanted / pace * correction)


def clamped(step: float) -> float:
    """Clamp the step to its range."""
    return min(max(step, SLOWEST), FASTEST)


class Tempo:
    """Resamples the columns of one utterance in time."""

    def __init__(self) -> None:
        self._before: Tensor | None = None  # the last column that came
        self._place = 1.0  # of the next output, between the column before (0) and the new one (1)

    def push(self, columns: Tensor, step: float) -> Iterator[Tensor]:
        """Add columns [T, V]. Yield the columns [V] that are due; at step 1 these are the same."""
        for column in columns:
            before = column if self._before is None else self._before
            while self._place <= 1.0:
                yield torch.lerp(before, column, self._place)
                self._place += step
            self._place -= 1.0
            self._before = column
