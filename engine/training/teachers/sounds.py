"""The common set of sounds for all synthesisers and the phonemizer, how their phones are spelt in
it, and the times of a synthesiser's sounds transferred to the phones that the voice reads.

A sound is a phone without stress and dialect: 39 of them and the pause.
Invariants: a spelling is made of sounds only; a phone that a table lacks is an error of the caller,
never a guess. Times never go back.
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

PAUSE: Final = "_"
_ARPABET: Final = (
    "aa ɑː|ae æ|ah ʌ|ao ɔː|aw aʊ|ax ə|ay aɪ|b b|ch tʃ|d d|dh ð|eh ɛ|er ɜː|ey eɪ|f f|g ɡ|hh h|ih ɪ|"
    "iy iː|jh dʒ|k k|l l|m m|n n|ng ŋ|ow oʊ|oy ɔɪ|p p|r ɹ|s s|sh ʃ|t t|th θ|uh ʊ|uw uː|v v|w w|y j|"
    "z z|zh ʒ|axr ɜː|el ə l|en ə n|em ə m|nx n|dx t|ix ɪ|ux uː|hv h|h h|pau _|brth _|ssil _|sil _"
)
ARPABET: Final = {phone: tuple(spelt) for phone, *spelt in map(str.split, _ARPABET.split("|"))}
SOUNDS: Final = tuple(sorted({sound for spelling in ARPABET.values() for sound in spelling}))
_ESPEAK: Final = (
    "ɾ t|ʔ t|ᵻ ɪ|ɐ ə|i iː|ɚ ɜː|ɜ ɜː|ɔ ɔː|ɑ ɑː|oː ɔː|u uː|o oʊ|e eɪ|a æ|ɫ l|r ɹ|əl ə l|n̩ ə n|l̩ ə l|"
    "m̩ ə m|iə iː ə|aɪə aɪ ə|aɪɚ aɪ ɜː|ɑːɹ ɑː ɹ|ɔːɹ ɔː ɹ|oːɹ ɔː ɹ|ɛɹ ɛ ɹ|ɪɹ ɪ ɹ|ʊɹ ʊ ɹ|x k|ɬ l|"
    "g ɡ|ɒ ɑː|ɡʲ ɡ|nʲ n|aʊɚ aʊ ɜː|tɕ tʃ|t̬ t|ʌɹ ʌ ɹ|ɜːɹ ɜː|ɪə ɪ ə|eə ɛ ə|ʊə ʊ ə|əʊ oʊ|ɒ ɑː|ɪ2 ɪ|"
    "aɪʊ aɪ ʊ|ɔɪə ɔɪ ə"
)
ESPEAK: Final = {phone: tuple(spelt) for phone, *spelt in map(str.split, _ESPEAK.split("|"))}
VOWELS: Final = frozenset(sound for sound in SOUNDS if sound[0] in "ɑæʌɔaəɛɜeɪioʊu")
# Sounds that dialects and lexica confuse.
_GROUPS: Final = (
    "ɑː ɔː ʌ oʊ", "ə ʌ ɪ ɛ ʊ iː", "æ ɛ eɪ ə", "ɜː ə ʌ", "uː ʊ oʊ", "iː ɪ j", "t d", "s z", "f v",
    "θ ð", "ʃ ʒ s", "tʃ ʃ t", "dʒ ʒ d", "k ɡ", "p b", "n ŋ m", "l ə", "ɹ ɜː", "aʊ ɑː", "w uː",
)  # fmt: skip
_NEAR: Final = frozenset(
    (one, other) for group in _GROUPS for one in group.split() for other in group.split()
)


def of_ipa(phone: str) -> tuple[str, ...]:
    """Return the sounds of a phone in espeak's spelling; none if it is silent. KeyError."""
    bare = phone.strip(" ˈˌ|_͡\u200d").replace("ˈ", "").replace("ˌ", "")
    if not bare:
        return ()
    return (bare,) if bare in SOUNDS else ESPEAK[bare]


def distance(one: str, other: str) -> float:
    """The distance of two sounds: 0 the same, 0.4 often confused, 1 of one kind, 2 of two kinds."""
    if one == other:
        return 0.0
    if (one, other) in _NEAR:
        return 0.4
    return 1.0 if (one in VOWELS) == (other in VOWELS) else 2.0


GAP: Final = 0.9  # cost of a sound that only one side has


@dataclass(frozen=True)
class Sound:
    """One sound from `start` to `end`, in samples of its take."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Match:
    """An alignment: start of each phone and end of speech in samples, and the cost per sound."""

    starts: tuple[int, ...]
    end: int
    cost: float


def match(phones: Sequence[str], take: Sequence[Sound]) -> Match | None:
    """Align phones in espeak's spelling with the sounds of a take, by edit distance, because the
    synthesiser's lexicon and the phonemizer sometimes differ. A sound that is not in the text (a
    filler, a pause) belongs to the phone before it, as in VoXtream2, 4.1. None if a phone has no
    spelling in sounds, or if either side is empty.
    """
    try:
        spelt = [(owner, sound) for owner, phone in enumerate(phones) for sound in of_ipa(phone)]
    except KeyError:
        return None
    speech = [sound for sound in take if sound.name != PAUSE]
    if not spelt or not speech:
        return None
    costs = np.add.outer(np.arange(len(spelt) + 1) * GAP, np.arange(len(speech) + 1) * GAP)
    for row, (_, name) in enumerate(spelt, start=1):
        for column, sound in enumerate(speech, start=1):
            costs[row, column] = min(
                costs[row - 1, column - 1] + distance(name, sound.name),
                costs[row - 1, column] + GAP,
                costs[row, column - 1] + GAP,
            )
    found: dict[int, int] = {}  # starts of phones
    row, column = len(spelt), len(speech)
    while row > 0 and column > 0:
        if np.isclose(costs[row, column], costs[row, column - 1] + GAP):
            column -= 1
        elif np.isclose(costs[row, column], costs[row - 1, column] + GAP):
            row -= 1
        else:
            row, column = row - 1, column - 1
            found[spelt[row][0]] = speech[column].start
    starts, following = list[int](), speech[-1].end
    for number in reversed(range(len(phones))):
        following = found.get(number, following)  # a phone without a sound begins with the next
        starts.append(following)
    return Match(tuple(reversed(starts)), speech[-1].end, float(costs[-1, -1]) / len(spelt))
