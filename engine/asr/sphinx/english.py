"""The English models of pocketsphinx: a trigram model and a pronouncing dictionary.

The trigram model is loaded once and shared; the dictionary is never kept in memory.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from engine.asr.sphinx.pronounce import pronounce
from engine.errors import ModelError
from engine.machine import native_path

UNKNOWN = -20.0  # natural logarithm

_NO_WORD = "<none>"
_MOST_SOUNDS = 8  # of one word; the dictionary has at most four
_EVENNESS = 0.6  # 1 = draw words as often as people say them, 0 = all equally often


@cache
def trigrams() -> Any:
    """Load the model (31 MB, 70 ms): a pocketsphinx.NGramModel, weighted for a search. ModelError
    if it is missing.
    """
    try:
        import pocketsphinx  # imports its models: only when needed

        path = native_path(pocketsphinx.get_model_path("en-us/en-us.lm.bin"))
        return pocketsphinx.NGramModel(pocketsphinx.Config(), pocketsphinx.LogMath(), path)
    except (ImportError, RuntimeError, ValueError) as error:
        raise incomplete(error) from error


def write_dictionary(words: Iterable[str], file: Path) -> None:
    """Write the pronunciations of these lower-case words; words without letters are left out.
    ModelError if the dictionary is missing.
    """
    entries = _entries()

    def first(word: str) -> str | None:
        return next(iter(_sounds(word, entries)), None)

    lines: list[str] = []
    for word in sorted(set(words)):
        composed = pronounce(word, first)
        for number, phones in enumerate(_sounds(word, entries) or filter(None, [composed])):
            lines.append(f"{word}({number + 1}) {phones}" if number else f"{word} {phones}")
    file.write_text("\n".join(lines) + "\n", encoding="ascii")


def pronunciations(words: Iterable[str]) -> dict[str, str]:
    """Return the pronunciations of the lower-case words that the dictionary has. ModelError if it
    is missing.
    """
    entries = _entries()
    known = {word: _sounds(word, entries) for word in words}
    return {word: phones[0] for word, phones in known.items() if phones}


def log_chance(words: Sequence[str]) -> float:
    """Return the natural logarithm of the probability that these words begin at a word of English
    speech. A word outside the trigram model counts as UNKNOWN. ModelError if the model is missing.
    """
    import pocketsphinx

    one = pocketsphinx.LogMath().log(math.e)
    model = trigrams()
    history = [list(words[max(0, place - 2) : place])[::-1] for place in range(len(words))]
    chances = (model.prob([word, *past]) / one for word, past in zip(words, history, strict=True))
    return float(sum(max(UNKNOWN, chance) for chance in chances))


@cache
def common_words() -> dict[str, float]:
    """Return words of letters with weights for drawing them. Rare words get more weight than their
    frequency, as the few most common ones are half of all speech. ModelError if the dictionary or
    the trigram model is missing.
    """
    model = trigrams()
    unknown = model.prob([_NO_WORD])
    words = {word for word in map(_word, _entries()) if word.isalpha()}
    chances = {word: model.prob([word]) for word in sorted(words)}
    return {
        word: math.exp(_EVENNESS * log_chance([word]))
        for word, chance in chances.items()
        if chance != unknown
    }


def incomplete(error: Exception) -> ModelError:
    """Return the ModelError for a pocketsphinx, or a part of its model, that does not load."""
    return ModelError(
        "The built-in recogniser does not load: {error}",
        hint="The package pocketsphinx or its model en-us is missing; install Rubato again.",
        error=error,
    )


def write_known(file: Path) -> None:
    """Write the pronunciations of all words of the trigram model. pocketsphinx looks for no others,
    and needs 12 MB less without them. ModelError if the model or the dictionary is missing.
    """
    model = trigrams()
    unknown = model.prob([_NO_WORD])
    known = (entry for entry in _entries() if model.prob([_word(entry)]) != unknown)
    file.write_text("\n".join(known) + "\n", encoding="utf-8")


def _entries() -> list[str]:
    """Return a line for each pronunciation of 126,000 words, sorted by word."""
    try:
        from pocketsphinx import get_model_path

        path = Path(get_model_path("en-us/cmudict-en-us.dict"))
        return path.read_text(encoding="utf-8").splitlines()
    except (ImportError, OSError) as error:
        raise incomplete(error) from error


def _word(entry: str) -> str:
    """Return the word of an entry, without phones and variant number."""
    return entry.partition(" ")[0].partition("(")[0]


def _sounds(word: str, entries: list[str]) -> list[str]:
    """Return the pronunciations of a word; empty if it has no entry. A bisection of the lines: a
    table of all words would take 0.15 s and 36 MB for some hundred look-ups.
    """
    first = bisect_left(entries, word, key=_word)
    next_ones = entries[first : first + _MOST_SOUNDS]
    own = takewhile(lambda entry: _word(entry) == word, next_ones)
    return [entry.partition(" ")[2] for entry in own]
