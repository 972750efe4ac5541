"""What is measured of a pack, of its sources and of the formant voice, and where it is kept.

Everything is a part (`engine.training.tasks`). What does not depend on the pack is a baseline: it
is measured once, and its folder can be copied to another run.
Invariant: the same texts for every talker; none of them was trained on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from engine.training.corpus.speakers import cast
from engine.training.corpus.texts import read_texts
from engine.training.export import pack_folder
from engine.training.judge import cloning
from engine.training.judge.figures import DOWN, UP, Results
from engine.training.judge.long_text import judge_long
from engine.training.judge.performance import OWN_RATE, syllables_of
from engine.training.judge.speed import speed
from engine.training.judge.talkers import (
    FormantTalker,
    PackTalker,
    Talker,
    pack_hashes,
    source_talkers,
    talkers_beside,
)
from engine.training.judge.verdicts import (
    FORMAT,
    Judges,
    Verdict,
    bigram_judge,
    judge,
    read_verdicts,
)
from engine.training.run import Run, file_hash, read_json
from engine.training.tasks import Place, Task, result

STEP_SENTENCES: Final = 6  # in an utterance whose rate changes
CLONE_SENTENCES: Final = 2
SPEED_SENTENCES: Final = 8
_PLAIN: Final = (OWN_RATE,)
_PERSON: Final = "cloning/person "


@dataclass(frozen=True)
class Measurements:
    """The parts of a run's baselines and evaluation, and what they found."""

    run: Run

    @cached_property
    def baselines(self) -> Path:
        return self.run.stage("baselines")

    @cached_property
    def results(self) -> Path:
        return self.run.stage("evaluate")

    # ------------------------------------------------------------------ texts

    @cached_property
    def _vocabulary(self) -> tuple[str, ...]:
        """What the bigram holds."""
        texts = read_texts(self.run)
        return (*texts.test, *texts.short)

    @cached_property
    def _sentences(self) -> tuple[str, ...]:
        """All test sentences whose words the judges know."""
        return tuple(filter(bigram_judge(self._vocabulary).knows, read_texts(self.run).test))

    @cached_property
    def _replies(self) -> tuple[str, ...]:
        replies = filter(bigram_judge(self._vocabulary).knows, read_texts(self.run).short)
        return _spread(tuple(replies), self.run.recipe.evaluate.short_replies)

    @cached_property
    def _turning(self) -> tuple[str, ...]:
        """Longer texts, one for each change of the slider."""
        size = min(STEP_SENTENCES, len(self._sentences))
        count = max(1, len(self._sentences) // size)
        return tuple(" ".join(self._sentences[n::count][:size]) for n in range(count))

    @cached_property
    def _long(self) -> str:
        """Continuous text of as many syllables as the seconds hold."""
        needed = self.run.recipe.evaluate.long_seconds * OWN_RATE
        sentences: list[str] = []
        syllables = 0
        while syllables < needed:
            sentence = self._sentences[len(sentences) % len(self._sentences)]
            sentences.append(sentence)
            syllables += syllables_of(sentence)
        return " ".join(sentences)

    # ------------------------------------------------------------------ parts

    @cached_property
    def baseline_parts(self) -> tuple[Task, ...]:
        sources, formant = source_talkers(self.run.recipe), FormantTalker()
        parts = [
            *self._parts("sources", sources),
            *self._parts("espeak", (formant,)),
            *self._live("espeak", (formant,)),
        ]
        for name, talkers in self._beside.items():
            parts += self._parts(name, talkers)
            if isinstance(talkers[0], PackTalker):
                parts += self._live(name, talkers)
        return tuple(parts)

    @cached_property
    def _beside(self) -> dict[str, tuple[Talker, ...]]:
        return talkers_beside(self.run.recipe)

    @cached_property
    def parts(self) -> tuple[Task, ...]:
        """Parts that depend on the pack, the most telling first."""
        return (*self._parts("", self._voices), *self._live("", self._voices), *self._clones)

    @cached_property
    def speed(self) -> Task:
        texts = _spread(self._sentences, SPEED_SENTENCES)
        return Task("speed", speed, (self._folder, texts), self._pack)

    @property
    def _folder(self) -> Place:
        return Place(pack_folder(self.run))

    @cached_property
    def _pack(self) -> tuple[str, ...]:
        return pack_hashes(pack_folder(self.run))

    @cached_property
    def _voices(self) -> tuple[PackTalker, ...]:
        names = read_json(self.run.stage("export") / "manifest.json")["voices"]
        return tuple(PackTalker(self._folder, str(name)) for name in names)

    def _parts(self, side: str, talkers: Sequence[Talker]) -> list[Task]:
        """Everything that needs no change of rate while speaking."""
        size = self.run.recipe.evaluate
        thorough = Judges(self._vocabulary, True, True, size.naturalness, size.whisper)
        sentences = _spread(self._sentences, size.sentences)
        parts = [
            self._part(side, f"sentences {talker.name}", (talker,), sentences, _PLAIN, thorough)
            for talker in talkers
        ]
        plain = Judges(self._vocabulary, whisper=size.whisper)
        parts.append(self._part(side, "replies", talkers, self._replies, _PLAIN, plain))
        sentences = _spread(self._sentences, size.rate_sentences)
        for rate in size.rates:
            judges = Judges(self._vocabulary, open=rate in UP, whisper=size.whisper)
            parts.append(self._part(side, f"rates {rate:g}", talkers, sentences, (rate,), judges))
        return parts

    def _live(self, side: str, talkers: Sequence[Talker]) -> list[Task]:
        """What only a session can do: change its rate, and go on for minutes."""
        texts = _spread(self._turning, max(len(talkers), 2))
        judges = Judges(self._turning, whisper=self.run.recipe.evaluate.whisper)
        parts = [
            self._part(side, _step(rates), talkers, texts, rates, judges) for rates in (UP, DOWN)
        ]
        arguments = (talkers[0], self._long, OWN_RATE)
        return [*parts, Task(_called(side, "long"), judge_long, arguments, self._depends(talkers))]

    @cached_property
    def _clones(self) -> list[Task]:
        """Held-out speakers cloned, and the named voices they should not be taken for."""
        if not cloning.available():
            return []
        corpus = self.run.stage("corpus")
        hashes = (*self._pack, file_hash(corpus / "manifest.json"))
        people = [person.number for person in cast(self.run.recipe) if person.held_out]
        texts = _spread(self._sentences, CLONE_SENTENCES)
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

    def _part(
        self,
        side: str,
        name: str,
        talkers: Sequence[Talker],
        texts: tuple[str, ...],
        rates: tuple[float, ...],
        judges: Judges,
    ) -> Task:
        arguments = (tuple(talkers), texts, rates, judges)
        return Task(_called(side, name), judge, arguments, self._depends(talkers))

    def _depends(self, talkers: Sequence[Talker]) -> tuple[str, ...]:
        first = talkers[0]
        if not isinstance(first, PackTalker):
            return (FORMAT,)
        own = first.folder == self._folder
        return (FORMAT, *(self._pack if own else _hashes_beside(first.folder)))

    # ------------------------------------------------------------------- found

    @property
    def complete(self) -> bool:
        """Whether every part has been done."""
        ours = [result(part, self.results) for part in (*self.parts, self.speed)]
        others = [result(part, self.baselines) for part in self.baseline_parts]
        return None not in (*ours, *others)

    def ours(self) -> Results:
        """What was heard of the pack's voices."""
        results = self._results(self.results, "", self.parts)
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
        """What was heard of the synthesisers; their likeness is the held-out speakers' own."""
        results = self._results(self.baselines, "sources", self.baseline_parts)
        return replace(results, likeness=self._likeness("prompt"))

    def formant(self) -> Results:
        """What was heard of the formant voice."""
        return self._results(self.baselines, "espeak", self.baseline_parts)

    def beside(self) -> dict[str, Results]:
        """What was heard of whom the recipe compares with."""
        return {
            name: self._results(self.baselines, name, self.baseline_parts) for name in self._beside
        }

    def _results(self, folder: Path, side: str, parts: Sequence[Task]) -> Results:
        by_name = {part.name: part for part in parts}

        def verdicts(name: str) -> tuple[Verdict, ...]:
            part = by_name.get(_called(side, name))
            return tuple(read_verdicts(result(part, folder))) if part else ()

        long = by_name.get(_called(side, "long"))
        minutes = (result(long, folder) or {}).get("minutes", ()) if long else ()
        start = _called(side, "sentences ")
        talkers = [name.removeprefix(start) for name in by_name if name.startswith(start)]
        return Results(
            sentences=tuple(v for name in talkers for v in verdicts(f"sentences {name}")),
            replies=verdicts("replies"),
            rates={r: verdicts(f"rates {r:g}") for r in self.run.recipe.evaluate.rates},
            steps={step: verdicts(_step(step)) for step in (UP, DOWN)},
            minutes=tuple(minutes),
        )

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


def _called(side: str, name: str) -> str:
    return f"{side}/{name}" if side else name


def _step(rates: tuple[float, ...]) -> str:
    return f"steps {rates[0]:g} to {rates[-1]:g}"


def _spread(texts: tuple[str, ...], most: int) -> tuple[str, ...]:
    """At most so many texts, from all over the list: it is sorted by the alphabet."""
    count = min(most, len(texts))
    return tuple(texts[place * len(texts) // count] for place in range(count))
