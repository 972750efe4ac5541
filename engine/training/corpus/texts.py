"""The texts of a corpus: sentences of the grammar's templates for training, and prose.

Invariant: the grammar's templates for tests are never drawn.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from engine.training.corpus import grammar
from engine.training.recipe import Corpus
from engine.training.run import read_json, write_json

FILE: Final = "texts.json"


def draw_text(prose: Sequence[str], draw: random.Random, corpus: Corpus) -> str:
    """A reply, one sentence or two short ones."""
    if corpus.replies and draw.random() < corpus.replies:
        return grammar.reply(draw)
    if not prose or draw.random() < corpus.grammar_share:
        text = grammar.sentence(draw)
    else:
        text = draw.choice(prose)
    if len(text) < 60 and draw.random() < 0.3:
        text += " " + grammar.sentence(draw)
    return text


def read_texts(folder: Path) -> tuple[str, ...]:
    """The prose of a run's corpus. InvalidInput when it is not there."""
    return tuple(read_json(folder / FILE)["prose"])


def has_texts(folder: Path, key: str) -> bool:
    """Return True if there are texts of the recipe with this fingerprint."""
    file = folder / FILE
    return file.is_file() and read_json(file).get("key") == key


def write_texts(folder: Path, prose: Sequence[str], key: str) -> None:
    """Save the prose beside the corpus, with the fingerprint of its recipe."""
    write_json(folder / FILE, {"key": key, "prose": prose})
