"""What is spoken: sentences to train on and sentences to test with, kept apart.

Invariant: no run of five words of a test sentence occurs in a training sentence.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from engine.errors import InvalidInput
from engine.training.corpus import grammar
from engine.training.recipe import Corpus, Recipe
from engine.training.run import read_json, write_json

FILE: Final = "texts.json"
RUN_WORDS: Final = 5
SHORT_REPLIES: Final = 40  # to test with
_TRIES: Final = 200


@dataclass(frozen=True)
class Texts:
    """Test sentences, short replies, prose to train on; grammar is drawn when needed."""

    test: tuple[str, ...]
    short: tuple[str, ...]
    prose: tuple[str, ...]

    def draw(self, random_: random.Random, corpus: Corpus) -> str:
        """A training text: a reply, one sentence or two short ones."""
        if corpus.replies and random_.random() < corpus.replies:
            return self._untested(random_, grammar.reply)
        text = self._sentence(random_, corpus)
        if len(text) < 60 and random_.random() < 0.3:
            text += " " + self._untested(random_, grammar.sentence)
        return text

    def _sentence(self, random_: random.Random, corpus: Corpus) -> str:
        if not self.prose or random_.random() < corpus.grammar_share:
            return self._untested(random_, grammar.sentence)
        return random_.choice(self.prose)

    def _untested(self, random_: random.Random, sentence: Callable[[random.Random], str]) -> str:
        for _ in range(_TRIES):
            text = sentence(random_)
            if not runs(text) & self.tested and text not in self.short:
                return text
        raise InvalidInput("The grammar has no sentence left that is not tested.")

    @cached_property
    def tested(self) -> frozenset[tuple[str, ...]]:
        """Runs of words that no training sentence may contain."""
        return _runs_of(self.test)


def make_texts(recipe: Recipe, prose: Sequence[str]) -> Texts:
    """Draw the test sentences, half of them prose, and remove similar sentences from the prose."""
    draw = random.Random(f"{recipe.seed} test text")
    count = recipe.corpus.test_sentences
    plain = [text for text in prose if 5 <= text.count(" ") + 1 <= 14]
    tests = draw.sample(plain, min(count // 2, len(plain) // 10))
    texts: set[str] = set(tests)
    while len(texts) < count:
        texts.add(grammar.test_sentence(draw))
    test = tuple(sorted(texts))
    replies = sorted({grammar.short_reply(draw) for _ in range(10 * SHORT_REPLIES)})
    tested = _runs_of(test)
    rest = tuple(text for text in prose if not runs(text) & tested)
    return Texts(test, tuple(replies[:SHORT_REPLIES]), rest)


def read_texts(folder: Path) -> Texts:
    """The texts of a run's corpus, made once. InvalidInput when they are not there."""
    table = read_json(folder / FILE)
    return Texts(*(tuple(table[name]) for name in ("test", "short", "prose")))


def has_texts(folder: Path, key: str) -> bool:
    """Return True if there are texts of the recipe with this fingerprint."""
    file = folder / FILE
    return file.is_file() and read_json(file).get("key") == key


def write_texts(folder: Path, texts: Texts, key: str) -> None:
    """Save the texts beside the corpus, with the fingerprint of their recipe."""
    write_json(folder / FILE, {"key": key, **asdict(texts)})


def runs(text: str) -> frozenset[tuple[str, ...]]:
    """All runs of RUN_WORDS words of a text; a shorter text is one run."""
    words = [word.strip(".,!?").lower() for word in text.split()]
    count = max(1, len(words) - RUN_WORDS + 1)
    return frozenset(tuple(words[start : start + RUN_WORDS]) for start in range(count))


def _runs_of(texts: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(run for text in texts for run in runs(text))
