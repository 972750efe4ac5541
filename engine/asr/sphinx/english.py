"""The English that comes with pocketsphinx: a trigram model and a pronouncing dictionary.

Invariant: the trigram model is in memory once, whoever asks; the dictionary never stays there.
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
from engine.native_paths import native_path

UNKNOWN = -20.0  # natural logarithm

_NO_WORD = "<none>"
_MOST_SOUNDS = 8  # of one word; four where counted
_EVENNESS = 0.6  # 1 = words are drawn as often as they are said, 0 = all alike


@cache
def trigrams() -> Any:
    """The model, of 31 MB and read in 70 ms: a pocketsphinx.NGramModel, weighted for a search.
    ModelError when it is not there.
    """
    try:
        import pocketsphinx  # brings its models along: only when they are wanted

        path = native_path(pocketsphinx.get_model_path("en-us/en-us.lm.bin"))
        return pocketsphinx.NGramModel(pocketsphinx.Config(), pocketsphinx.LogMath(), path)
    except (ImportError, RuntimeError, ValueError) as error:
        raise incomplete(error) from error


def write_dictionary(words: Iterable[str], file: Path) -> None:
    """Write how these lower-case words sound; one without letters is left out. ModelError when the
    dictionary is not there.
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
    """How those of the lower-case words sound that the dictionary has. ModelError when it is not
    there.
    """
    entries = _entries()
    known = {word: _sounds(word, entries) for word in words}
    return {word: phones[0] for word, phones in known.items() if phones}


def log_chance(words: Sequence[str]) -> float:
    """Natural logarithm of how likely these words begin at a word of English talk; a word that the
    trigram model lacks is as unlikely as any (UNKNOWN). ModelError when the model is not there.
    """
    import pocketsphinx

    one = pocketsphinx.LogMath().log(math.e)
    model = trigrams()
    history = [list(words[max(0, place - 2) : place])[::-1] for place in range(len(words))]
    chances = (model.prob([word, *past]) / one for word, past in zip(words, history, strict=True))
    return float(sum(max(UNKNOWN, chance) for chance in chances))


@cache
def common_words() -> dict[str, float]:
    """Words of letters, and how often to draw them: rare ones more often than they are said, as the
    commonest few are half of all talk. ModelError when dictionary or trigram model are not there.
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
    """The ModelError for a pocketsphinx, or a part of its model, that does not load."""
    return ModelError(
        "The built-in recogniser does not load: {error}",
        hint="The package pocketsphinx or its model en-us is missing; install Rubato again.",
        error=error,
    )


def write_known(file: Path) -> None:
    """Write how all words sound that the trigram model has: pocketsphinx looks for no others, and
    without them takes 12 MB less. ModelError when model or dictionary are not there.
    """
    model = trigrams()
    unknown = model.prob([_NO_WORD])
    known = (entry for entry in _entries() if model.prob([_word(entry)]) != unknown)
    file.write_text("\n".join(known) + "\n", encoding="utf-8")


def _entries() -> list[str]:
    """A line for each pronunciation of 126,000 words, in the words' order."""
    try:
        from pocketsphinx import get_model_path

        path = Path(get_model_path("en-us/cmudict-en-us.dict"))
        return path.read_text(encoding="utf-8").splitlines()
    except (ImportError, OSError) as error:
        raise incomplete(error) from error


def _word(entry: str) -> str:
    """Without the phones and the number of its pronunciation."""
    return entry.partition(" ")[0].partition("(")[0]


def _sounds(word: str, entries: list[str]) -> list[str]:
    """The word's phones, once or more often; empty when it has no entry. Looked up where it lies: a
    table of all words would take 0.15 s and 36 MB for some hundred of them.
    """
    first = bisect_left(entries, word, key=_word)
    next_ones = entries[first : first + _MOST_SOUNDS]
    own = takewhile(lambda entry: _word(entry) == word, next_ones)
    return [entry.partition(" ")[2] for entry in own]
