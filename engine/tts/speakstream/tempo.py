"""A speaking rate for a system without one: its spectrum is stretched before the vocoder (ours).

Columns are read at another step, interpolated linearly; the vocoder takes the pitch from the
columns, so it stays.
Invariant: the result depends on the columns and their steps alone.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

SLOWEST, FASTEST = 0.5, 1.8  # steps; beyond these, speech falls apart
LEAST, MOST = 0.8, 1.25  # limits of the correction by the measured rate
SLOWEST_RATE, FASTEST_RATE = 0.7, 1.4  # times the own pace: the range that is offered


def step_for(wanted: float, pace: float, measured: float | None) -> float:
    """Return the columns to read for each column that sounds, to speak at `wanted` SPS: `pace` is
    the usual rate of the speech, `measured` its rate lately (None = not known yet).
    """
    correction = 1.0 if not measured else min(max(pace / measured, LEAST), MOST)
    return clamped(wanted / pace * correction)


def clamped(step: float) -> float:
    """Clamp the step to its range."""
    return min(max(step, SLOWEST), FASTEST)


class Tempo:
    """Resamples the columns of one utterance to another step."""

    def __init__(self) -> None:
        self._before: Tensor | None = None  # the last column that came
        self._place = 1.0  # of the next output, between the column before (0) and the new one (1)

    def push(self, columns: Tensor, step: float) -> Iterator[Tensor]:
        """Add columns [T, V]; yield the columns [V] that are due. At step 1 they are the same."""
        for column in columns:
            before = column if self._before is None else self._before
            while self._place <= 1.0:
                yield torch.lerp(before, column, self._place)
                self._place += step
            self._place -= 1.0
            self._before = column
