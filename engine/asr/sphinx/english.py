"""The English models of pocketsphinx: a trigram model and a pronouncing dictionary, and the
pronunciation of words that the dictionary lacks: units, British spellings, the name of the product.

The trigram model is loaded once and shared; the dictionary is never kept in memory. A word that it
lacks is split into parts that it has (kilo + joules, nano + meters). Any other word is read letter
by letter, which is right for regular words only. Invariant: every phone is one of the acoustic
model's 39 (CMU set).
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.machine import native_path

Lookup = Callable[[str], str | None]
"""A word to its phones, separated by spaces; None if the dictionary lacks it."""

KNOWN = {
    "rubato": "R UW B AA T OW",
    "spelt": "S P EH L T",
    # Interjections during a reply (engine/text/barge_in_words.py).
    "mhm": "M HH M",
    "hm": "HH M",
    "hum": "HH AH M",
    "uhuh": "AH HH AH",
    "eh": "EH",
    "aha": "AA HH AA",
    "yep": "Y EH P",
    "yup": "Y AH P",
}
PREFIXES = {
    "centi": "S EH N T IH",
    "deci": "D EH S IH",
    "giga": "G IH G AH",
    "gibi": "G IH B IH",
    "kilo": "K IH L AH",
    "mega": "M EH G AH",
    "mebi": "M EH B IH",
    "micro": "M AY K R OW",
    "milli": "M IH L AH",
    "nano": "N AE N OW",
    "tera": "T EH R AH",
    "un": "AH N",
    "re": "R IY",
}
RESPELT = (("tre", "ter"), ("tres", "ters"), ("gramme", "gram"), ("grammes", "grams"),
           ("iser", "izer"), ("ise", "ize"), ("our", "or"))  # fmt: skip
LEAST_PART = 3  # letters; shorter matches are accidental
HISSING = {"S", "Z", "SH", "ZH", "CH", "JH"}
VOICELESS = {"P", "T", "K", "F", "TH"}
LETTERS = {
    "tion": "SH AH N", "igh": "AY", "tch": "CH", "ch": "CH", "sh": "SH", "th": "TH", "ph": "F",
    "ck": "K", "qu": "K W", "ng": "NG", "wh": "W", "kn": "N", "wr": "R", "ee": "IY", "ea": "IY",
    "oo": "UW", "ou": "AW", "ow": "OW", "oa": "OW", "oi": "OY", "oy": "OY", "ai": "EY", "ay": "EY",
    "au": "AO", "aw": "AO", "er": "ER", "ir": "ER", "ur": "ER", "ar": "AA R", "or": "AO R",
    "a": "AE", "b": "B", "c": "K", "d": "D", "e": "EH", "f": "F", "g": "G", "h": "HH", "i": "IH",
    "j": "JH", "k": "K", "l": "L", "m": "M", "n": "N", "o": "AA", "p": "P", "q": "K", "r": "R",
    "s": "S", "t": "T", "u": "AH", "v": "V", "w": "W", "x": "K S", "y": "IY", "z": "Z",
}  # fmt: skip

UNKNOWN = -20.0  # natural logarithm

_NO_WORD = "<none>"
_MOST_SOUNDS = 8  # of one word; the dictionary has at most four
_EVENNESS = 0.6  # 1 = draw words as often as people say them, 0 = all equally often


def pronounce(word: str, lookup: Lookup) -> str | None:
    """Return the phones of a lower-case word; None if no letter can be read."""
    return _composed(word, lookup) or in_pieces(word, LETTERS) or None


def _composed(word: str, lookup: Lookup) -> str | None:
    """Return phones from the dictionary: of the word, respelt, as a plural or in two parts."""
    return (
        KNOWN.get(word)
        or lookup(word)
        or _respelt(word, lookup)
        or _plural(word, lookup)
        or _in_parts(word, lookup)
    )


def _respelt(word: str, lookup: Lookup) -> str | None:
    for british, american in RESPELT:
        if word.endswith(british):
            return _composed(word.removesuffix(british) + american, lookup)
    return None


def _plural(word: str, lookup: Lookup) -> str | None:
    if not word.endswith("s") or len(word) <= LEAST_PART:
        return None
    phones = _composed(word[:-1], lookup)
    if phones is None:
        return None
    last = phones.split()[-1]
    ending = "IH Z" if last in HISSING else "S" if last in VOICELESS else "Z"
    return f"{phones} {ending}"


def _in_parts(word: str, lookup: Lookup) -> str | None:
    """Split off the longest head that the dictionary (or PREFIXES) has, if it has the tail too."""
    for cut in range(len(word) - LEAST_PART, 1, -1):
        head = PREFIXES.get(word[:cut]) or (lookup(word[:cut]) if cut >= LEAST_PART else None)
        tail = lookup(word[cut:])
        if head and tail:
            return f"{head} {tail}"
    return None


def in_pieces(text: str, table: Mapping[str, str]) -> str:
    """Translate a text with a table, longest keys first; skip characters that have no key."""
    found: list[str] = []
    place, longest = 0, max(map(len, table))
    while place < len(text):
        sizes = range(longest, 0, -1)
        size = next((n for n in sizes if text[place : place + n] in table), 0)
        if size:
            found.append(table[text[place : place + size]])
        place += max(1, size)
    return " ".join(found)


@cache
def trigrams() -> Any:
    """Load the pocketsphinx.NGramModel (31 MB, 70 ms). ModelError if it is missing."""
    try:
        import pocketsphinx  # imports its models: only when needed

        return load_trigrams(pocketsphinx.get_model_path("en-us/en-us.lm.bin"))
    except (ImportError, RuntimeError, ValueError) as error:
        raise incomplete(error) from error


def load_trigrams(file: str | Path) -> Any:
    """Load a trigram model, in ARPA or binary format. RuntimeError or ValueError if that fails."""
    import pocketsphinx

    model, logarithms = pocketsphinx.NGramModel, pocketsphinx.LogMath()
    return model(pocketsphinx.Config(), logarithms, native_path(file))


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
    """Look up lower-case words in the dictionary. ModelError if it is missing."""
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
