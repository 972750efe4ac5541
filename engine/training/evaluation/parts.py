"""The parts of a measurement of voices: their texts and rates, and the results.

Each part is a task (`engine.training.tasks`), so that nothing is measured twice. Invariant: all
voices say the same texts; none of them was trained on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.errors import InvalidInput
from engine.training.evaluation.figures import Results
from engine.training.evaluation.performance import OWN_RATE
from engine.training.evaluation.results import FORMAT, Judges, Result, judge, read_results
from engine.training.evaluation.voices import LiveVoice, measure_delays
from engine.training.tasks import Result as Found
from engine.training.tasks import Task, result
from engine.translatable import Translatable
from engine.tts.delays import Frame, Trace


@dataclass(frozen=True)
class Size:
    """How much is measured; 0 and () = nothing."""

    sentences: int  # by every voice
    naturalness: int  # of them, that DNSMOS judges
    short_replies: int  # by all voices in turn, like everything below
    timed: int  # sentences by the first voice whose frames are timed
    rates: tuple[float, ...]
    rate_sentences: int  # at every rate


@dataclass(frozen=True)
class Texts:
    """The texts of all voices."""

    sentences: tuple[str, ...]
    replies: tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """`name` begins the names of the tasks; `depends` are hashes of the files they read."""

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
        """The result of the task of this name; empty when it was not done."""
        task = next((task for task in self.tasks if task.name == self._called(name)), None)
        return (task and result(task, folder)) or {}

    def _judged(self, name: str, folder: Path) -> tuple[Result, ...]:
        return read_results(self._found(name, folder))


def chosen(tasks: Sequence[Task], only: Sequence[str]) -> list[Task]:
    """The tasks whose names begin with one of `only` (empty = all). InvalidInput for none."""
    asked = [task for task in tasks if not only or task.name.startswith(tuple(only))]
    if not asked:
        raise InvalidInput(
            "No part begins with {names}.",
            hint=Translatable("Parts: {names}.", names=", ".join(task.name for task in tasks)),
            names=", ".join(only),
        )
    return asked


def spread(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    """At most `most` texts, spread over the list, because it is sorted alphabetically."""
    count = min(most, len(texts))
    return tuple(texts[place * len(texts) // count] for place in range(count))
