"""Control of the speaking rate: a histogram of duration tokens for each rate, and the bias towards
it; and another speed of the samples at the same pitch, as they come.

A rate's target is a histogram of duration tokens; the last frames have another histogram. Their
ratio is a bias on the model's own distribution (VoXtream2, 3.5). Invariant: DurationState is the
histogram of the last `window` tokens plus one in every bin. The output of Stretch depends on the
samples and their speeds, not on the division into pieces.
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from engine.settings.rules import Range
from engine.tts.base import Pcm


@dataclass(frozen=True)
class RateTarget:
    """The target of a rate: counts of each duration token, strength of the bias,
    semantic guidance.
    """

    counts: Annotated[tuple[int, ...], Range(1, 1_000_000)]
    weight: Annotated[float, Range(0, 1000)]
    guidance: Annotated[float, Range(0, 100)]


RATE: Final = Range(0.1, 100)  # SPS, of a table
# Of a bias in common logarithms. The paper has natural ones; the first weights have these.
PER_DECADE: Final = 1 / math.log(10)

PRIOR: Final = 8.0  # syllables for which the network is believed to keep its rate
HORIZON: Final = 6.0  # syllables of delay at which the playing speed is doubled
LEAST_HURRY, MOST_HURRY = 0.6, 1.6

# Released with the first weights, by rate in syllables per second.
RATE_TABLE = {
    1.0: RateTarget((52, 15, 1, 2, 1, 3), 3.0, 1.25),
    2.0: RateTarget((44, 24, 2, 2, 1, 1), 3.0, 1.25),
    3.0: RateTarget((24, 23, 2, 3, 1, 1), 5.0, 1.5),
    4.0: RateTarget((40, 59, 5, 12, 1, 2), 5.0, 1.5),
    5.0: RateTarget((21, 43, 4, 13, 1, 2), 7.0, 2.0),
    6.0: RateTarget((27, 69, 6, 30, 2, 7), 7.0, 2.0),
    7.0: RateTarget((6, 18, 2, 9, 1, 3), 10.0, 2.5),
}


def rate_target(rate: float, table: Mapping[float, RateTarget] = RATE_TABLE) -> RateTarget:
    """Return the target of a rate in SPS, interpolated in the table. Beyond its ends, the nearest
    row.
    """
    rate = min(max(rate, min(table)), max(table))
    below = max(place for place in table if place <= rate)
    if below == max(table):
        return table[below]
    above = min(place for place in table if place > rate)
    return _between(table[below], table[above], (rate - below) / (above - below))


def _between(low: RateTarget, high: RateTarget, share: float) -> RateTarget:
    """Interpolate the shapes and the sums of two histograms separately, then round. No bin becomes
    zero.
    """
    low_sum, high_sum = sum(low.counts), sum(high.counts)
    total = low_sum + share * (high_sum - low_sum)
    counts = []
    for few, many in zip(low.counts, high.counts, strict=True):
        part = few / low_sum + share * (many / high_sum - few / low_sum)
        counts.append(max(1, round(total * part)))
    return RateTarget(
        tuple(counts),
        low.weight + share * (high.weight - low.weight),
        low.guidance + share * (high.guidance - low.guidance),
    )


class SpeedControl:
    """The playing speed at which speech has its rate, pauses included. The network does not keep
    the rate that it is asked for, and a long silence is cut: the ratio of the two is measured, and
    what was too fast or too slow is made up for.
    """

    def __init__(self) -> None:
        self._ended = self._asked = PRIOR  # syllables that ended and that the network was asked for
        self._late_s = 0.0  # heard more than was due since the rate changed

    def restart(self) -> None:
        """Forget how late or early speech was at the last rate."""
        self._late_s = 0.0

    def hear(self, seconds: float) -> None:
        """Count sound that was made."""
        self._late_s += seconds

    def speed(self, seconds: float, syllables: int, wanted: float, asked: float) -> float:
        """Return the speed of a frame of so many seconds, before which so many syllables ended.
        `wanted` is its rate, `asked` the rate that the network was asked for, both in SPS.
        """
        self._ended += syllables
        self._asked += seconds * asked
        self._late_s -= syllables / wanted
        hurry = 1 + self._late_s * wanted / HORIZON
        ratio = self._ended / self._asked
        return wanted / (asked * ratio) * min(max(hurry, LEAST_HURRY), MOST_HURRY)


class DurationState:
    """The histogram of the last `window` frames' duration tokens."""

    def __init__(self, tokens: int, window: int) -> None:
        self._counts = [1] * tokens
        self._recent: deque[int] = deque()
        self._window = window

    @property
    def counts(self) -> tuple[int, ...]:
        """For each token: 1 + its count in the window."""
        return tuple(self._counts)

    def observe(self, token: int) -> None:
        """Add the token of a frame."""
        self._counts[token] += 1
        self._recent.append(token)
        if len(self._recent) > self._window:
            self._counts[self._recent.popleft()] -= 1

    def assume_on_target(self, target: RateTarget) -> None:
        """Replace the frames in the window by ones with the target's histogram, so that a new rate
        does not compensate for speech at the old one.
        """
        length, total = len(self._recent), sum(target.counts)
        self._recent.clear()
        self._counts = [1] * len(self._counts)
        for frame in range(1, length + 1):
            due = [q * frame / total - c for q, c in zip(target.counts, self._counts, strict=True)]
            self.observe(due.index(max(due)))

    def rate_bias(self, target: RateTarget, scale: float = PER_DECADE) -> tuple[float, ...]:
        """Return the bias on the tokens' log-probabilities, k w (ln q - ln c): k = `scale`, w = the
        target's weight, q and c = the shares of a token in the target and in the window.
        """
        target_sum, count = sum(target.counts), sum(self._counts)
        return tuple(
            scale * target.weight * (math.log(q / target_sum) - math.log(c / count))
            for q, c in zip(target.counts, self._counts, strict=True)
        )


