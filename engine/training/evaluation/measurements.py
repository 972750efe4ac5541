"""The stages `baselines` and `evaluate`: what is measured of a pack on unseen texts, speakers and
seeds, of its sources and of the formant voice, and where the results are saved. The table is made
from saved parts only, so it can be printed at any time.

Everything is a part (`engine.training.tasks`). A part that does not depend on the pack is a
baseline: it is measured once, and its folder can be copied to another run. Invariant: the same
texts for every talker; none of them was trained on.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from engine.errors import InvalidInput
from engine.training.card import write_card
from engine.training.corpus.speakers import cast
from engine.training.corpus.texts import read_texts
from engine.training.evaluation import cloning
from engine.training.evaluation.figures import Results, details, table
from engine.training.evaluation.side import Side, Texts, spread
from engine.training.evaluation.talkers import (
    FORMANT,
    LiveTalker,
    Talker,
    pack_hashes,
    source_talkers,
    speed,
    talkers_beside,
)
from engine.training.evaluation.verdicts import FORMAT, bigram_judge
from engine.training.packing import pack_folder
from engine.training.run import Run, file_hash, read_json, write_json
from engine.training.tasks import Place, Task, begins, do_tasks, result
from engine.translatable import Translatable
from engine.tts.espeak.voices import VOICES

CLONE_SENTENCES: Final = 2
SPEED_SENTENCES: Final = 8
_PERSON: Final = "cloning/person "


@dataclass(frozen=True)
class Measurements:
    """The parts of a run's baselines and evaluation, and their results."""

    run: Run

    @cached_property
    def baselines(self) -> Path:
        return self.run.stage("baselines")

    @cached_property
    def results(self) -> Path:
        return self.run.stage("evaluate")

    @cached_property
    def _texts(self) -> Texts:
        """Test sentences and replies whose words the judges know."""
        texts = read_texts(self.run)
        vocabulary = (*texts.test, *texts.short)
        knows = bigram_judge(vocabulary).knows
        replies = tuple(filter(knows, texts.short))
        return Texts(vocabulary, tuple(filter(knows, texts.test)), replies)

    # ------------------------------------------------------------------ parts

    @cached_property
    def baseline_parts(self) -> tuple[Task, ...]:
        sides = (self._sources, self._formant, *self._beside.values())
        return tuple(task for side in sides for task in side.tasks)

    @cached_property
    def parts(self) -> tuple[Task, ...]:
        """Parts that depend on the pack, the most telling first."""
        return (*self._own.tasks, *self._clones)

    @cached_property
    def _sources(self) -> Side:
        return self._side("sources", source_talkers(self.run.recipe), live=False)

    @cached_property
    def _formant(self) -> Side:
        return self._side(FORMANT, (LiveTalker(FORMANT, VOICES[0].name),))

    @cached_property
    def _own(self) -> Side:
        return self._side("", self._voices)

    @cached_property
    def _beside(self) -> dict[str, Side]:
        return {
            name: self._side(name, talkers, live=isinstance(talkers[0], LiveTalker))
            for name, talkers in talkers_beside(self.run.recipe).items()
        }

    def _side(self, name: str, talkers: Sequence[Talker], *, live: bool = True) -> Side:
        depends = self._depends(talkers)
        return Side(name, tuple(talkers), self._texts, self.run.recipe.evaluate, depends, live)

    @cached_property
    def speed(self) -> Task:
        texts = spread(self._texts.sentences, SPEED_SENTENCES)
        return Task("speed", speed, (self._folder, texts), self._pack)

    @property
    def _folder(self) -> Place:
        return Place(pack_folder(self.run))

    @cached_property
    def _pack(self) -> tuple[str, ...]:
        return pack_hashes(pack_folder(self.run))

    @cached_property
    def _voices(self) -> tuple[LiveTalker, ...]:
        names = read_json(self.run.stage("export") / "manifest.json")["voices"]
        return tuple(LiveTalker(self._folder, str(name)) for name in names)

    @cached_property
    def _clones(self) -> list[Task]:
        """Clones of held-out speakers, and the named voices that they should not be mistaken
        for."""
        if not cloning.available() or not self.run.is_done("export"):
            return []
        corpus = self.run.stage("corpus")
        hashes = (*self._pack, file_hash(corpus / "manifest.json"))
        people = [person.number for person in cast(self.run.recipe) if person.held_out]
        texts = spread(self._texts.sentences, CLONE_SENTENCES)
        return [
            *(
                Task(f"cloning/{number}", cloning.clone,
                     (self._folder, Place(corpus), number, texts), hashes)
                for number in people[: self.run.recipe.evaluate.clones]
            ),
            *(
                Task(f"{_PERSON}{number}", cloning.clone_person, (self._folder, pattern, texts),
                     self._pack)
                for number, pattern in enumerate(self.run.recipe.evaluate.people, start=1)
            ),
            *(
                Task(f"cloning/{talker.name}", cloning.named, (talker, texts), self._pack)
                for talker in self._voices
            ),
        ]  # fmt: skip

    def _depends(self, talkers: Sequence[Talker]) -> tuple[str, ...]:
        first = talkers[0]
        if not isinstance(first, LiveTalker) or first.source == FORMANT:
            return (FORMAT,)  # of no pack
        own = first.source == self._folder
        return (FORMAT, *(self._pack if own else _hashes_beside(first.source)))

    # ------------------------------------------------------------------- found

    @property
    def complete(self) -> bool:
        """Whether every part has been done."""
        ours = [result(part, self.results) for part in (*self.parts, self.speed)]
        others = [result(part, self.baselines) for part in self.baseline_parts]
        return None not in (*ours, *others)

    def ours(self) -> Results:
        """The results of the pack's voices."""
        results = self._own.results(self.results)
        cost = result(self.speed, self.results) or {}
        return replace(
            results,
            likeness=self._likeness("clone"),
            people=self._people(),
            factors=tuple(cost.get("factors", ())),
            first_ms=tuple(cost.get("first_ms", ())),
            megabytes=(cost["megabytes"],) if cost else (),
            own_megabytes=(cost["megabytes"] - cost["torch_megabytes"],) if cost else (),
        )

    def sources(self) -> Results:
        """The results of the synthesisers; their likeness is that of the held-out speakers
        themselves."""
        results = self._sources.results(self.baselines)
        return replace(results, likeness=self._likeness("prompt"))

    def formant(self) -> Results:
        """The results of the formant voice."""
        return self._formant.results(self.baselines)

    def beside(self) -> dict[str, Results]:
        """The results of the systems that the recipe compares with."""
        return {name: side.results(self.baselines) for name, side in self._beside.items()}

    def _likeness(self, key: str) -> cloning.Likeness | None:
        virtual = [part for part in self._clones if not part.name.startswith(_PERSON)]
        results = [result(part, self.results) or {} for part in virtual]
        speakers = [each for each in results if "clone" in each]
        return cloning.likeness(speakers, [each for each in results if "vector" in each], key)

    def _people(self) -> tuple[cloning.Likened, ...]:
        """The clones of real people, those that could be made."""
        results = {part.name: result(part, self.results) or {} for part in self._clones}
        starters = [each for each in results.values() if "vector" in each]
        outcomes = (
            cloning.likened(name.removeprefix("cloning/"), each, starters)
            for name, each in results.items()
            if name.startswith(_PERSON)
        )
        return tuple(each for each in outcomes if each is not None)


