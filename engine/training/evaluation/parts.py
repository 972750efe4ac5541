"""The parts of a measurement of voices: their texts and rates, the judges' results, and the figures
computed from them.

Each part is a task (`engine.training.run`), so that nothing is measured twice. Invariants: all
voices say the same texts, which no training used. A result is a plain value that JSON can hold,
made the same way for all voices. A figure that could not be measured is printed as such.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

import numpy as np

from engine.training.evaluation.voices import (
    Aligner,
    LiveVoice,
    WhisperJudge,
    measure_delays,
    naturalness,
    phonemizer_library,
    words_wrong,
)
from engine.training.run import Result as Found
from engine.training.run import Task, result
from engine.training.teachers.synthesisers import fetch
from engine.tts.delays import OWN_RATE, Timing, Trace, real_time_factor, timing, words_before_sound
from engine.typed_values import build

RESAMPLES: Final = 1000  # of the bootstrap that gives an interval
UNMEASURED: Final = "not measured"
_DELAYS_S: Final = (0.0, 0.2, 0.5)  # a word; about 200, 5 and 2 words a second
_percent: Final = "{:.1%}".format
_ms: Final = "{:.0f} ms".format
_count: Final = "{:.0f}".format
_points: Final = "{:.2f}".format
FORMAT: Final = "results 8"  # change it when a judge changes: then saved results are judged again
Voices = tuple[LiveVoice, ...]
Texts = tuple[str, ...]


@dataclass(frozen=True)
class Size:
    """The amount of speech to measure; 0 and () = none."""

    sentences: int  # by every voice
    naturalness: int  # of them, that DNSMOS judges
    short_replies: int  # by all voices in turn, like everything below
    timed: int  # sentences by the first voice whose frames are timed
    rates: tuple[float, ...]
    rate_sentences: int  # at every rate


@dataclass(frozen=True)
class Result:
    """The judges' results for one utterance. Times in seconds; None = nothing was measured."""

    voice: str
    text: str
    rate: float  # known syllables over speech time, SPS
    ended: bool
    transcript: str  # by Whisper
    wrong: int  # words, according to Whisper
    onsets: tuple[float, ...]  # according to the voice
    starts: tuple[float, ...]  # according to the aligner; empty when it failed or was not asked
    naturalness: float | None  # DNSMOS P.808


@dataclass(frozen=True)
class Results:
    """All results of some voices; empty where nothing was measured."""

    sentences: tuple[Result, ...] = ()
    replies: tuple[Result, ...] = ()
    rates: dict[float, tuple[Result, ...]] = field(default_factory=dict)
    traces: tuple[Trace, ...] = ()


def tasks_of(
    name: str, voices: Voices, texts: tuple[Texts, Texts], size: Size, depends: tuple[str, ...]
) -> tuple[Task, ...]:
    """Return the tasks that measure some voices, the most informative first. `name` is the prefix
    of their names, `texts` are sentences and replies, `depends` the hashes of the files they read.
    """
    sentences, replies = spread(texts[0], size.sentences), spread(texts[1], size.short_replies)
    work: dict[str, tuple[Any, ...]] = {
        f"sentences {voice.name}": (judge, (voice,), sentences, OWN_RATE, size.naturalness, True)
        for voice in voices
    }
    work["replies"] = (judge, voices, replies, OWN_RATE)
    if size.timed:
        work["delays"] = (measure_delays, voices[0], spread(texts[0], size.timed))
    at_rates = spread(texts[0], size.rate_sentences)
    work |= {f"rates {rate:g}": (judge, voices, at_rates, rate) for rate in size.rates}
    return tuple(
        Task(f"{name}/{part}", do, tuple(arguments), (FORMAT, *depends))
        for part, (do, *arguments) in work.items()
    )


def read_results(tasks: Sequence[Task], folder: Path) -> Results:
    """Read the results of the finished tasks of tasks_of() from a folder."""
    found: dict[str, tuple[Any, ...]] = {"sentences": (), "replies": (), "traces": ()}
    rates: dict[float, tuple[Result, ...]] = {}
    for task in tasks:
        rows, (part, _, rate) = result(task, folder) or {}, task.name.split("/")[1].partition(" ")
        judged = tuple(build(Result, row) for row in rows.get("results", ()))
        if part == "rates":
            rates[float(rate)] = judged
        elif part == "delays":
            found["traces"] = tuple(build(Trace, row) for row in rows.get("traces", ()))
        else:
            found[part] += judged
    return Results(**found, rates=rates)