SLOWEST, FASTEST = 0.25, 2.2  # beyond these, speech falls apart
_OVERLAP_S: Final = 0.020  # of the fade from one position to the next
_REACH_S: Final = 0.010  # around the required position, half a period of the deepest voices
_SILENT: Final = 1e-6  # power of silence


class Stretch:
    """Stretches one utterance, at a speed that may change with every push().

    WSOLA (Verhelst and Roelands 1993): the next output is taken from near the position that the
    speed requires, where it best continues the last output. If the real continuation is near
    enough, it is used, so at speed 1 the samples do not change.
    """

    def __init__(self, sample_rate: int) -> None:
        self._overlap = round(_OVERLAP_S * sample_rate)
        self._reach = round(_REACH_S * sample_rate)
        fade = 0.5 - 0.5 * np.cos(np.pi * (np.arange(self._overlap) + 0.5) / self._overlap)
        self._fade = fade.astype(np.float32)
        self._input: Pcm = np.zeros(0, np.float32)  # the end of it, which may still be needed
        self._start = 0  # position of _input[0] in the entire input
        self._next = 0  # index in _input of the real continuation
        self._asked = 0.0  # index in _input that the speed requires
        self._marks: deque[int] = deque()  # positions in the entire input
        self._sounded = 0  # samples of output

    def push(self, pcm: Pcm, speed: float, marks: Iterable[int] = ()) -> tuple[Pcm, list[int]]:
        """Add samples. Return the output that is ready, which may be empty, and the positions of
        marks in the entire output. `marks` are positions in the entire input, in order, not before
        these samples; each is returned once.
        """
        self._input = np.concatenate((self._input, pcm))
        self._marks += marks
        if speed == 1:
            sounding, places = self._as_it_is()
        else:
            sounding, places = self._stretched(min(max(speed, SLOWEST), FASTEST))
        first = max(0, min(self._next, int(self._asked) - self._reach - 1))
        self._input = self._input[first:]
        self._start += first
        self._next -= first
        self._asked -= first
        return sounding, places

    def finish(self) -> tuple[Pcm, list[int]]:
        """Return the rest of the output, and positions as push() does."""
        return self._as_it_is()

    def _as_it_is(self) -> tuple[Pcm, list[int]]:
        sounding = self._input[self._next :]
        places = self._passed(self._next, len(self._input))
        self._next = len(self._input)
        self._asked = float(self._next)
        self._sounded += len(sounding)
        return sounding, places

    def _stretched(self, speed: float) -> tuple[Pcm, list[int]]:
        pieces, places = [np.zeros(0, np.float32)], []
        while (place := self._place()) is not None:
            end = place + self._overlap
            before = self._input[self._next : self._next + self._overlap]
            pieces.append(before + (self._input[place:end] - before) * self._fade)
            places += self._passed(place, end)
            self._sounded += self._overlap
            self._next = end
            self._asked += self._overlap * speed
        return np.concatenate(pieces), places

    def _place(self) -> int | None:
        """Return the index in the input at which the next output begins. None = more input is
        needed to decide.
        """
        asked, overlap = round(self._asked), self._overlap
        low, high = max(0, asked - self._reach), asked + self._reach
        if max(self._next, high) + overlap > len(self._input):
            return None
        if low <= self._next <= high:
            return self._next
        heard = self._input[low : high + overlap]
        alike = np.correlate(heard, self._input[self._next : self._next + overlap], "valid")
        power = np.convolve(heard * heard, np.ones(overlap, np.float32), "valid")
        return low + int(np.argmax(alike / np.sqrt(np.maximum(power, _SILENT))))

    def _passed(self, place: int, end: int) -> list[int]:
        """Return the output positions of the marks before index `end` of the input, when the output
        continues from index `place`.
        """
        places = []
        while self._marks and self._marks[0] - self._start < end:
            ahead = self._marks.popleft() - self._start - place
            places.append(self._sounded + max(0, ahead))
        return places
