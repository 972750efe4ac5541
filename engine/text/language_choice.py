"""The language of a text, chosen from its first words.

A text should be in its usual language (a reply in that of the question), so another one needs more
evidence. Invariant: the choice depends on the text alone, never on how it was cut into deltas.
"""

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from engine.languages import ENGLISH, SPOKEN
from engine.text import tables

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_FOREIGN_LETTERS: Final = re.compile(r"[áéíóúüñçàèìòùâêîôûãõœëï¿¡]", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.!?…:]\s|\n")
_UNSPOKEN: Final = ("de", "nl")  # like English rather than like the others: read as English
_COMMON_WORDS: Final = {code: tables.words("languages", code) for code in SPOKEN}
_ENOUGH: Final = 8  # words; then the likeliest language is chosen
# Logarithms of likelihoods: what a common word of a language adds, and being the usual one; how far
# the likeliest must be ahead, from two words on for the usual language and from three for others.
# Chosen on 400 replies and each of the five usual languages. On 200 others in the usual language,
# 199 were right after three words and all when complete.
_COMMON, _FAVOUR = 1.6, 1.4
_AHEAD, _FAR_AHEAD = 1.0, 2.5


class LanguageChoice:
    """Finds the language of one text while it arrives. `usual`: the language it should have;
    `possible`: those that it may have besides.
    """

    def __init__(self, usual: str = ENGLISH, possible: Sequence[str] = ()) -> None:
        self._usual = usual
        self._possible = sorted(frozenset(possible) & SPOKEN.keys() | {usual})
        self._text = ""
        self.code: str | None = usual if len(self._possible) == 1 else None  # None = undecided

    def push(self, delta: str) -> str | None:
        """Add text; return the language once it is decided."""
        for char in delta if self.code is None else "":
            self._text += char
            if char.isspace() and self.code is None:
                self.code = self._decided(complete=bool(_SENTENCE_END.search(self._text)))
        return self.code

    def end(self) -> str:
        """End the text; return its language."""
        return self.code or self.of_whole(self._text)

    def of_whole(self, text: str) -> str:
        """Return the language of a text that is known at once, instead of pushing it."""
        self._text = text
        self.code = self._decided(complete=True) or self._usual
        return self.code

    def _decided(self, *, complete: bool) -> str | None:
        words = [word.lower().replace("’", "'") for word in _WORD.findall(self._text)]
        complete = complete or len(words) >= _ENOUGH
        if not words or (len(words) < 2 and not complete):
            return None
        if len(words) < 2:  # too little for a classifier
            holders = _holders(words[0])
            return holders[0] if len(holders) == 1 and holders[0] in self._possible else self._usual
        foreign = any(_holders(word) and ENGLISH not in _holders(word) for word in words)
        if self._usual == ENGLISH and not foreign and not _FOREIGN_LETTERS.search(self._text):
            return ENGLISH  # without the classifier, no later than a voice needs two words
        scores = _scores(words)
        scores[self._usual] += _FAVOUR
        second, best = sorted(self._possible, key=scores.__getitem__)[-2:]
        ahead = scores[best] - scores[second]
        if complete or (len(words) > 2 and ahead > _FAR_AHEAD):
            return best
        return best if best == self._usual and ahead > _AHEAD else None


def language_of(text: str, usual: str, possible: Sequence[str]) -> str:
    """Return the language of a complete text, of which all words are looked at."""
    choice = LanguageChoice(usual, possible)
    return choice.code or choice.of_whole(text)


def _scores(words: Sequence[str]) -> dict[str, float]:
    shares = {code: float(share) for code, share in _identifier().rank(" ".join(words))}
    shares[ENGLISH] += sum(shares[code] for code in _UNSPOKEN)
    scores = {code: math.log(shares[code] + 1e-9) for code in SPOKEN}
    for word in words:
        for code in _holders(word):
            scores[code] += _COMMON / len(_holders(word))
    return scores


def _holders(word: str) -> list[str]:
    """The languages of which this is a common word."""
    return [code for code in SPOKEN if word in _COMMON_WORDS[code]]


@cache
def _identifier() -> "LanguageIdentifier":
    """The classifier; it takes half a second and 50 MB."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    found = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    found.set_languages([*SPOKEN, *_UNSPOKEN])
    return found
