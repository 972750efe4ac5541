"""The English that comes with pocketsphinx: a trigram model and a pronouncing dictionary.

Invariant: the trigram model is in memory once, whoever asks; the dictionary never stays there.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from engine.asr.sphinx.asides import SOUNDS
from engine.asr.sphinx.pronounce import pronounce
from engine.errors import ModelError

Pronunciations = dict[str, list[str]]
"""Word to its phones, once or more often."""


@cache
def trigrams() -> Any:
    """The model, of 31 MB and read in 70 ms: a pocketsphinx.NGramModel, weighted for a search.
    ModelError when it is not there.
    """
    try:
        import pocketsphinx  # brings its models along: only when they are wanted

        path = pocketsphinx.get_model_path("en-us/en-us.lm.bin")
        return pocketsphinx.NGramModel(pocketsphinx.Config(), pocketsphinx.LogMath(), path)
    except (ImportError, RuntimeError, ValueError) as error:
        raise incomplete(error) from error


def write_dictionary(words: Iterable[str], file: Path) -> None:
    """Write how these lower-case words sound; one without letters is left out. ModelError when the
    dictionary is not there.
    """
    entries = _dictionary()

    def first(word: str) -> str | None:
        return entries[word][0] if word in entries else None

    lines: list[str] = []
    for word in sorted(set(words)):
        composed = SOUNDS.get(word) or pronounce(word, first)
        for number, phones in enumerate(entries.get(word) or filter(None, [composed])):
            lines.append(f"{word}({number + 1}) {phones}" if number else f"{word} {phones}")
    file.write_text("\n".join(lines) + "\n", encoding="ascii")


def incomplete(error: Exception) -> ModelError:
    """What to say where pocketsphinx or a part of its model does not load."""
    return ModelError(
        f"The built-in recogniser does not load: {error}",
        hint="The package pocketsphinx or its model en-us is missing; install Rubato again.",
    )


def _dictionary() -> Pronunciations:
    """All 126,000 words."""
    try:
        from pocketsphinx import get_model_path

        path = Path(get_model_path("en-us/cmudict-en-us.dict"))
        lines = path.read_text(encoding="utf-8").splitlines()
    except (ImportError, OSError) as error:
        raise incomplete(error) from error
    pronunciations: Pronunciations = {}
    for line in lines:
        name, phones = line.split(" ", 1)
        pronunciations.setdefault(name.partition("(")[0], []).append(phones)
    return pronunciations
