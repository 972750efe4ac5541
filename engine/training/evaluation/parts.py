"""The parts of a measurement of voices: their texts and rates, and the judges' results.

Each part is a task (`engine.training.tasks`), so that nothing is measured twice. Invariants: all
voices say the same texts, which no training used. A result is a plain value that JSON can hold,
made the same way for all voices.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from engine.errors import InvalidInput
from engine.training.evaluation.performance import OWN_RATE, Spoken
from engine.training.evaluation.recognisers import Aligner, WhisperJudge, naturalness, words_wrong
from engine.training.evaluation.voices import LiveVoice, measure_delays, phonemizer_library
from engine.training.fetching import fetch
from engine.training.tasks import Result as Found
from engine.training.tasks import Task, result
from engine.translatable import Translatable
from engine.tts.delays import Trace
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
class Judges:
    """The judges of a part."""

    natural: int = 0  # utterances that DNSMOS judges as well
    whisper: bool = True
    onsets: bool = False  # measure the beginnings of words as well


@dataclass(frozen=True)
class Result:
    """The judges' results for one utterance. Times in seconds; None = that judge was not asked or
    had no answer.
    """

    voice: str
    text: str
    rate: float  # known syllables over speech time, SPS
    ended: bool
    transcript: str | None  # by Whisper
    wrong: int | None  # words, according to Whisper
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


@dataclass(frozen=True)
class Parts:
    """The tasks that measure some voices. `name` is the prefix of the tasks' names, `depends` the
    hashes of the files that they read.
    """

    name: str
    voices: tuple[LiveVoice, ...]
    texts: Texts
    size: Size
    depends: tuple[str, ...] = ()

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks, the most informative first."""
        size, texts, voices = self.size, self.texts, self.voices
        sentences = spread(texts.sentences, size.sentences)
        thorough, plain = Judges(size.naturalness, onsets=True), Judges()
        work: dict[str, tuple[Any, ...]] = {
            f"sentences {voice.name}": (judge, (voice,), sentences, OWN_RATE, thorough)
            for voice in voices
        }
        replies = spread(texts.replies, size.short_replies)
        work["replies"] = (judge, voices, replies, OWN_RATE, plain)
        if size.timed:
            work["delays"] = (measure_delays, voices[0], spread(texts.sentences, size.timed))
        at_rates = spread(texts.sentences, size.rate_sentences)
        work |= {f"rates {rate:g}": (judge, voices, at_rates, rate, plain) for rate in size.rates}
        return tuple(
            Task(self._called(name), do, tuple(arguments), (FORMAT, *self.depends))
            for name, (do, *arguments) in work.items()
        )

    def results(self, folder: Path) -> Results:
        """Read the results of the finished tasks from the folder."""
        done = {task.name: result(task, folder) or {} for task in self.tasks}

        def judged(*names: str) -> tuple[Result, ...]:
            found = [done.get(self._called(name), {}).get("results", ()) for name in names]
            return tuple(build(Result, row) for rows in found for row in rows)

        traces = done.get(self._called("delays"), {}).get("traces", ())
        return Results(
            judged(*(f"sentences {voice.name}" for voice in self.voices)),
            judged("replies"),
            {rate: judged(f"rates {rate:g}") for rate in self.size.rates},
            tuple(build(Trace, row) for row in traces),
        )

    def _called(self, name: str) -> str:
        return f"{self.name}/{name}"


def judge(
    voices: tuple[LiveVoice, ...], texts: tuple[str, ...], rate: float, judges: Judges
) -> Found:
    """Task: speak texts, the voices in turn, and judge the speech. The result is a list under the
    key "results", in JSON's types.
    """
    said = []
    for number, voice in enumerate(voices):
        share = texts[number :: len(voices)]
        said += [(voice.name, sentence) for sentence in voice.speak(share, rate)]
    natural = {n * len(said) // max(1, judges.natural) for n in range(judges.natural)}
    results = [
        _judged(name, sentence, judges, ask_natural=number in natural)
        for number, (name, sentence) in enumerate(said)
    ]
    return {"results": [asdict(result) for result in results]}


# Each is loaded once in a process.
_whisper = cache(lambda: WhisperJudge(fetch("whisper-base")))
_aligner = cache(Aligner)


def _judged(name: str, sentence: Spoken, judges: Judges, *, ask_natural: bool) -> Result:
    pcm, sample_rate, text = sentence.pcm, sentence.sample_rate, sentence.text
    score = naturalness(sentence) if ask_natural else None
    transcript = _whisper().hear(pcm, sample_rate) if judges.whisper else None
    return Result(
        voice=name,
        text=text,
        rate=sentence.rate,
        ended=sentence.ended,
        transcript=transcript,
        wrong=None if transcript is None else words_wrong(text, transcript, phonemizer_library()),
        onsets=sentence.onsets,
        starts=tuple(_aligner().word_starts(pcm, sample_rate, text)) if judges.onsets else (),
        naturalness=score.p808 if score else None,
    )


def chosen(tasks: Sequence[Task], only: Sequence[str]) -> list[Task]:
    """Return the tasks whose names begin with one of `only` (empty = all). InvalidInput if there
    are none.
    """
    asked = [task for task in tasks if not only or task.name.startswith(tuple(only))]
    if not asked:
        raise InvalidInput(
            "No part begins with {names}.",
            hint=Translatable("Parts: {names}.", names=", ".join(task.name for task in tasks)),
            names=", ".join(only),
        )
    return asked


def spread(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Return at most `most` texts, evenly spaced in the list, because it is sorted
    alphabetically.
    """
    count = min(most, len(texts))
    return tuple(texts[place * len(texts) // count] for place in range(count))
