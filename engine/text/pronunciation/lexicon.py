"""Names and words that espeak pronounces wrong, in its own mnemonics of phones.

The data is resources/lexicon/lexicon.txt.gz, which installer/lexicon.py makes.
Invariant: it is read at the first look-up, and the phones depend only on the word and on the two
beside it.
"""

import unicodedata
from functools import lru_cache
from typing import Final

from engine.resources import compressed_text

_VOICELESS: Final = ("p", "t", "k", "f", "T")
_HISSES: Final = ("s", "z", "S", "Z")
_OWN: Final = "'s"
_LETTERS: Final = {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ß": "ss"}
_UNSAID: Final = "-"  # as espeak pronounces it
_SAME: Final = "="  # as in American English


def respelled(word: str, before: str = "", after: str | None = "", *, british: bool = False) -> str:
    """Return the input for espeak in place of a word (without punctuation) between its neighbours;
    "" if espeak pronounces it right. `after` None: not known.
    """
    word = _key(word)
    before, following = base_letters(_key(before)), base_letters(_key(after or ""))
    following = following.removesuffix(_OWN)
    for ending in ("", _OWN, "'"):
        if not word.endswith(ending):
            continue
        base = word.removesuffix(ending)
        plain = base_letters(base)  # with its neighbour it may be a phrase: "Des Moines"
        last = (_entry(f"{before} {plain}", british) if before else "").split()[-1:]
        first = (_entry(f"{plain} {following}", british) if following else "").split()[:1]
        for sounds in (*last, *first, _sounds(base, british)):
            if sounds:
                return f"[[{with_s(sounds) if ending == _OWN else sounds}]]"
    return ""


def begins_phrase(word: str) -> bool:
    """Return whether the next word may decide how a word is said: Des Moines."""
    start = f"{base_letters(_key(word))} "
    return _line(start).startswith(start)


def with_s(sounds: str) -> str:
    """Return mnemonics with the ending of a plural or a possessive."""
    if sounds.endswith(_HISSES):
        return f"{sounds}I#z"
    return sounds + ("s" if sounds.endswith(_VOICELESS) else "z")


def base_letters(word: str) -> str:
    """Return a word without its accents."""
    apart = unicodedata.normalize("NFD", word)
    bare = (letter for letter in apart if unicodedata.category(letter) != "Mn")
    return "".join(_LETTERS.get(letter, letter) for letter in bare)


def _key(word: str) -> str:
    return word.lower().replace("’", "'")


@lru_cache(maxsize=4096)
def _sounds(word: str, british: bool) -> str:
    """The sounds of a word alone."""
    plain = base_letters(word)
    for each in (word,) if word.endswith("é") else dict.fromkeys((word, plain)):
        if sounds := _entry(each, british):
            return sounds
    return ""


def _entry(key: str, british: bool) -> str:
    found, _, sounds = _line(f"{key}\t").partition("\t")
    if found != key:
        return ""
    american, other = sounds.split("\t")
    sounds = other if british and other != _SAME else american
    return "" if sounds == _UNSAID else sounds


def _line(start: str) -> str:
    """Return the first line of the sorted data that is not less than `start`."""
    text = compressed_text("lexicon", "lexicon.txt.gz")
    low, high = 0, len(text)
    while low < high:
        begin = text.rfind("\n", 0, (low + high) // 2) + 1
        end = text.index("\n", begin) + 1
        if text[begin:end] < start:
            low = end
        else:
            high = begin
    return text[low : text.find("\n", low)]
