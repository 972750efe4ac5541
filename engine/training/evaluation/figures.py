"""The figures of a voice: what it must reach, what it reached, and what others reach.

Invariant: a figure that could not be measured is printed as such, never left out or guessed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from statistics import mean, median
from typing import Final

from engine.training.evaluation.cloning import Likened, Likeness
from engine.training.evaluation.verdicts import Judge, Verdict, errors, interval, settling

UNMEASURED: Final = "not measured"
ALL: Final = "all voices"
# Sounds in a row, as long as a short word; in good speech at most 3 are misheard (32 sentences of
# flite).
LOST_SOUNDS: Final = 5
NATURAL_SLACK: Final = 0.2  # DNSMOS points below the sources
_percent: Final = "{:.1%}".format
_milliseconds: Final = "{:.0f} ms".format
_points: Final = "{:.2f}".format
_megabytes: Final = "{:.0f} MB".format
UP, DOWN = (2.0, 6.0), (6.0, 2.0)  # SPS before and after a change of the slider


class Judged(Enum):
    """Which one of several values has to reach the target."""

    WORST = "worst"
    MEDIAN = "median"
    MEAN = "mean"


@dataclass(frozen=True)
class Results:
    """All results of one side: the voice, the sources, or the formant voice."""

    sentences: tuple[Verdict, ...] = ()
    replies: tuple[Verdict, ...] = ()
    rates: dict[float, tuple[Verdict, ...]] = field(default_factory=dict)
    steps: dict[tuple[float, ...], tuple[Verdict, ...]] = field(default_factory=dict)
    minutes: tuple[float, ...] = ()  # word error rate of each minute of a long text
    likeness: Likeness | None = None
    people: tuple[Likened, ...] = ()  # real people
    factors: tuple[float, ...] = ()
    first_ms: tuple[float, ...] = ()
    megabytes: tuple[float, ...] = ()
    own_megabytes: tuple[float, ...] = ()  # beyond torch alone


@dataclass(frozen=True)
class Goal:
    """A figure's name, its target, and how it is computed and printed."""

    name: str
    limit: float | None  # None = a figure without a target
    show: Callable[[float], str]
    of: Callable[[Results], Sequence[float | None]]
    judged: Judged = Judged.WORST
    least: bool = False  # the limit is a minimum, not a maximum

    @property
    def target(self) -> str:
        if self.limit is None:
            return ""
        if self.show is _yes:
            return _yes(self.limit)
        whose = {Judged.WORST: "", Judged.MEDIAN: ", median", Judged.MEAN: ", mean"}[self.judged]
        return f"at {'least' if self.least else 'most'} {self.show(self.limit)}{whose}"

    def cell(self, results: Results) -> str:
        """Median and worst, as printed."""
        values = self._values(results)
        if not values:
            return UNMEASURED
        worst = (min if self.least else max)(values)
        return f"{self.show(median(values))} / {self.show(worst)}"

    def verdict(self, results: Results) -> str:
        """Whether the target is reached: pass, miss, or nothing where there is none."""
        values = self._values(results)
        if not values or self.limit is None:
            return ""
        value = self._judged(values)
        is_reached = value >= self.limit if self.least else value <= self.limit
        return "pass" if is_reached else "miss"

    def _judged(self, values: Sequence[float]) -> float:
        match self.judged:
            case Judged.MEDIAN:
                return median(values)
            case Judged.MEAN:
                return mean(values)
            case Judged.WORST:
                return min(values) if self.least else max(values)

    def _values(self, results: Results) -> list[float]:
        return [value for value in self.of(results) if value is not None]


def goals(sources: Results) -> list[Goal]:
    """All figures; the target for naturalness depends on that of the sources."""

    def natural(name: str, score: str) -> Goal:
        """Without a target when the sources were not judged."""
        values = _natural(sources, score)
        limit = median(values) - NATURAL_SLACK if values else None
        return Goal(name, limit, _points, lambda h: _natural(h, score), Judged.MEDIAN, least=True)

    natural_goals = (natural("DNSMOS P.808", "p808"), natural("DNSMOS overall", "overall"))
    return [*_INTELLIGIBILITY, *_PACE, *natural_goals, *_LIKENESS, *_COST]


def table(ours: Results, others: Mapping[str, Results]) -> str:
    """A Markdown table, one row for each figure; cells hold median / worst. The first of the others
    are the sources.
    """
    names = " | ".join(others)
    lines = [
        f"| figure (median / worst) | target | this voice | | {names} |",
        "|---|---|---|---" + "|---" * len(others) + "|",
    ]
    lines += [
        f"| {goal.name} | {goal.target} | {goal.cell(ours)} | {goal.verdict(ours)} | "
        + " | ".join(goal.cell(results) for results in others.values())
        + " |"
        for goal in goals(next(iter(others.values())))
    ]
    return "\n".join(lines) + "\n"


