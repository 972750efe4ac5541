"""Where a sentence of an utterance ends, and how many of its words the next plan knows.

Invariant: both depend on the words alone, never on when they came.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import Final

from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.symbols import LONGEST, MOST, PAUSE, length

_ENOUGH: Final = 0.7  # of the longest: from there on a sentence may end at a comma
_PLENTY: Final = 0.85  # the same before a preposition
# Words before which a long sentence without a comma is divided: first these, then prepositions.
_CONJUNCTIONS: Final = (
    "and but or nor so yet because although though while whereas when whenever where if unless "
    "until since before after as than that which who whose"
)
_PREPOSITIONS: Final = (
    "in on at by for with from into onto over under through across along behind beside beneath "
    "between beyond during about above below against among around towards without within upon "
    "near past to"
)
# Words that are planned at once: the first plan knows two, the next four, then three more each. One
# by one speech would not begin sooner, but planning took a third of the time instead of a sixth.
_AT_FIRST, _NEXT, _THEN = 2, 2, 3


class Joint(Enum):
    """Whether a sentence may be divided before a word."""

    NONE = 0
    CONJUNCTION = 1
    PREPOSITION = 2


_JOINTS: Final = {
    **dict.fromkeys(_CONJUNCTIONS.split(), Joint.CONJUNCTION),
    **dict.fromkeys(_PREPOSITIONS.split(), Joint.PREPOSITION),
}


def joint(text: str) -> Joint:
    """The kind of joint that a pushed word stands for; NONE for an ordinary word."""
    return _JOINTS.get(text.casefold(), Joint.NONE)


def next_words(
    known: Sequence[PhonedWord],
    planned: int,
    *,
    all_known: bool,
    joints: Sequence[Joint] = (),
) -> tuple[tuple[PhonedWord, ...], bool] | None:
    """The words of a sentence for its next plan, and whether they are all of it. `known` begins
    with the sentence's first word, `planned` of them are in the plan now; `joints` of the known
    words (() = none is one). None = too few are known.
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
        following = None if place + 1 == len(known) else known[place + 1]
        if following is None and size > _ENOUGH * LONGEST and not (word.mark or all_known):
            return None  # the sentence may end here: the next word decides
        next_joint = joints[place + 1] if following and joints else Joint.NONE
        # Each word may get a mark, too, for the pause behind it.
        most = size + place + length(following.phones) + 4 if following else 0
        room = size <= LONGEST and most <= MOST
        ends = _ends(word, size, next_joint, room=room) if voiced else ""
        if ends:
            return (*known[:place], replace(word, mark=ends)), True
        if wanted and place + 1 >= wanted and place + 1 > planned:
            return tuple(known[: place + 1]), False
    if all_known and voiced:
        return tuple(known), True
    return None


def _ends(word: PhonedWord, size: int, following: Joint, *, room: bool) -> str:
    """The mark with which a sentence of that many symbols ends behind the word; empty = it does
    not. `room`: it is not too long, nor does the next word make it so.
    """
    divides = size > _ENOUGH * LONGEST and (
        word.mark == PAUSE
        or following is Joint.CONJUNCTION
        or (following is Joint.PREPOSITION and size > _PLENTY * LONGEST)
    )
    if word.mark and word.mark != PAUSE:
        return word.mark
    return PAUSE if divides or not room else ""
