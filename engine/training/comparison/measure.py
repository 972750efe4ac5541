"""What is measured for every system, as tasks whose results are saved.

Invariant: all systems get the same sentences, seed and clock. The sentences are drawn from
templates of our grammar that training never uses, so a fresh clone has them.
"""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import psutil

from engine.nn import stored_weights
from engine.training.comparison.systems import EQUAL_BUDGET, System
from engine.training.corpus import grammar
from engine.training.corpus.speakers import cast
from engine.training.judge import cloning
from engine.training.judge.figures import Results
from engine.training.judge.performance import OWN_RATE
from engine.training.judge.side import Side, Texts, spread
from engine.training.judge.talkers import FORMANT, LiveTalker, pack_hashes, torch_alone
from engine.training.judge.verdicts import FORMAT, bigram_judge
from engine.training.recipe import QUICK, Evaluate, read_recipe
from engine.training.run import fingerprint
from engine.training.tasks import Place, Task, result
from engine.training.teachers import synthesisers
from engine.tts.delays import Frame, Trace, trace

SIZE: Final = Evaluate(
    sentences=40, short_replies=36, rates=(1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 6.5), rate_sentences=12,
    naturalness=16, clones=16,
)  # fmt: skip
SMALL: Final = QUICK
TIMED_SENTENCES: Final = 8
CLONE_SENTENCES: Final = 2
SAID_BY_SPEAKERS: Final = 8  # sentences, enough for a prompt and as much other speech
_SEED: Final = "comparison"
_MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True)
class Figures:
    """What is known about one system; what was not measured is empty. `beside` are the shipped
    voice's traces of the same run, for times of different machines cannot be compared.
    """

    results: Results
    traces: tuple[Trace, ...] = ()
    parameters: int | None = None
    disk_megabytes: float | None = None
    beside: tuple[Trace, ...] = ()


@dataclass(frozen=True)
class Measurement:
    """One system, and the folder its results are kept in."""

    system: System
    folder: Path
    size: Evaluate = SIZE

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks named after the system; the timed ones come last, because they need a process of
        their own."""
        return (*self._side.tasks, *self._clones, *self.timed)

    @cached_property
    def timed(self) -> tuple[Task, ...]:
        """The tasks that must be measured with nothing else running."""
        sentences = spread(self._side.texts.sentences, TIMED_SENTENCES)
        talker, depends = self.system.talkers()[0], self._side.depends
        return (
            Task(f"{self.system.name}/delays", measure_delays, (talker, sentences), depends),
            Task(f"{self.system.name}/memory", measure_memory, (talker, sentences), depends),
        )

    def figures(self) -> Figures:
        """What the results in the folder say."""
        delays, memory = (result(task, self.folder) or {} for task in self.timed)
        results = replace(self._side.results(self.folder), likeness=self._likeness())
        if memory:
            own = memory["megabytes"] - memory["torch_megabytes"]
            results = replace(results, megabytes=(memory["megabytes"],), own_megabytes=(own,))
        return Figures(
            results,
            tuple(
                Trace(row["words"], tuple(Frame(**f) for f in row["frames"]), tuple(row["speech"]))
                for row in delays.get("traces", ())
            ),
            *_extent(self.system),
        )

    @property
    def pack(self) -> str:
        """A fingerprint of the files that are heard; "" = it has none."""
        return fingerprint(*pack_hashes(self.system.folder)) if self.system.folder else ""

    @cached_property
    def _clones(self) -> list[Task]:
        """Clones of the speakers that all recipes of the comparison hold out, and the named voices
        that they should not be mistaken for. None where a clone cannot be made or judged here.
        """
        folder = self.system.folder
        if folder is None or not (self.system.can_clone and cloning.available()):
            return []
        recipe = read_recipe(EQUAL_BUDGET)
        people = [person for person in cast(recipe) if person.held_out]
        if synthesisers.missing(sorted({person.base.synthesiser for person in people})):
            return []
        said = spread(self._side.texts.sentences, SAID_BY_SPEAKERS)
        texts = spread(self._side.texts.sentences, CLONE_SENTENCES)
        clones = [
            Task(
                f"{self.system.name}/cloning {person.number}",
                cloning.clone_virtual,
                (Place(folder), person, said, texts),
                self._side.depends,
            )
            for person in people[: self.size.clones]
        ]
        named = [
            Task(
                f"{self.system.name}/cloning {talker.name}",
                cloning.named,
                (talker, texts),
                self._side.depends,
            )
            for talker in self.system.talkers()
        ]
        return clones + named

    def _likeness(self) -> cloning.Likeness | None:
        results = [result(task, self.folder) or {} for task in self._clones]
        return cloning.likeness(
            [each for each in results if "clone" in each],
            [each for each in results if "vector" in each],
        )

    @cached_property
    def _side(self) -> Side:
        folder = self.system.folder
        depends = (FORMAT, *(pack_hashes(folder) if folder else ()))
        size = self.size if self.system.rate else replace(self.size, rates=())
        return Side(self.system.name, self.system.talkers(), fixed_texts(), size, depends)


def fixed_texts() -> Texts:
    """Sentences and replies that no system was trained on, always the same."""
    draw = random.Random(_SEED)
    sentences: set[str] = set()
    while len(sentences) < 2 * SIZE.sentences:
        sentences.add(grammar.test_sentence(draw))
    replies = {grammar.short_reply(draw) for _ in range(10 * SIZE.short_replies)}
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


def measure_memory(talker: LiveTalker, texts: Sequence[str]) -> dict[str, Any]:
    """A task for a fresh process: its resident megabytes after the texts, and those of a process
    that has only imported torch.
    """
    talker.speak(texts, (OWN_RATE,))
    megabytes = psutil.Process().memory_info().rss / _MEGABYTE
    return {"megabytes": megabytes, "torch_megabytes": torch_alone() / _MEGABYTE}


def _extent(system: System) -> tuple[int | None, float | None]:
    """Parameters, and megabytes on the disk, of a pack; of espeak none."""
    if system.folder is None:
        return (0, 0.0) if system.source == FORMANT else (None, None)
    folder = system.folder
    tensors = [stored_weights.load(file) for file in folder.glob("*.safetensors")]
    parameters = sum(tensor.numel() for file in tensors for tensor in file.values())
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return parameters, size / _MEGABYTE