@lru_cache(maxsize=8)
def _hashes_beside(folder: str) -> tuple[str, ...]:
    return pack_hashes(Path(folder))


def measure_baselines(run: Run) -> None:
    """Measure what the pack will be compared with, and print it; this needs only the corpus's
    texts."""
    measurements = Measurements(run)
    others = [part for part in measurements.baseline_parts if begins(part, run.only)]
    try:
        do_tasks("baselines", measurements.baselines, others, run.workers, fresh=True)
    finally:
        sys.stdout.write(_report(measurements, Results()))
    if len(others) == len(measurements.baseline_parts):
        run.finish("baselines", {})


def evaluate_pack(run: Run) -> None:
    """Measure what is not measured yet, print the table, write figures.json and the pack's card.

    With `run.only`, only the parts whose names begin like that; the stage is done once all parts
    are. The baselines come last, because the voice's own figures are wanted first.
    """
    inputs = run.require("corpus", "export")
    measurements = Measurements(run)
    parts = [part for part in measurements.parts if begins(part, run.only)]
    cost = [measurements.speed] if begins(measurements.speed, run.only) else []
    others = [part for part in measurements.baseline_parts if begins(part, run.only)]
    if not (parts or cost or others):
        every = (*measurements.parts, measurements.speed, *measurements.baseline_parts)
        names = ", ".join(part.name for part in every)
        raise InvalidInput(
            "No part begins with {names}.",
            hint=Translatable("Parts: {names}.", names=names),
            names=", ".join(run.only),
        )
    try:
        do_tasks("evaluate", measurements.results, parts, run.workers, fresh=True)
        do_tasks("speed", measurements.results, cost, 1, fresh=True)
        do_tasks("baselines", measurements.baselines, others, run.workers, fresh=True)
    finally:
        text = _report(measurements, measurements.ours())
        sys.stdout.write(text)
        write_json(measurements.results / "figures.json", {"table": text})
        write_card(run, pack_folder(run), {"table": text})
    if measurements.complete:
        run.finish("evaluate", inputs)


def _report(measurements: Measurements, ours: Results) -> str:
    """The table, then each side's details."""
    others = {
        "its sources": measurements.sources(),
        "espeak": measurements.formant(),
        **measurements.beside(),
    }
    sides = {"this voice": ours, **others}
    lists = "".join(f"\n{name}:\n\n{details(results)}" for name, results in sides.items())
    return table(ours, others) + lists
