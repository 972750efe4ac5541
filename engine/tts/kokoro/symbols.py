"""Phones of espeak-ng in the symbols that Kokoro learnt from, and their ids.

Kokoro was trained on the symbols of misaki (its author's phonemizer, MIT), which writes a diphthong
or an affricate as one letter. The table follows misaki's own fallback to espeak. Against espeak's
letters as they are, 6 words of 247 were wrong instead of 8 (af_heart, Whisper base), and there are
a sixth fewer symbols, so that quick speech has more frames for each. Other languages than English
have a table of their own, as in misaki.
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from engine.text.phonemes import PhonedWord

MARKS: Final = ".,?!"
PAUSE: Final = ","
SPACE: Final = " "
LONGEST: Final = 350  # symbols of a sentence; a longer one sounds rushed
MOST: Final = 510  # symbols that the graph takes
LONGEST_WORD: Final = 140  # symbols; a longer one is said in parts
_IDS: Final = {
    ",": 3, ".": 4, "!": 5, "?": 6, " ": 16, "A": 24, "I": 25, "O": 31, "Q": 33, "T": 36, "W": 39,
    "Y": 41, "ᵊ": 42, "a": 43, "b": 44, "d": 46, "e": 47, "f": 48, "h": 50, "i": 51, "j": 52,
    "k": 53, "l": 54, "m": 55, "n": 56, "o": 57, "p": 58, "s": 61, "t": 62, "u": 63, "v": 64,
    "w": 65, "y": 67, "z": 68, "ɑ": 69, "ɒ": 71, "æ": 72, "ɔ": 76, "ð": 81, "ʤ": 82, "ə": 83,
    "ɛ": 86, "ɜ": 87, "ɡ": 92, "ɪ": 102, "ŋ": 112, "ø": 116, "θ": 119, "œ": 120, "ɹ": 123,
    "ʃ": 131, "ʧ": 133, "ʊ": 135, "ʌ": 138, "ʒ": 147, "ˈ": 156, "ˌ": 157, "ː": 158, "ᵻ": 177,
}  # fmt: skip
_IDS_ELSEWHERE: Final = _IDS | {
    "\u0303": 17, "ʣ": 18, "ʦ": 20, "S": 35, "r": 60, "x": 66, "ɐ": 70, "β": 75, "ç": 78, "ɥ": 99,
    "ʝ": 103, "ɲ": 114, "ɾ": 125, "ʁ": 128, "ɣ": 139, "ʎ": 143, "ʔ": 148,
}  # fmt: skip
_BOTH: Final = (
    ("aɪ", "I"), ("aʊ", "W"), ("dʒ", "ʤ"), ("eɪ", "A"), ("tʃ", "ʧ"), ("ɔɪ", "Y"), ("əl", "ᵊl"),
    ("n̩", "ᵊn"), ("l̩", "ᵊl"), ("m̩", "ᵊm"), ("ɬ", "l"), ("ʔ", "t"), ("r", "ɹ"), ("x", "k"),
    ("ç", "k"), ("ɐ", "ə"), ("ɫ", "l"), ("g", "ɡ"), ("ɨ", "ɪ"),
)  # fmt: skip
_AMERICAN: Final = (
    *_BOTH, ("oʊ", "O"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɝ", "ɜɹ"), ("ɪə", "iə"), ("ɚ", "əɹ"),
    ("ɾ", "T"), ("ː", ""),
)  # fmt: skip
_BRITISH: Final = (
    *_BOTH, ("eə", "ɛː"), ("iə", "ɪə"), ("əʊ", "Q"), ("oʊ", "Q"), ("ɚ", "əɹ"), ("ɾ", "t"),
)  # fmt: skip
_ELSEWHERE: Final = (
    ("aɪ", "I"), ("aʊ", "W"), ("dz", "ʣ"), ("dʒ", "ʤ"), ("eɪ", "A"), ("oʊ", "O"), ("əʊ", "Q"),
    ("ss", "S"), ("ts", "ʦ"), ("tʃ", "ʧ"), ("ɔɪ", "Y"), ("ɚ", "əɹ"), ("g", "ɡ"),
)  # fmt: skip
_TABLES: Final = {"en-us": (_AMERICAN, _IDS), "en-gb": (_BRITISH, _IDS)}


@lru_cache(2000)
def symbols(phone: str, accent: str = "en-us") -> str:
    """Return a phone in Kokoro's symbols; letters without a symbol are left out. `accent`: the
    language as espeak-ng calls it.
    """
    spellings, known = _TABLES.get(accent, (_ELSEWHERE, _IDS_ELSEWHERE))
    for letters, spelt in spellings:
        phone = phone.replace(letters, spelt)
    return "".join(letter for letter in phone if letter in known)


def ids(text: str) -> list[int]:
    """Return the ids of symbols, between the two zeros that begin and end a sentence. KeyError."""
    return [0, *(_IDS_ELSEWHERE[letter] for letter in text), 0]


def parts_of(word: PhonedWord) -> list[PhonedWord]:
    """Split a word that is longer than LONGEST_WORD into parts; return any other word unchanged."""
    parts: list[PhonedWord] = []
    phones: list[str] = []
    for phone in word.phones:
        if length([*phones, phone]) > LONGEST_WORD:
            parts.append(PhonedWord(tuple(phones)))
            phones = []
        phones.append(phone)
    return [*parts, PhonedWord(tuple(phones), word.mark)]


def length(phones: Sequence[str]) -> int:
    """Return the largest number of symbols that the phones need in any language."""
    accents = (*_TABLES, "")
    return sum(max(len(symbols(each, accent)) for accent in accents) for each in phones)
