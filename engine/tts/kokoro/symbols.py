"""Phones of espeak-ng in the symbols that Kokoro learnt from, their ids, and the division of an
utterance into sentences and plans.

Kokoro was trained on the symbols of misaki (its author's phonemizer, MIT), which writes a diphthong
or an affricate as one letter. The table follows misaki's own fallback to espeak. Against espeak's
letters as they are, 6 words of 247 were wrong instead of 8 (af_heart, Whisper base), and there are
a sixth fewer symbols, so that quick speech has more frames for each. Other languages than English
have a table of their own, as in misaki. Invariant: sentences and plans depend only on the words,
not on their time of arrival.
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from engine.text.phonemes import PhonedWord
from engine.text.tables import words

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

# The share of the longest sentence from which one may end: at a comma or before a clause; before a
# preposition or a subject; inside a pair ("leisure and comfort", "calling after her"). Elsewhere it
# ends only where the graph takes no more.
_CLAUSE, _PHRASE, _PAIR = 0.7, 0.85, 0.95
_SUBJECTS, _PREPOSITIONS, _CLAUSES, _JOINING, _BOUND = (
    words("phrases", name) for name in ("subjects", "prepositions", "clauses", "joining", "bound")
)
_FUNCTION_WORDS: Final = _SUBJECTS | _PREPOSITIONS | _CLAUSES | _JOINING | _BOUND
# Words that are planned at once: the first plan knows two, the next four, then three more each. One
# by one speech would not begin sooner, but planning took a third of the time instead of a sixth.
_AT_FIRST, _NEXT, _THEN = 2, 2, 3


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


def division(before: str, word: str, after: str) -> float:
    """Return how long a sentence must be, as a share of the longest one, to be divided before
    `word`; infinite = never there. `before` and `after` are its neighbours.
    """
    if word in _JOINING and before not in _JOINING:
        if after in _FUNCTION_WORDS:
            return _CLAUSE
        if word in ("and", "or", "but"):
            return _PAIR
    if before in _FUNCTION_WORDS:
        return math.inf
    if word in _PREPOSITIONS | _SUBJECTS:
        return _PAIR if before.endswith(("ed", "ing")) else _PHRASE
    return _CLAUSE if word in _CLAUSES else math.inf


def next_words(
    known: Sequence[PhonedWord],
    planned: int,
    *,
    all_known: bool,
    texts: Sequence[str] = (),
) -> tuple[tuple[PhonedWord, ...], bool] | None:
    """Return the words of a sentence for its next plan, and whether they complete it. `known`
    begins with the sentence's first word, `planned` of them are in the plan now; `texts`: the
    known words in lower case, none for other languages than English. None = too few are known.
    """
    voiced = size = 0
    first_two = 0  # the place behind the second word with a sound
    for place, word in enumerate(known):
        size += 1 + length(word.phones)
        voiced += bool(word.phones)
        if voiced == _AT_FIRST and not first_two:
            first_two = place + 1
        more = _NEXT if planned == first_two else _THEN
        wanted = planned + more if planned else first_two
        late = size > _CLAUSE * LONGEST
        if late and len(known) < place + 3 and not (word.mark or all_known):
            return None  # the sentence may end here: the next two words decide
        following = None if place + 1 == len(known) else known[place + 1]
        # Each word may get a mark, too, for the pause behind it.
        most = size + place + length(following.phones) + 4 if following else 0
        ends = word.mark
        if not ends or ends == PAUSE:
            near = (*texts[place : place + 3], "", "", "")[:3]
            share = _CLAUSE if ends else division(*near)
            ends = PAUSE if size > share * LONGEST else ""
        if most > MOST:
            ends = ends or PAUSE
        if voiced and ends:
            return (*known[:place], replace(word, mark=ends)), True
        if wanted and place + 1 >= wanted and place + 1 > planned:
            return tuple(known[: place + 1]), False
    if all_known and voiced:
        return tuple(known), True
    return None
