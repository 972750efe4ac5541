"""The parts of a measurement of voices: their texts and rates, and the judges' results.

Each part is a task (`engine.training.tasks`), so that nothing is measured twice. Invariants: all
voices say the same texts, which no training used. A result is a plain value that JSON can hold,
made the same way for all voices.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from engine.errors import InvalidInput
from engine.training.evaluation.recognisers import Aligner, WhisperJudge, naturalness, words_wrong
from engine.training.evaluation.voices import LiveVoice, measure_delays, phonemizer_library
from engine.training.fetching import fetch
from engine.training.tasks import Result as Found
from engine.training.tasks import Task, result
from engine.tts.delays import OWN_RATE, Trace
from engine.typed_values import build

FORMAT: Final = "results 8"  # change it when a judge changes: then saved results are judged again


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
class Texts:
    """The texts that all voices speak."""

    sentences: tuple[str, ...]
    replies: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """The judges' results for one utterance. Times in seconds; None = that judge was not asked or
    had no answer.
    """

    voice: str
    text: str
    rate: float  # known syllables over speech time, SPS
    ended: bool
    transcript: str  # by Whisper
    wrong: int  # words, according to Whisper
    onsets: tuple[float, ...]  # according to the voice
    starts: tuple[float, ...]  # according to the aligner; empty when it failed or was not asked
    naturalness: float | None  # DNSMOS P.808

    @property
    def onset_gaps(self) -> list[float]:
        """Distances of the voice's onsets from the aligner's."""
        if len(self.onsets) != len(self.starts):
            return []
        return [abs(own - other) for own, other in zip(self.onsets, self.starts, strict=True)]


@dataclass(frozen=True)
class Results:
    """All results of some voices; empty where nothing was measured."""

    sentences: tuple[Result, ...] = ()
    replies: tuple[Result, ...] = ()
    rates: dict[float, tuple[Result, ...]] = field(default_factory=dict)
    traces: tuple[Trace, ...] = ()


def tasks_of(
    name: str,
    voices: tuple[LiveVoice, ...],
    texts: Texts,
    size: Size,
    depends: tuple[str, ...],
) -> tuple[Task, ...]:
    """Return the tasks that measure some voices, the most informative first. `name` is the prefix
    of their names, `depends` are the hashes of the files that they read.
    """
    sentences, replies = (
        spread(texts.sentences, size.sentences),
        spread(texts.replies, size.short_replies),
    )
    at_rates = spread(texts.sentences, size.rate_sentences)
    work: dict[str, tuple[Any, ...]] = {
        f"sentences {voice.name}": (judge, (voice,), sentences, OWN_RATE, size.naturalness, True)
        for voice in voices
    }
    work["replies"] = (judge, voices, replies, OWN_RATE)
    if size.timed:
        work["delays"] = (measure_delays, voices[0], spread(texts.sentences, size.timed))
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
    voices: tuple[LiveVoice, ...],
    texts: tuple[str, ...],
    rate: float,
    natural: int = 0,
    onsets: bool = False,
) -> Found:
    """Task: speak texts, the voices in turn, and judge the speech. DNSMOS judges `natural` of the
    utterances; with `onsets`, the beginnings of words are measured. The result is a list under the
    key "results", in JSON's types.
    """
    said = []
    for number, voice in enumerate(voices):
        share = texts[number :: len(voices)]
        said += [(voice.name, spoken) for spoken in voice.speak(share, rate)]
    rated = {n * len(said) // max(1, natural) for n in range(natural)}
    results = []
    for number, (name, spoken) in enumerate(said):
        pcm, sample_rate, text = spoken.pcm, spoken.sample_rate, spoken.text
        transcript = _whisper().hear(pcm, sample_rate)
        starts = _aligner().word_starts(pcm, sample_rate, text) if onsets else ()
        found = Result(
            voice=name,
            text=text,
            rate=spoken.rate,
            ended=spoken.ended,
            transcript=transcript,
            wrong=words_wrong(text, transcript, phonemizer_library()),
            onsets=spoken.onsets,
            starts=tuple(starts),
            naturalness=naturalness(spoken) if number in rated else None,
        )
        results.append(asdict(found))
    return {"results": results}


# Each is loaded once in a process.
_whisper = cache(lambda: WhisperJudge(fetch("whisper-base")))
_aligner = cache(Aligner)


def chosen(tasks: Sequence[Task], only: Sequence[str]) -> list[Task]:
    """Return the tasks whose names begin with one of `only` (empty = all). InvalidInput if there
    are none.
    """
    asked = [task for task in tasks if not only or task.name.startswith(tuple(only))]
    if not asked:
        hint = f"Parts: {', '.join(task.name for task in tasks)}."
        raise InvalidInput(f"No part begins with {', '.join(only)}.", hint=hint)
    return asked


def spread(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Return at most `most` texts, evenly spaced in the list, because it is sorted
    alphabetically.
    """
    count = min(most, len(texts))
    return tuple(texts[place * len(texts) // count] for place in range(count))
