"""What is measured for every system, as tasks whose results are saved.

Invariant: all systems get the same sentences, seed and clock. The sentences are drawn from
templates of our grammar that training never uses, so a fresh clone has them.
"""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from engine.nn import stored_weights
from engine.training.comparison.systems import System
from engine.training.corpus import grammar
from engine.training.evaluation.figures import Results
from engine.training.evaluation.performance import OWN_RATE
from engine.training.evaluation.side import Texts, spread
from engine.training.evaluation.talkers import LiveTalker, pack_hashes
from engine.training.evaluation.verdicts import (
    FORMAT,
    Judges,
    Verdict,
    bigram_judge,
    judge,
    read_verdicts,
)
from engine.training.tasks import Task, result
from engine.tts.delays import Frame, Trace, trace

_SEED: Final = "comparison"
_MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True)
class Size:
    """How much is measured: little enough for all systems to be done in one sitting."""

    sentences: int = 40  # by every voice
    natural: int = 16  # of them, that DNSMOS hears
    replies: int = 24  # by all voices in turn, like everything below
    rates: tuple[float, ...] = (2.0, 4.0, 6.0)  # SPS
    rate_sentences: int = 8  # at every rate
    timed: int = 6
    whisper: bool = True


SIZE: Final = Size()
SMALL: Final = Size(sentences=4, natural=1, replies=4, rate_sentences=2, timed=2)


@dataclass(frozen=True)
class Figures:
    """What is known about one system; what was not measured is empty."""

    results: Results
    traces: tuple[Trace, ...] = ()
    parameters: int | None = None
    disk_megabytes: float | None = None


@dataclass(frozen=True)
class Measurement:
    """One system, and the folder its results are kept in."""

    system: System
    folder: Path
    size: Size = SIZE

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks named after the system, the most telling first."""
        if not self.system.present:
            return ()
        texts, size, talkers = fixed_texts(), self.size, self.system.talkers()
        sentences = spread(texts.sentences, size.sentences)
        thorough = Judges(texts.vocabulary, natural=size.natural, whisper=size.whisper)
        plain = Judges(texts.vocabulary, whisper=size.whisper)
        replies = spread(texts.replies, size.replies)
        at_rates = spread(texts.sentences, size.rate_sentences)
        timed = spread(texts.sentences, size.timed)
        return (
            *(
                self._task(f"sentences {each.name}", (each,), sentences, OWN_RATE, thorough)
                for each in talkers
            ),
            self._task("replies", talkers, replies, OWN_RATE, plain),
            self._named("delays", measure_delays, talkers[0], timed),
            *(
                self._task(f"rates {rate:g}", talkers, at_rates, rate, plain)
                for rate in (size.rates if self.system.rate else ())
            ),
        )

    def figures(self) -> Figures:
        """What the results in the folder say."""
        delays = self._found("delays") or {}
        results = Results(
            sentences=self._verdicts("sentences "),
            replies=self._verdicts("replies"),
            rates={rate: self._verdicts(f"rates {rate:g}") for rate in self.size.rates},
        )
        return Figures(
            results,
            tuple(
                Trace(row["words"], tuple(Frame(**f) for f in row["frames"]), tuple(row["speech"]))
                for row in delays.get("traces", ())
            ),
            *_extent(self.system),
        )

    def _task(
        self,
        name: str,
        talkers: Sequence[LiveTalker],
        texts: tuple[str, ...],
        rate: float,
        judges: Judges,
    ) -> Task:
        return self._named(name, judge, tuple(talkers), texts, (rate,), judges)

    def _named(self, name: str, do: Any, *given: Any) -> Task:
        folder = self.system.folder
        depends = (FORMAT, *(pack_hashes(folder) if folder else ()))
        return Task(f"{self.system.name}/{name}", do, given, depends)

    def _found(self, name: str) -> dict[str, Any] | None:
        """The result of the task of this name; None = it was not done."""
        called = (task for task in self.tasks if task.name == f"{self.system.name}/{name}")
        return next((result(task, self.folder) for task in called), None)

    def _verdicts(self, beginning: str) -> tuple[Verdict, ...]:
        """Of all tasks whose names begin so."""
        start = f"{self.system.name}/{beginning}"
        own = [task for task in self.tasks if task.name.startswith(start)]
        return tuple(each for task in own for each in read_verdicts(result(task, self.folder)))


def fixed_texts() -> Texts:
    """Sentences and replies that no system was trained on, always the same."""
    draw = random.Random(_SEED)
    sentences: set[str] = set()
    while len(sentences) < 2 * SIZE.sentences:
        sentences.add(grammar.test_sentence(draw))
    replies = {grammar.short_reply(draw) for _ in range(10 * SIZE.replies)}
    vocabulary = (*sorted(sentences), *sorted(replies))
    knows = bigram_judge(vocabulary).knows
    return Texts(
        vocabulary,
        tuple(filter(knows, sorted(sentences)))[: SIZE.sentences],
        tuple(filter(knows, sorted(replies))),
    )


def measure_delays(talker: LiveTalker, texts: Sequence[str]) -> dict[str, Any]:
    """A task: the traces of the texts, at OWN_RATE, the voice warm."""
    model, voice = talker.ready()
    return {"traces": [asdict(trace(model, voice, text, OWN_RATE)) for text in texts]}


def _extent(system: System) -> tuple[int | None, float | None]:
    """Parameters, and megabytes on the disk, of a pack."""
    if (folder := system.folder) is None:
        return None, None
    tensors = [stored_weights.load(file) for file in folder.glob("*.safetensors")]
    parameters = sum(tensor.numel() for file in tensors for tensor in file.values())
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return parameters, size / _MEGABYTE
