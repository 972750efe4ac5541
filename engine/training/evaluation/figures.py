"""The figures of a voice: what it must reach, and what it reached.

Invariant: a figure that could not be measured is printed as such, never left out or guessed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Final

from engine.training.evaluation.cloning import Likeness
from engine.training.evaluation.results import Result, errors, interval
from engine.tts.delays import Timing, Trace, factor, timing, words_before_sound

UNMEASURED: Final = "not measured"
ALL: Final = "all voices"
_DELAYS_S: Final = (0.0, 0.2, 0.5)  # a word; about 200, 5 and 2 words a second
_percent: Final = "{:.1%}".format
_milliseconds: Final = "{:.0f} ms".format
_points: Final = "{:.2f}".format


@dataclass(frozen=True)
class Results:
    """All results of some voices; what was not measured is empty."""

    sentences: tuple[Result, ...] = ()
    replies: tuple[Result, ...] = ()
    rates: dict[float, tuple[Result, ...]] = field(default_factory=dict)
    traces: tuple[Trace, ...] = ()
    likeness: Likeness | None = None


@dataclass(frozen=True)
class Figure:
    """A figure's name, the part that measures it, its target, and how it is computed and
    printed."""

    name: str
    part: str
    limit: float | None  # None = without a target
    show: Callable[[float], str]
    of: Callable[[Results], Sequence[float | None]]
    judged: Callable[[Sequence[float]], float] | None = None  # of several values; None = the worst
    least: bool = False  # the limit is a minimum, not a maximum

    @property
    def target(self) -> str:
        if self.limit is None:
            return ""
        if self.show is _yes:
            return _yes(self.limit)
        whose = f", {self.judged.__name__}" if self.judged else ""
        return f"at {'least' if self.least else 'most'} {self.show(self.limit)}{whose}"

    def cell(self, results: Results) -> str:
        """Median and worst, as printed."""
        values = self._values(results)
        if not values:
            return UNMEASURED
        return f"{self.show(median(values))} / {self.show(self._worst(values))}"

    def outcome(self, results: Results) -> str:
        """Whether the target is reached: pass, miss, or nothing where there is none."""
        values = self._values(results)
        if not values or self.limit is None:
            return ""
        value = (self.judged or self._worst)(values)
        is_reached = value >= self.limit if self.least else value <= self.limit
        return "pass" if is_reached else "miss"

    def _worst(self, values: Sequence[float]) -> float:
        return min(values) if self.least else max(values)

    def _values(self, results: Results) -> list[float]:
        return [value for value in self.of(results) if value is not None]


def table(results: Results) -> str:
    """A Markdown table, one row for each figure; cells hold median / worst."""
    lines = [
        "| figure (median / worst) | target | this voice | |",
        "|---|---|---|---|",
        *(f"| {f.name} | {f.target} | {f.cell(results)} | {f.outcome(results)} |" for f in FIGURES),
    ]
    return "\n".join(lines) + "\n"


def details(results: Results) -> str:
    """What a median hides, one line each: all voices, every one, every rate."""
    lists = {
        ALL: results.sentences,
        **by_voice(results.sentences),
        **{f"{rate:g} SPS": heard for rate, heard in results.rates.items()},
        "replies": results.replies,
    }
    lines = [
        f"- {name}: words wrong {_with_interval(heard)}" for name, heard in lists.items() if heard
    ]
    rates = ", ".join(f"{rate:g} -> {_rate(v):.2f}" for rate, v in results.rates.items() if v)
    if rates:
        lines.append(f"- asked and measured SPS: {rates}")
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------- printed


def _with_interval(heard: Sequence[Result]) -> str:
    """The error rate with its 95 % interval."""
    share = errors(heard)
    return UNMEASURED if share is None else f"{_percent(share)} \u00b1 {100 * interval(heard):.1f}"


def _yes(value: float) -> str:
    return "yes" if value else "no"


# -------------------------------------------------------------------- computed


def by_voice(heard: Iterable[Result]) -> dict[str, list[Result]]:
    """The results of each voice."""
    voices: dict[str, list[Result]] = {}
    for result in heard:
        voices.setdefault(result.voice, []).append(result)
    return voices


def _errors(heard: Sequence[Result]) -> list[float | None]:
    """Word error rate of every voice."""
    return [errors(person) for person in by_voice(heard).values()]


def _wrong_at(rate: float) -> Callable[[Results], list[float | None]]:
    """Word error rate at a rate, of all voices together."""
    return lambda results: [errors(results.rates.get(rate, ()))]


def _ended(results: Results) -> list[float]:
    people = by_voice((*results.sentences, *results.replies)).values()
    return [mean(result.ended for result in person) for person in people]


def _onsets(results: Results) -> list[float]:
    people = by_voice(results.sentences).values()
    gaps = [[gap for result in person for gap in result.onset_gaps] for person in people]
    return [1000 * median(own) for own in gaps if own]


def _rate(heard: Sequence[Result]) -> float:
    return mean(result.rate for result in heard)


def _rate_errors(results: Results) -> list[float]:
    return [abs(_rate(heard) - rate) / rate for rate, heard in results.rates.items() if heard]


def _rising(results: Results) -> list[float]:
    paces = [_rate(heard) for _, heard in sorted(results.rates.items()) if heard]
    return [float(paces == sorted(paces))] if len(paces) > 1 else []


def _natural(results: Results, name: str) -> list[float]:
    people = by_voice(results.sentences).values()
    scores = [
        [getattr(result.naturalness, name) for result in person if result.naturalness]
        for person in people
    ]
    return [median(values) for values in scores if values]


def _traced(value: Callable[[Trace], float]) -> Callable[[Results], list[float]]:
    """Of every sentence."""
    return lambda results: [value(trace) for trace in results.traces]


def _timed(value: Callable[[Timing], float], delay_s: float) -> Callable[[Results], list[float]]:
    return _traced(lambda trace: value(timing(trace, delay_s)))


_TIMES: Final[dict[str, tuple[Callable[[Timing], float], Callable[[float], str]]]] = {
    "first packet": (lambda t: 1000 * t.first_packet_s, _milliseconds),
    "first audible sound": (lambda t: 1000 * t.first_audible_s, _milliseconds),
    "dry": (lambda t: t.dry_s, "{:.2f} s".format),
    "times dry": (lambda t: t.dry_times, "{:.0f}".format),
}
# DNSMOS: 0.2 below flite and festival, which spoke the built-in voice's corpus.
FIGURES: Final = (
    Figure("words wrong, Whisper, every voice", "sentences", 0.07, _percent,
           lambda r: _errors(r.sentences)),
    Figure("words wrong, Whisper, all", "sentences", 0.05, _percent,
           lambda r: [errors(r.sentences)]),
    Figure("replies of 1 to 3 words, Whisper", "replies", 0.04, _percent,
           lambda r: [errors(r.replies)]),
    Figure("ends by itself", "sentences", 0.99, _percent, _ended, least=True),
    Figure("word onsets, distance from an aligner's", "sentences", 80.0, _milliseconds, _onsets,
           median),
    Figure("DNSMOS P.808", "sentences", 3.37, _points,
           lambda r: _natural(r, "p808"), median, least=True),
    Figure("DNSMOS overall", "sentences", 2.87, _points,
           lambda r: _natural(r, "overall"), median, least=True),
    Figure("speaking rate, error", "rates", 0.1, _percent, _rate_errors, mean),
    Figure("a higher rate is always faster", "rates", 1.0, _yes, _rising, least=True),
    *(
        Figure(f"words wrong at {rate:g} SPS, Whisper", "rates", limit, _percent, _wrong_at(rate))
        for rate, limit in ((1.5, 0.14), (2.0, 0.08), (6.0, 0.08), (6.5, 0.14))
    ),
    Figure("clones, equal error rate", "cloning", 0.1, _percent,
           lambda r: [r.likeness.equal_error] if r.likeness else []),
    Figure("likeness of a clone to its speaker", "cloning", None, _points,
           lambda r: r.likeness.to_own if r.likeness else (), least=True),
    Figure("likeness of the nearest named voice to that speaker", "cloning", None, _points,
           lambda r: r.likeness.of_named if r.likeness else ()),
    Figure("speakers whose clone is closer to them than any named voice", "cloning", 1.0, _percent,
           lambda r: [r.likeness.best] if r.likeness else [], least=True),
    Figure("words before the first sound", "delays", None, "{:.0f}".format,
           _traced(words_before_sound)),
    *(
        Figure(f"{name} at {1000 * delay:.0f} ms a word", "delays", None, show,
               _timed(value, delay))
        for name, (value, show) in _TIMES.items()
        for delay in _DELAYS_S
    ),
    Figure("processor time per second of speech", "delays", 0.2, _points, _traced(factor),
           median),
)  # fmt: skip
