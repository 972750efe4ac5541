"""One side of a comparison: who speaks, what they say, and the results; in it minutes of continuous
text in one utterance, each judged by the words that, according to the talker, began in it.

Everything is a task (`engine.training.tasks`), so that nothing is measured twice.
Invariant: the same texts for every side; none of them was trained on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from engine.training.evaluation.figures import DOWN, UP, Results
from engine.training.evaluation.judging import Recogniser, word_error_rate
from engine.training.evaluation.performance import OWN_RATE, Spoken, syllables_of
from engine.training.evaluation.talkers import Talker
from engine.training.evaluation.verdicts import Judges, Verdict, judge, read_verdicts
from engine.training.recipe import Evaluate
from engine.training.tasks import Task, result

STEP_SENTENCES: Final = 6  # in an utterance whose rate changes
_PLAIN: Final = (OWN_RATE,)
MINUTE: Final = 60.0  # seconds


@dataclass(frozen=True)
class Texts:
    """What every side says. `vocabulary` holds the bigram's sentences; the judges know all
    words."""

    vocabulary: tuple[str, ...]
    sentences: tuple[str, ...]
    replies: tuple[str, ...]

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
class Side:
    """`name` is the prefix of its tasks' names; `depends` are hashes of the files they read. Only a
    `live` side can change its rate while it speaks, and speak for minutes.
    """

    name: str
    talkers: tuple[Talker, ...]
    texts: Texts
    size: Evaluate
    depends: tuple[str, ...] = ()
    live: bool = True

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The most telling first."""
        return (*self._plain(), *(self._live() if self.live else ()))

    def _plain(self) -> list[Task]:
        size, texts = self.size, self.texts
        thorough = Judges(texts.vocabulary, True, True, size.naturalness, size.whisper)
        sentences = spread(texts.sentences, size.sentences)
        tasks = [
            self._task(f"sentences {talker.name}", (talker,), sentences, _PLAIN, thorough)
            for talker in self.talkers
        ]
        plain = Judges(texts.vocabulary, whisper=size.whisper)
        replies = spread(texts.replies, size.short_replies)
        tasks.append(self._task("replies", self.talkers, replies, _PLAIN, plain))
        sentences = spread(texts.sentences, size.rate_sentences)
        for rate in size.rates:
            judges = Judges(texts.vocabulary, open=rate in UP, whisper=size.whisper)
            tasks.append(self._task(f"rates {rate:g}", self.talkers, sentences, (rate,), judges))
        return tasks

    def _live(self) -> list[Task]:
        turning = self.texts.turning
        texts = spread(turning, max(len(self.talkers), 2))
        judges = Judges(turning, whisper=self.size.whisper)
        steps = [
            self._task(_step(rates), self.talkers, texts, rates, judges)
            for rates in (UP, DOWN)
            if self.size.rates  # a system without a rate is asked for none
        ]
        arguments = (self.talkers[0], self.texts.long(self.size.long_seconds), OWN_RATE)
        return [*steps, Task(self._called("long"), judge_long, arguments, self.depends)]

    def _task(
        self,
        name: str,
        talkers: Sequence[Talker],
        texts: tuple[str, ...],
        rates: tuple[float, ...],
        judges: Judges,
    ) -> Task:
        arguments = (tuple(talkers), texts, rates, judges)
        return Task(self._called(name), judge, arguments, self.depends)

    def _called(self, name: str) -> str:
        return f"{self.name}/{name}" if self.name else name

    def results(self, folder: Path) -> Results:
        """The results of those tasks that are done, from the folder."""
        by_name = {task.name: task for task in self.tasks}

        def verdicts(name: str) -> tuple[Verdict, ...]:
            task = by_name.get(self._called(name))
            return tuple(read_verdicts(result(task, folder))) if task else ()

        long = by_name.get(self._called("long"))
        minutes = (result(long, folder) or {}).get("minutes", ()) if long else ()
        return Results(
            sentences=tuple(v for who in self.talkers for v in verdicts(f"sentences {who.name}")),
            replies=verdicts("replies"),
            rates={rate: verdicts(f"rates {rate:g}") for rate in self.size.rates},
            steps={step: verdicts(_step(step)) for step in (UP, DOWN)},
            minutes=tuple(minutes),
        )


def spread(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    """At most `most` texts, spread over the list, because it is sorted alphabetically."""
    count = min(most, len(texts))
    return tuple(texts[place * len(texts) // count] for place in range(count))


def _step(rates: tuple[float, ...]) -> str:
    return f"steps {rates[0]:g} to {rates[-1]:g}"


def judge_long(talker: Talker, text: str, rate: float, minute: float = MINUTE) -> dict[str, Any]:
    """A part: the word error rate of each whole `minute` [s] (of the whole text if it is shorter),
    the seconds spoken, and whether the utterance ended by itself.
    """
    (sentence,) = talker.speak([text], (rate,))
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
