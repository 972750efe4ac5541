"""What is measured of some voices: which texts they say at which rates, and the results; in it
minutes of continuous text in one utterance.

Everything is a task (`engine.training.tasks`), so that nothing is measured twice. Invariant: the
same texts for everybody; none of them was trained on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from engine.training.evaluation.figures import DOWN, UP, Results
from engine.training.evaluation.performance import OWN_RATE, Spoken, syllables_of
from engine.training.evaluation.recognisers import Recogniser, word_error_rate
from engine.training.evaluation.results import (
    FORMAT,
    Judges,
    Result,
    bigram_judge,
    judge,
    read_results,
)
from engine.training.evaluation.voices import LiveVoice, Rates, measure_delays
from engine.training.recipe import Evaluate
from engine.training.tasks import Result as Found
from engine.training.tasks import Task, result
from engine.tts.delays import Frame, Trace

STEP_SENTENCES: Final = 6  # in an utterance whose rate changes
_PLAIN: Final = (OWN_RATE,)
MINUTE: Final = 60.0  # seconds


@dataclass(frozen=True)
class Texts:
    """What everybody says. `vocabulary` holds the bigram's sentences; the judges know all
    words."""

    vocabulary: tuple[str, ...]
    sentences: tuple[str, ...]
    replies: tuple[str, ...]

    @classmethod
    def known(cls, sentences: Sequence[str], replies: Sequence[str]) -> "Texts":
        """Those of which the judges know all words."""
        vocabulary = (*sentences, *replies)
        knows = bigram_judge(vocabulary).knows
        return cls(vocabulary, tuple(filter(knows, sentences)), tuple(filter(knows, replies)))

    @cached_property
    def turning(self) -> tuple[str, ...]:
        """Longer texts, one for each change of the slider."""
        size = min(STEP_SENTENCES, len(self.sentences))
        count = max(1, len(self.sentences) // size)
        return tuple(" ".join(self.sentences[n::count][:size]) for n in range(count))

    def long(self, seconds: float) -> str:
        """Continuous text of as many syllables as the seconds hold."""
        sentences: list[str] = []
        syllables = 0
        while syllables < seconds * OWN_RATE:
            sentence = self.sentences[len(sentences) % len(self.sentences)]
            sentences.append(sentence)
            syllables += syllables_of(sentence)
        return " ".join(sentences)


@dataclass(frozen=True)
class Parts:
    """`name` begins the names of the tasks; `depends` are hashes of the files they read."""

    name: str
    voices: tuple[LiveVoice, ...]
    texts: Texts
    size: Evaluate
    depends: tuple[str, ...] = ()

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The most telling first."""
        size, texts, voices = self.size, self.texts, self.voices
        sentences = spread(texts.sentences, size.sentences)
        thorough = Judges(texts.vocabulary, size.naturalness, size.whisper, sounds=True)
        plain = Judges(texts.vocabulary, whisper=size.whisper)
        tasks = [
            self._task(f"sentences {voice.name}", judge, (voice,), sentences, _PLAIN, thorough)
            for voice in voices
        ]
        replies = spread(texts.replies, size.short_replies)
        tasks.append(self._task("replies", judge, voices, replies, _PLAIN, plain))
        if size.timed:
            timed = spread(texts.sentences, size.timed)
            tasks.append(self._task("delays", measure_delays, voices[0], timed))
        at_rates = spread(texts.sentences, size.rate_sentences)
        tasks += [
            self._task(f"rates {rate:g}", judge, voices, at_rates, (rate,), plain)
            for rate in size.rates
        ]
        if size.slider:
            turning = spread(texts.turning, max(len(voices), 2))
            judges = Judges(texts.turning, whisper=size.whisper)
            tasks += [
                self._task(_step(rates), judge, voices, turning, rates, judges)
                for rates in (UP, DOWN)
            ]
        if size.long_seconds:
            long = texts.long(size.long_seconds)
            tasks.append(self._task("long", judge_long, voices[0], long, OWN_RATE))
        return tuple(tasks)

    def results(self, folder: Path) -> Results:
        """The results of those tasks that are done, from the folder."""
        return Results(
            sentences=tuple(
                each
                for voice in self.voices
                for each in self._judged(f"sentences {voice.name}", folder)
            ),
            replies=self._judged("replies", folder),
            rates={rate: self._judged(f"rates {rate:g}", folder) for rate in self.size.rates},
            steps={step: self._judged(_step(step), folder) for step in (UP, DOWN)},
            minutes=tuple(self._found("long", folder).get("minutes", ())),
            traces=tuple(
                Trace(row["words"], tuple(Frame(**f) for f in row["frames"]), tuple(row["speech"]))
                for row in self._found("delays", folder).get("traces", ())
            ),
        )

    def _task(self, name: str, do: Any, *given: Any) -> Task:
        return Task(self._called(name), do, given, (FORMAT, *self.depends))

    def _called(self, name: str) -> str:
        return f"{self.name}/{name}" if self.name else name

    def _found(self, name: str, folder: Path) -> Found:
        """What the task of this name found; empty when it was not done."""
        task = next((task for task in self.tasks if task.name == self._called(name)), None)
        return (task and result(task, folder)) or {}

    def _judged(self, name: str, folder: Path) -> tuple[Result, ...]:
        return read_results(self._found(name, folder))


def spread(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    """At most `most` texts, spread over the list, because it is sorted alphabetically."""
    count = min(most, len(texts))
    return tuple(texts[place * len(texts) // count] for place in range(count))


def _step(rates: Rates) -> str:
    return f"steps {rates[0]:g} to {rates[-1]:g}"


def judge_long(voice: LiveVoice, text: str, rate: float, minute: float = MINUTE) -> Found:
    """A task: the word error rate of each whole `minute` [s] (of the whole text if it is shorter),
    by the words that, according to the voice, began in it; the seconds spoken, and whether the
    utterance ended by itself.
    """
    (sentence,) = voice.speak([text], (rate,))
    judge = Recogniser((text,))
    length = len(sentence.pcm) / sentence.sample_rate
    edges = np.arange(0.0, length, minute).tolist()
    if len(edges) > 1 and length - edges[-1] < minute:
        edges.pop()  # the last minute includes the remainder
    minutes = [
        _errors(sentence, judge, begin, end)
        for begin, end in zip(edges, [*edges[1:], length], strict=True)
    ]
    return {"minutes": minutes, "seconds": length, "ended": sentence.ended}


def _errors(sentence: Spoken, judge: Recogniser, begin: float, end: float) -> float:
    """Word error rate of a stretch, cut at the onsets of words. 1 where no word began."""
    words = sentence.text.split()
    within = [n for n, onset in enumerate(sentence.onsets) if begin <= onset < end]
    if not within:
        return 1.0
    first, last = within[0], within[-1]
    following = sentence.onsets[last + 1] if last + 1 < len(sentence.onsets) else end
    start, stop = (int(at * sentence.sample_rate) for at in (sentence.onsets[first], following))
    transcript = judge.hear(sentence.pcm[start:stop], sentence.sample_rate)
    return word_error_rate([" ".join(words[first : last + 1])], [transcript])
