"""How fast a delay creeps, as that of two devices whose clocks run apart does.

A loop of second order: the clocks' difference is learnt, so that in the end nothing is left to
correct. It is slow, for whoever predicts an echo by what it has learnt of a room is best served by
a delay that stands still. Without it, clocks 100 ppm apart left 12 dB more of a loud echo where a
voice was suspected, and the assistant took itself for a person every two minutes
(tests/benchmarks/barge_in.py).
Invariant: a step is a small part of a sample, whatever was answered.
"""

from typing import Final

_PACE: Final = 0.1  # 1/s: an error is made up for in ten seconds
_MOST: Final = 8.0  # samples of error that count: an answer may be wrong, and clocks are steady
_FASTEST: Final = 8.0  # samples a second that clocks may drift: 500 ppm at 16 kHz
_ANSWER_S: Final = 0.26  # for which an answer is believed; then only what was learnt


class DriftTracker:
    """Takes errors in samples, gives steps in samples."""

    def __init__(self, step_s: float) -> None:
        """`step_s`: seconds from step to step."""
        self._step_s = step_s
        self._drift = 0.0  # samples a second, as learnt
        self._pull = 0.0  # samples a second, from the last answer
        self._left = 0  # steps for which it pulls

    def correct(self, error: float) -> None:
        """The delay is so many samples longer than it is taken to be; told every _ANSWER_S."""
        error = min(max(error, -_MOST), _MOST)
        drift = self._drift + _PACE**2 * error * _ANSWER_S
        self._drift = min(max(drift, -_FASTEST), _FASTEST)
        self._pull = 2 * _PACE * error
        self._left = round(_ANSWER_S / self._step_s)

    def step(self) -> float:
        """By how many samples to move now."""
        self._left = max(0, self._left - 1)
        return (self._drift + (self._pull if self._left else 0.0)) * self._step_s