def details(results: Results) -> str:
    """What a median hides, one line each: all voices, every one, every rate, every minute."""
    lines = [
        f"- {name}: words wrong by {_by_judge(sentences)}"
        for name, sentences in {ALL: results.sentences, **_by_talker(results.sentences)}.items()
        if sentences
    ]
    lists = {f"{rate:g} SPS": sentences for rate, sentences in results.rates.items()}
    lists |= {f"slider {a[0]:g} -> {a[-1]:g}": sentences for a, sentences in results.steps.items()}
    lists["replies"] = results.replies
    lines += [
        f"- {name}: words wrong by {_by_judge(sentences)}"
        for name, sentences in lists.items()
        if sentences
    ]
    rates = ", ".join(f"{rate:g} -> {_rate(v):.2f}" for rate, v in results.rates.items() if v)
    if rates:
        lines.append(f"- asked and measured SPS: {rates}")
    for step, verdicts in results.steps.items():
        if settled := settling(verdicts):
            change = f"{step[0]:g} -> {step[-1]:g}"
            measured = f"{settled.before:.1f} -> {settled.after:.1f}"
            lines.append(f"- measured SPS, slider {change}: {measured}")
    lines += [
        f"- a real voice, {each.name}, likeness to other speech of that person: the clone "
        f"{each.clone:.2f}, the recording it was made from {each.prompt:.2f}, the nearest named "
        f"voice {each.nearest:.2f}"
        for each in results.people
    ]
    if results.minutes:
        minutes = " ".join(_percent(share) for share in results.minutes)
        lines.append(f"- words wrong in each minute of a long text: {minutes}")
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------- printed


def _by_judge(verdicts: Sequence[Verdict]) -> str:
    """The error rate by each judge, with 95 % intervals."""
    rows = [(judge, errors(verdicts, judge)) for judge in Judge]
    return ", ".join(
        f"{judge.value} {UNMEASURED}"
        if share is None
        else f"{judge.value} {_percent(share)} \u00b1 {100 * interval(verdicts, judge):.1f}"
        for judge, share in rows
    )


def _seconds(value: float) -> str:
    return "never" if value == float("inf") else f"{value:.1f} s"


def _yes(value: float) -> str:
    return "yes" if value else "no"


# -------------------------------------------------------------------- computed


