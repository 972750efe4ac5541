"""Where a sentence of an utterance ends, and how many of its words the next plan knows.

Invariant: both depend on the words alone, never on when they came.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.symbols import LONGEST, PAUSE

_ENOUGH: Final = 0.7  # of the longest: from there on a sentence may end at a comma
# Words that are planned at once: the first plan knows two, the next four, then three more each. One
# by one speech would not begin sooner, but planning took a third of the time instead of a sixth.
_AT_FIRST, _NEXT, _THEN = 2, 2, 3


def next_words(
    known: Sequence[PhonedWord], planned: int, *, all_known: bool
) -> tuple[tuple[PhonedWord, ...], bool] | None:
    """The words of a sentence for its next plan, and whether they are all of it. `known` begins
    with the sentence's first word, `planned` of them are in the plan now. None = too few are known.
    """
    voiced = length = 0
    first_two = 0  # the place behind the second word with a sound
    for place, word in enumerate(known):
        length += 1 + sum(map(len, word.phones))
        voiced += bool(word.phones)
        if voiced == _AT_FIRST and not first_two:
            first_two = place + 1
        more = _NEXT if planned == first_two else _THEN
        wanted = planned + more if planned else first_two
        ends = _ends(word, length) if voiced else ""
        if ends:
            return (*known[:place], replace(word, mark=ends)), True
        if wanted and place + 1 >= wanted and place + 1 > planned:
            return tuple(known[: place + 1]), False
    if all_known and voiced:
        return tuple(known), True
    return None


def _ends(word: PhonedWord, length: int) -> str:
    """The mark with which a sentence of that many phones ends behind the word; empty = it does
    not.
    """
    if word.mark and (word.mark != PAUSE or length > _ENOUGH * LONGEST):
        return word.mark
    return PAUSE if length > LONGEST else ""
