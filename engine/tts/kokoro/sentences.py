"""Division of an utterance into sentences, and the number of words in the next plan.

Invariant: both depend only on the words, not on their time of arrival.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from engine.text.phonemes import PhonedWord
from engine.text.tables import words
from engine.tts.kokoro.symbols import LONGEST, MOST, PAUSE, length

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
        ends = _mark(word, size, *(*texts[place : place + 3], "", "", "")[:3])
        if most > MOST:
            ends = ends or PAUSE
        if voiced and ends:
            return (*known[:place], replace(word, mark=ends)), True
        if wanted and place + 1 >= wanted and place + 1 > planned:
            return tuple(known[: place + 1]), False
    if all_known and voiced:
        return tuple(known), True
    return None


def _mark(word: PhonedWord, size: int, *texts: str) -> str:
    """Return the mark that ends a sentence of `size` symbols after this word; empty = the sentence
    goes on. `texts`: the word and the next two.
    """
    if word.mark and word.mark != PAUSE:
        return word.mark
    share = _CLAUSE if word.mark else division(*texts)
    return PAUSE if size > share * LONGEST else ""
