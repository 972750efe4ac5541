"""A rate for a system that has none: spectra are made longer or shorter before they sound (ours).

Columns are read at another step, straight lines between them; the vocoder's pitch is that of the
columns, so it does not move.
Invariant: what comes out depends on the columns and their steps alone.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

SLOWEST, FASTEST = 0.5, 1.8  # steps between which speech is still speech
LEAST, MOST = 0.8, 1.25  # what measuring may add to the rate's own step
SLOWEST_RATE, FASTEST_RATE = 0.7, 1.4  # of the own pace: the range that is promised


def step_for(wanted: float, pace: float, measured: float | None) -> float:
    """Columns to read for one that sounds: for `wanted` SPS from speech whose usual rate is `pace`
    and was `measured` of late (None = not yet).
    """
    correction = 1.0 if not measured else min(max(pace / measured, LEAST), MOST)
    return clamped(wanted / pace * correction)


def clamped(step: float) -> float:
    """The nearest step that is still speech."""
    return min(max(step, SLOWEST), FASTEST)


class Tempo:
    """Columns of one utterance at another step."""

    def __init__(self) -> None:
        self._before: Tensor | None = None  # the last column that came
        self._place = 1.0  # of the next column to give: 0 at the one before, 1 at the new one

    def push(self, columns: Tensor, step: float) -> Iterator[Tensor]:
        """The columns [V] that sound now that these [T, V] have come; the very same at step 1."""
        for column in columns:
            before = column if self._before is None else self._before
            while self._place <= 1.0:
                yield torch.lerp(before, column, self._place)
                self._place += step
            self._place -= 1.0
            self._before = column