def judge(
    voices: Voices, texts: Texts, rate: float, natural: int = 0, onsets: bool = False
) -> Found:
    """Task: speak texts, the voices in turn, and judge the speech. DNSMOS judges `natural` of the
    utterances; with `onsets`, the beginnings of words are measured. The result is a list under the
    key "results", in JSON's types.
    """
    said = [
        (voice.name, spoken)
        for number, voice in enumerate(voices)
        for spoken in voice.speak(texts[number :: len(voices)], rate)
    ]
    rated = {n * len(said) // max(1, natural) for n in range(natural)}
    results = []
    for number, (name, spoken) in enumerate(said):
        heard, text = (spoken.pcm, spoken.sample_rate), spoken.text
        transcript = _whisper().hear(*heard)
        found = Result(
            voice=name,
            text=text,
            rate=spoken.rate,
            ended=spoken.ended,
            transcript=transcript,
            wrong=words_wrong(text, transcript, phonemizer_library()),
            onsets=spoken.onsets,
            starts=tuple(_aligner().word_starts(*heard, text)) if onsets else (),
            naturalness=naturalness(spoken) if number in rated else None,
        )
        results.append(asdict(found))
    return {"results": results}


# Each is loaded once in a process.
_whisper = cache(lambda: WhisperJudge(fetch("whisper-base")))
_aligner = cache(Aligner)


def spread(texts: Texts, most: int) -> Texts:
    """Return at most `most` texts, evenly spaced, because the list is sorted alphabetically."""
    count = min(most, len(texts))
    return tuple(texts[place * len(texts) // count] for place in range(count))


Values = Callable[[Results], Sequence[float | None]]  # of voices, or of sentences


@dataclass(frozen=True)
class Figure:
    """A figure's name, the part that measures it, and how it is printed and computed."""

    name: str
    part: str
    show: Callable[[float], str]
    of: Values
    least: bool = False  # the worst value is the least, not the greatest

    def cell(self, results: Results) -> str:
        """Return the median and the worst value, formatted."""
        values = [value for value in self.of(results) if value is not None]
        if not values:
            return UNMEASURED
        worst = (min if self.least else max)(values)
        return f"{self.show(median(values))} / {self.show(worst)}"


def errors(results: Sequence[Result]) -> float | None:
    """Return the word error rate of all results together; None if there are none."""
    words = sum(len(each.text.split()) for each in results)
    return sum(each.wrong for each in results) / words if words else None


def interval(results: Sequence[Result]) -> float:
    """Half the width of the 95 % interval of `errors`, by resampling the utterances; 0 for none."""
    counts = np.asarray([(each.wrong, len(each.text.split())) for each in results])
    if not len(counts):
        return 0.0
    rows = np.random.default_rng(0).integers(len(counts), size=(RESAMPLES, len(counts)))
    wrong, words = counts[rows].sum(1).T
    low, high = np.percentile(wrong / words, (2.5, 97.5))
    return float(high - low) / 2


def share_wrong(results: Sequence[Result]) -> str:
    """Format an error rate with its 95 % interval."""
    share = errors(results)
    return UNMEASURED if share is None else f"{share:.1%} ± {100 * interval(results):.1f}"


def by_voice(heard: Iterable[Result]) -> dict[str, list[Result]]:
    """Group results by voice."""
    voices: dict[str, list[Result]] = {}
    for each in heard:
        voices.setdefault(each.voice, []).append(each)
    return voices


def _of_voices(value: Callable[[list[Result]], float | None]) -> Values:
    """Return a function that computes a value for each voice from its sentences."""
    return lambda results: [value(person) for person in by_voice(results.sentences).values()]


def _wrong_at(rate: float) -> Values:
    """Return a function that computes the word error rate of all voices together at a rate."""
    return lambda results: [errors(results.rates.get(rate, ()))]


def _ended(results: Results) -> list[float]:
    people = by_voice((*results.sentences, *results.replies)).values()
    return [mean(result.ended for result in person) for person in people]


def onset_gap(person: Sequence[Result]) -> float | None:
    """Return the median distance of onsets from the aligner's in ms, where both have all words."""
    pairs = [zip(r.onsets, r.starts, strict=True) for r in person if len(r.onsets) == len(r.starts)]
    gaps = [abs(own - other) for pair in pairs for own, other in pair]
    return 1000 * median(gaps) if gaps else None


def _natural(person: list[Result]) -> float | None:
    scores = [result.naturalness for result in person if result.naturalness is not None]
    return median(scores) if scores else None


def _rate_errors(results: Results) -> list[float]:
    heard = {rate: [each.rate for each in said] for rate, said in results.rates.items() if said}
    return [abs(mean(rates) - rate) / rate for rate, rates in heard.items()]


def _traced(value: Callable[[Trace], float]) -> Values:
    """Return a function that computes a value for each timed sentence."""
    return lambda results: [value(trace) for trace in results.traces]


def _timed(value: Callable[[Timing], float], delay_s: float) -> Values:
    return _traced(lambda trace: value(timing(trace, delay_s)))


_TIMES: Final[dict[str, tuple[Callable[[Timing], float], Callable[[float], str]]]] = {
    "first packet": (lambda t: 1000 * t.first_packet_s, _ms),
    "first audible sound": (lambda t: 1000 * t.first_audible_s, _ms),
    "dry": (lambda t: t.dry_s, "{:.2f} s".format),
    "times dry": (lambda t: t.dry_times, _count),
}
FIGURES: Final = (
    Figure("words wrong, Whisper, every voice", "sentences", _percent, _of_voices(errors)),
    Figure("words wrong, Whisper, all", "sentences", _percent, lambda r: [errors(r.sentences)]),
    Figure("replies of 1 to 3 words, Whisper", "replies", _percent, lambda r: [errors(r.replies)]),
    Figure("ends by itself", "sentences", _percent, _ended, least=True),
    Figure("word onsets, distance from an aligner's", "sentences", _ms, _of_voices(onset_gap)),
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
