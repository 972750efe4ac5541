"""What is measured of some voices: which texts they say at which rates, and the results.

Everything is a task (`engine.training.tasks`), so that nothing is measured twice. Invariant: the
same texts for everybody; none of them was trained on.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.training.evaluation.figures import Results
from engine.training.evaluation.performance import OWN_RATE
from engine.training.evaluation.results import FORMAT, Judges, Result, judge, read_results
from engine.training.evaluation.voices import LiveVoice, measure_delays
from engine.training.recipe import Evaluate
from engine.training.tasks import Result as Found
from engine.training.tasks import Task, result
from engine.tts.delays import Frame, Trace


@dataclass(frozen=True)
class Texts:
    """What everybody says."""

    sentences: tuple[str, ...]
    replies: tuple[str, ...]


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
        thorough = Judges(size.naturalness, size.whisper, onsets=True)
        plain = Judges(whisper=size.whisper)
        tasks = [
            self._task(f"sentences {voice.name}", judge, (voice,), sentences, OWN_RATE, thorough)
            for voice in voices
        ]
        replies = spread(texts.replies, size.short_replies)
        tasks.append(self._task("replies", judge, voices, replies, OWN_RATE, plain))
        if size.timed:
            timed = spread(texts.sentences, size.timed)
            tasks.append(self._task("delays", measure_delays, voices[0], timed))
        at_rates = spread(texts.sentences, size.rate_sentences)
        tasks += [
            self._task(f"rates {rate:g}", judge, voices, at_rates, rate, plain)
            for rate in size.rates
        ]
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
