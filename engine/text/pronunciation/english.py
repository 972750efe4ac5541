"""How an English word is given to espeak between its neighbours.

Invariant: it depends on the word, on a few words before it and on the next one or a few more,
never on when they came.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.text.pronunciation import heteronyms, initialisms, lexicon
from engine.text.pronunciation.respelling import in_english, mnemonics, split_phones
from engine.text.pronunciation.scripts import readable
from engine.text.word import PHONES

WORDS_BEFORE: Final = 8
WORDS_BEHIND: Final = heteronyms.REACH
"""So many words before and behind it are enough to know how a word is said."""
_MARKS: Final = ".,?!:;"
_PHONES: Final = re.compile(r"\[{2,}")


@dataclass(frozen=True)
class Spelling:
    """A word as espeak gets it. `text`: the word among its neighbours, "" if no English voice can
    say it. `alone`: if not empty, the word sounds like the last word of this text. `phones`: if
    not empty, it has these.
    """

    text: str
    alone: str = ""
    phones: tuple[str, ...] = ()


def spelling(
    before: Sequence[str],
    word: str,
    after: str | None,
    *,
    british: bool = False,
    later: Sequence[str] = (),
) -> Spelling:
    """Return the spelling of a word without its punctuation. `before`, `later`: the words before
    and behind it, with theirs. `after` "": a mark or nothing follows; None: it is not known.
    """
    word, phones = split_phones(word)
    if phones:
        phones = in_english(phones)
        return Spelling(mnemonics(phones) or word, phones=phones)
    last = before[-1] if before else ""
    text = initialisms.respelled(_read(word), last.rstrip(_MARKS), (after or "").rstrip(_MARKS))
    sound = heteronyms.sounds_like(before, text, after, later)
    if sound and " " not in sound:
        return Spelling(sound)
    if sound:
        return Spelling(text, sound)
    beside = "" if last.endswith(tuple(_MARKS)) else last
    return Spelling(_named(text, beside, after, british=british))


def roughly(word: str, *, british: bool = False) -> str:
    """Return a word's spelling as a neighbour of another word."""
    word, phones = split_phones(word)
    if phones:
        return mnemonics(in_english(phones)) or word
    return _named(initialisms.respelled(_read(word)), british=british)


def depends(word: str) -> bool:
    """Return whether the words beside it may decide how a word is said."""
    either = initialisms.is_either(word) or heteronyms.is_heteronym(word)
    return PHONES not in word and (either or lexicon.begins_phrase(word))


def _read(word: str) -> str:
    """Return a word in letters that espeak can read, without marks that espeak takes for phones."""
    return _PHONES.sub("[", readable(word))


def _named(word: str, before: str = "", after: str | None = "", *, british: bool) -> str:
    """Return a word with the phones that the lexicon has for it or for its hyphenated parts."""
    if initialisms.letters(word):
        return word
    if sounds := lexicon.respelled(word, before, after, british=british):
        return sounds
    parts = [lexicon.respelled(part, british=british) or part for part in word.split("-")]
    return "-".join(parts).replace("]]-[[", "")