def _by_talker(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    talkers: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        talkers.setdefault(verdict.talker, []).append(verdict)
    return talkers


def _errors(verdicts: Sequence[Verdict], judge: Judge = Judge.BIGRAM) -> list[float | None]:
    """Word error rate of every talker."""
    return [errors(person, judge) for person in _by_talker(verdicts).values()]


def _all_errors(verdicts: Sequence[Verdict]) -> list[float | None]:
    """Word error rate of all talkers together, as Whisper hears them."""
    return [errors(verdicts)]


def _wrong_at(
    rate: float | tuple[float, float], judge: Judge | None = None
) -> Callable[[Results], list[float | None]]:
    """Word error rate at a rate or a change of it: of all talkers together, as Whisper hears them,
    or of every talker by another judge.
    """

    def of(results: Results) -> list[float | None]:
        at_rate = results.rates.get(rate) if isinstance(rate, float) else results.steps.get(rate)
        return _errors(at_rate or (), judge) if judge else _all_errors(at_rate or ())

    return of


def _ended(results: Results) -> list[float]:
    people = _by_talker((*results.sentences, *results.replies)).values()
    return [mean(verdict.ended for verdict in person) for person in people]


def _whole(results: Results) -> list[float]:
    people = _by_talker(results.sentences).values()
    gaps = [[verdict.gaps for verdict in person if verdict.gaps] for person in people]
    return [mean(max(g.skipped, g.added) < LOST_SOUNDS for g in own) for own in gaps if own]


def _onsets(results: Results) -> list[float]:
    people = _by_talker(results.sentences).values()
    gaps = [[gap for verdict in person for gap in verdict.onset_gaps] for person in people]
    return [1000 * median(starts) for starts in gaps if starts]


def _rate(verdicts: Sequence[Verdict]) -> float:
    return mean(verdict.rate for verdict in verdicts)


def _rate_errors(results: Results) -> list[float]:
    return [
        abs(_rate(verdicts) - rate) / rate for rate, verdicts in results.rates.items() if verdicts
    ]


def _rising(results: Results) -> list[float]:
    paces = [_rate(verdicts) for _, verdicts in sorted(results.rates.items()) if verdicts]
    return [float(paces == sorted(paces))] if len(paces) > 1 else []


def _settled(results: Results, step: tuple[float, float]) -> list[float]:
    settled = settling(results.steps.get(step, ()))
    if settled is None:
        return []
    return [float("inf") if settled.seconds is None else settled.seconds]


def _natural(results: Results, name: str) -> list[float]:
    people = _by_talker(results.sentences).values()
    scores = [
        [getattr(verdict.naturalness, name) for verdict in person if verdict.naturalness]
        for person in people
    ]
    return [median(values) for values in scores if values]


_INTELLIGIBILITY: Final = (
    Goal("words wrong, Whisper, every voice", 0.07, _percent,
         lambda h: _errors(h.sentences, Judge.WHISPER)),
    Goal("words wrong, Whisper, all", 0.05, _percent, lambda h: _all_errors(h.sentences)),
    Goal("replies of 1 to 3 words, Whisper", 0.04, _percent, lambda h: _all_errors(h.replies)),
    *(
        Goal(f"words wrong at {rate:g} SPS, Whisper", limit, _percent,
             _wrong_at(rate))
        for rate, limit in ((1.5, 0.14), (2.0, 0.08), (6.0, 0.08), (6.5, 0.14))
    ),
    *(
        Goal(f"words wrong, slider {step[0]:g} -> {step[1]:g}, Whisper", 0.08, _percent,
             _wrong_at(step))
        for step in (UP, DOWN)
    ),
    Goal("words wrong, bigram", 0.01, _percent, lambda h: _errors(h.sentences)),
    Goal("words wrong, open", 0.13, _percent, lambda h: _errors(h.sentences, Judge.OPEN)),
    Goal("replies of 1 to 3 words, bigram", 0.05, _percent, lambda h: _errors(h.replies)),
    Goal("ends by itself", 0.99, _percent, _ended, least=True),
    Goal("nothing skipped or repeated", 0.99, _percent, _whole, least=True),
    *(
        Goal(
            f"words wrong at {rate:g} SPS, {name}",
            limit,
            _percent,
            _wrong_at(rate, judge),
        )
        for rate in UP
        for name, limit, judge in (("bigram", 0.03, Judge.BIGRAM), ("open", 0.2, Judge.OPEN))
    ),
    Goal("words wrong, last minute of a long text minus its first", 0.02, _percent,
         lambda h: [h.minutes[-1] - h.minutes[0]] if len(h.minutes) > 1 else []),
)  # fmt: skip
_PACE: Final = (
    Goal("speaking rate, error", 0.1, _percent, _rate_errors, Judged.MEAN),
    Goal("a higher rate is always faster", 1.0, _yes, _rising, least=True),
    Goal("slider 2 -> 6, time to 90 % of the change", 2.0, _seconds, lambda h: _settled(h, UP)),
    Goal("slider 6 -> 2, time to 90 % of the change", 2.0, _seconds, lambda h: _settled(h, DOWN)),
    Goal("words wrong, slider 2 -> 6", 0.05, _percent, lambda h: _errors(h.steps.get(UP, ()))),
    Goal("words wrong, slider 6 -> 2", 0.05, _percent, lambda h: _errors(h.steps.get(DOWN, ()))),
    Goal("word onsets, distance from an aligner's", 80.0, _milliseconds, _onsets, Judged.MEDIAN),
)
_LIKENESS: Final = (
    Goal("clones, equal error rate", 0.1, _percent,
         lambda h: [h.likeness.equal_error] if h.likeness else []),
    Goal("likeness of a clone to its speaker", None, _points,
         lambda h: h.likeness.to_own if h.likeness else (), least=True),
    Goal("likeness of the nearest named voice to that speaker", None, _points,
         lambda h: h.likeness.of_starter if h.likeness else ()),
    Goal("speakers whose clone is closer to them than any named voice", 1.0, _percent,
         lambda h: [h.likeness.best] if h.likeness else [], least=True),
    Goal("clones closer to their speaker than to any named voice", None, _percent,
         lambda h: [h.likeness.nearer] if h.likeness else [], least=True),
)  # fmt: skip
_COST: Final = (
    Goal(
        "processor time per second of speech",
        0.2,
        _points,
        lambda h: h.factors or [v.cpu_seconds / v.seconds for v in h.sentences if v.cpu_seconds],
        Judged.MEDIAN,
    ),
    Goal(
        "processor time until the first packet",
        60.0,
        _milliseconds,
        lambda h: h.first_ms or [v.first_ms for v in h.sentences if v.first_ms],
        Judged.MEDIAN,
    ),
    Goal("resident memory", 300.0, _megabytes, lambda h: h.megabytes),
    Goal(
        "resident memory beyond what torch takes alone", None, _megabytes, lambda h: h.own_megabytes
    ),
)
