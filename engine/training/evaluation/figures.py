"""The figures of a voice, computed from the results of all its parts.

Invariant: a figure that could not be measured is printed as such, never left out or guessed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Final

import numpy as np

from engine.training.evaluation.parts import Result, Results
from engine.tts.delays import Timing, Trace, real_time_factor, timing, words_before_sound

RESAMPLES: Final = 1000  # of the bootstrap that gives an interval
UNMEASURED: Final = "not measured"
_DELAYS_S: Final = (0.0, 0.2, 0.5)  # a word; about 200, 5 and 2 words a second
_percent: Final = "{:.1%}".format
_milliseconds: Final = "{:.0f} ms".format
_count: Final = "{:.0f}".format
_points: Final = "{:.2f}".format


@dataclass(frozen=True)
class Figure:
    """A figure's name, the part that measures it, and how it is printed and computed."""

    name: str
    part: str
    show: Callable[[float], str]
    of: Callable[[Results], Sequence[float | None]]
    least: bool = False  # the worst value is the least, not the greatest

    def cell(self, results: Results) -> str:
        """Return the median and the worst value, formatted."""
        values = [value for value in self.of(results) if value is not None]
        if not values:
            return UNMEASURED
        worst = (min if self.least else max)(values)
        return f"{self.show(median(values))} / {self.show(worst)}"


def share_wrong(heard: Sequence[Result]) -> str:
    """Format an error rate with its 95 % interval."""
    share = errors(heard)
    return UNMEASURED if share is None else f"{share:.1%} ± {100 * interval(heard):.1f}"


def errors(results: Sequence[Result]) -> float | None:
    """Return the word error rate of all results together; None if there are none."""
    wrong, count = _counts(results)
    return sum(wrong) / sum(count) if count else None


def interval(results: Sequence[Result]) -> float:
    """Half the width of the 95 % interval of `errors`, by resampling the utterances; 0 for none."""
    wrong, counts = map(np.asarray, _counts(results))
    if not len(counts):
        return 0.0
    rows = np.random.default_rng(0).integers(len(counts), size=(RESAMPLES, len(counts)))
    low, high = np.percentile(wrong[rows].sum(1) / counts[rows].sum(1), (2.5, 97.5))
    return float(high - low) / 2


def _counts(results: Sequence[Result]) -> tuple[list[int], list[int]]:
    """Return the number of wrong words and of all words for each utterance."""
    return [each.wrong for each in results], [len(each.text.split()) for each in results]


def by_voice(heard: Iterable[Result]) -> dict[str, list[Result]]:
    """Group results by voice."""
    voices: dict[str, list[Result]] = {}
    for result in heard:
        voices.setdefault(result.voice, []).append(result)
    return voices


def _of_voices(
    value: Callable[[list[Result]], float | None],
) -> Callable[[Results], list[float | None]]:
    """Return a function that computes a value for each voice from its sentences."""
    return lambda results: [value(person) for person in by_voice(results.sentences).values()]


def _wrong_at(rate: float) -> Callable[[Results], list[float | None]]:
    """Return a function that computes the word error rate of all voices together at a rate."""
    return lambda results: [errors(results.rates.get(rate, ()))]


def _ended(results: Results) -> list[float]:
    people = by_voice((*results.sentences, *results.replies)).values()
    return [mean(result.ended for result in person) for person in people]


def _onsets(person: list[Result]) -> float | None:
    gaps = [gap for result in person for gap in result.onset_gaps]
    return 1000 * median(gaps) if gaps else None


def _natural(person: list[Result]) -> float | None:
    scores = [result.naturalness for result in person if result.naturalness is not None]
    return median(scores) if scores else None


def _rate_errors(results: Results) -> list[float]:
    return [
        abs(mean(result.rate for result in heard) - rate) / rate
        for rate, heard in results.rates.items()
        if heard
    ]


def _traced(value: Callable[[Trace], float]) -> Callable[[Results], list[float]]:
    """Return a function that computes a value for each timed sentence."""
    return lambda results: [value(trace) for trace in results.traces]


def _timed(value: Callable[[Timing], float], delay_s: float) -> Callable[[Results], list[float]]:
    return _traced(lambda trace: value(timing(trace, delay_s)))


_TIMES: Final[dict[str, tuple[Callable[[Timing], float], Callable[[float], str]]]] = {
    "first packet": (lambda t: 1000 * t.first_packet_s, _milliseconds),
    "first audible sound": (lambda t: 1000 * t.first_audible_s, _milliseconds),
    "dry": (lambda t: t.dry_s, "{:.2f} s".format),
    "times dry": (lambda t: t.dry_times, _count),
}
FIGURES: Final = (
    Figure("words wrong, Whisper, every voice", "sentences", _percent, _of_voices(errors)),
    Figure("words wrong, Whisper, all", "sentences", _percent, lambda r: [errors(r.sentences)]),
    Figure("replies of 1 to 3 words, Whisper", "replies", _percent, lambda r: [errors(r.replies)]),
    Figure("ends by itself", "sentences", _percent, _ended, least=True),
    Figure(
        "word onsets, distance from an aligner's", "sentences", _milliseconds, _of_voices(_onsets)
    ),
    Figure("DNSMOS P.808", "sentences", _points, _of_voices(_natural), least=True),
    Figure("speaking rate, error", "rates", _percent, _rate_errors),
    Figure("words wrong at 2 SPS, Whisper", "rates", _percent, _wrong_at(2.0)),
    Figure("words wrong at 6 SPS, Whisper", "rates", _percent, _wrong_at(6.0)),
    Figure("words before the first sound", "delays", _count, _traced(words_before_sound)),
    *(
        Figure(f"{name} at {1000 * delay:.0f} ms a word", "delays", show, _timed(value, delay))
        for name, (value, show) in _TIMES.items()
        for delay in _DELAYS_S
    ),
    Figure("processor time per second of speech", "delays", _points, _traced(real_time_factor)),
)
"""In the order of the page of all systems."""
