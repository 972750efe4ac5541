"""Durations of the symbols of a sentence, in frames, for the requested rate.

Vowels and the gaps between words stretch most, stops least; the two edges never (otherwise Kokoro
says a phantom "a" there). Below PAUSING_BELOW people do not stretch every sound but pause between
words: then only a part of the slowing is stretching, the rest is pauses. Invariant: a sentence
lasts its syllables over their rates, to a frame, within the limits of hurrying and lingering.
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.parts import FRAME, SAMPLE_RATE
from engine.tts.kokoro.symbols import MARKS, PAUSE, SPACE, symbols
from engine.tts.rate import paced

Lasting = npt.NDArray[np.float64]
Frames = npt.NDArray[np.int64]

PER_SECOND: Final = SAMPLE_RATE / FRAME  # frames
# How easily a symbol stretches, 1 for vowels; symbols not listed are marks or spaces.
ELASTICITY: Final = {
    **dict.fromkeys("AIOQWYaeioɑɒæəɐɛɜɪʊʌuᵻᵊyøœɔː\u0303", 1.0),
    **dict.fromkeys("mnŋɲlʎɹʁszSʃʒfvβθðɣxçʝhwjɥˈˌ", 0.8),
    **dict.fromkeys("pbtdkɡʔTɾrʧʤʦʣ", 0.45),
}
_GAP_ELASTICITY: Final = 1.3
_NUCLEI: Final = frozenset("AIOQWYaeioɑɒæəɐɛɜɪʊʌuᵻᵊyøœɔ")
# Frames of a pause that Kokoro speaks, in which the sound before it dies away. The rest is silence:
# when it spoke whole pauses, they had echoes of the words around them.
_SPOKEN_PAUSE: Final = 8.0
# Of the sound before a mark about four frames are audible, however many it has.
_LAST_SOUND: Final = 4.0
_LONGEST_LAST: Final = 6.0  # so it is not stretched beyond this: the rest would be silence
_AROUND: Final = 1.5  # frames that sound before the first symbol and behind the last one
# Frames of silence before speech. The voices want 9 to 22. Stretched from 9 to 13, the silence had
# a sound of 0.1 s in it ("e com certeza"); with 7 instead of 13, the first 0.2 s were lost.
SHORTEST_LEAD: Final = 8.0
# Words wrong at 1.5 SPS (Whisper base, 6 sentences): 11 % with 3.4 SPS and a share of 0.4, 7 % with
# 3.4 and 0.1 and with 2.8 and 0.15.
PAUSING_BELOW: Final = 3.0  # SPS, in English
# In other languages, share of the voice's own pace: their syllables are shorter. At 2 SPS a Spanish
# voice (5.9 SPS) had 21 % of 111 words wrong with half its own pace, 9 % with 0.66, 4 % with 0.82.
_NEAR_OWN: Final = 0.82
_DRAWN_OUT: Final = 0.15  # share of the slowing, in octaves, that is done by stretching sounds
_SHORTEST_PAUSE: Final = 0.3  # seconds; beside a mark the second
_SHORTEST_MARKED: Final = 0.12
# Short plans keep each word's natural relative length; the rate error is corrected over the next
# syllables.
_HORIZON: Final = 8.0  # syllables of that correction; all at once where a sentence ends
# Factors on the length. The limit of hurrying is relative to the voice's own length, because short
# sentences make up for the silence between them. At 0.4 of its own length speech is as quick as a
# long hurried sentence at 7 SPS; at 0.36, 1.5 times as many words were wrong (Whisper base, 376
# words).
_QUICKEST, _MOST_LINGER = 0.4, 1.5
_SOON: Final = 5.0  # syllables in which lateness is corrected, such as silence between sentences
# Frames that an early sentence behind another one saves for the silence behind it. One on its own
# would only be too quick (by 2 % at 5 SPS, ten sentences).
_SAVED: Final = 2.0
_FINAL_MARK: Final = (3.0, 24.0)  # frames of a sentence's last mark, at any rate
_FINAL_PAUSE: Final = (3.0, 10.0)  # the same where a long sentence is only cut into parts
# No pause inside a sentence is longer; up to 0.43 s more than that is silent.
LONGEST_PAUSE: Final = 0.725  # seconds
_LONGEST_GAP: Final = {SPACE: 12.0} | dict.fromkeys(MARKS, 24.0)  # frames
_BESIDE_PAUSE: Final = 3.0  # frames of the space behind a pause: the pause is silence enough
_CARRIED: Final = 6  # syllables whose pauses are made up for in the words behind them, at most
_ADVANCE: Final = 3  # syllables of a sentence's first word that count for its last one, at most


@dataclass(frozen=True)
class KokoroScript:
    """The symbols of the known words of a sentence. For each symbol: its word, the seconds of its
    pause (0 = natural length), and whether it carries a syllable. `firsts` and `ends`: indices of
    the symbols at which each word begins and its sound ends; a word without a sound begins with the
    next one.
    """

    text: str
    words: tuple[int, ...]
    pauses: tuple[float, ...]
    nuclei: npt.NDArray[np.bool_]
    firsts: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def syllable_ends(self) -> npt.NDArray[np.bool_]:
        """The symbols with which a syllable ends: its vowel, or the last sound of the word."""
        ends = self.nuclei.copy()
        for first, end in zip(self.firsts, self.ends, strict=True):
            for last in np.flatnonzero(ends[first:end])[-1:]:
                ends[first + last], ends[end - 1] = False, True
        return ends


def make_script(
    words: Sequence[PhonedWord], pauses: Sequence[float], *, closed: bool, accent: str
) -> KokoroScript:
    """Spell words in symbols. `pauses`: seconds of the pause after each word. `closed`: no word
    follows, so the script ends with a mark. `accent`: see symbols().
    """
    text = ""
    owners: list[int] = []
    lasting: list[float] = []
    nuclei: list[bool] = []
    firsts, ends = [], []
    last = max((n for n, word in enumerate(words) if word.phones), default=-1)
    for number, (word, pause) in enumerate(zip(words, pauses, strict=True)):
        firsts.append(len(text))
        spelt = [symbols(phone, accent) for phone in word.phones]
        spoken = "".join(spelt)
        ends.append(len(text + spoken))
        mark = word.mark or ("." if closed and number == last else PAUSE if pause else "")
        gap = mark + (SPACE if number < last else "")
        if not spoken and (not text or text.rstrip(SPACE).endswith(tuple(MARKS))):
            gap = ""  # a word without a sound adds nothing to the mark before it
        text += spoken + gap
        owners += [number] * len(spoken + gap)
        lasting += [0.0] * len(spoken + gap)
        for each in spelt:  # the first vowel carries its syllable: it can be two symbols ("iə")
            vowel = next((place for place, symbol in enumerate(each) if symbol in _NUCLEI), None)
            nuclei += [place == vowel for place in range(len(each))]
        nuclei += [False] * len(gap)
        if pause and gap:
            lasting[ends[-1]] = pause
    carrying = np.array(nuclei, bool)
    return KokoroScript(text, tuple(owners), tuple(lasting), carrying, tuple(firsts), tuple(ends))


def pauses_after(
    words: Sequence[PhonedWord],
    lacking: Sequence[float],
    decided: Sequence[float] = (),
    said: Mapping[int, int] | None = None,
    early: float = 0.0,
    *,
    steady: bool = True,
) -> tuple[float, ...]:
    """Return the seconds of the pause after each word; the first of them are `decided` already.
    `lacking`: pause_needed() of each word; `said`: the number of spoken syllables by word; `early`:
    seconds by which those were too short for the rate; `steady`: the rate has not changed since the
    sentence began. The last word has no pause yet, because the next word is not known.
    """
    pauses = list(decided)
    deficit = min(early, _CARRIED * max(lacking, default=0.0))
    deficit += _advance(words, lacking) if steady else 0.0
    for number, word in enumerate(words[:-1]):
        unsaid = word.syllables - (said or {}).get(number, 0)
        deficit += unsaid * lacking[number]
        if number >= len(decided):
            shortest = _SHORTEST_MARKED if word.mark else _SHORTEST_PAUSE
            pauses_here = word.phones and lacking[number] and deficit >= shortest
            pauses.append(min(deficit, LONGEST_PAUSE) if pauses_here else 0.0)
            deficit -= pauses[number]
    return (*pauses, *([0.0] * (len(words) - len(pauses))))


def _advance(words: Sequence[PhonedWord], lacking: Sequence[float]) -> float:
    """Return the seconds of pauses that a sentence needs for its last word, after which it has no
    pause: about as many as for its first word.
    """
    first = next((number for number, word in enumerate(words) if word.phones), None)
    return 0.0 if first is None else min(words[first].syllables, _ADVANCE) * lacking[first]


def pause_needed(rate: float | None, below: float = PAUSING_BELOW) -> float:
    """Return the seconds of pauses that a syllable needs at a rate; see pausing_below()."""
    return 1 / rate - 1 / _articulation(rate, below) if rate else 0.0


def _articulation(rate: float, below: float) -> float:
    """Return the rate between the pauses (SPS) of speech with this rate overall."""
    return rate if rate >= below else below * (rate / below) ** _DRAWN_OUT


def pausing_below(accent: str, own: float) -> float:
    """Return the rate (SPS) below which a voice pauses between words. `own`: its own pace."""
    return PAUSING_BELOW if accent.startswith("en") else max(PAUSING_BELOW, _NEAR_OWN * own)


@dataclass(frozen=True)
class Pace:
    """The tempo of a sentence's plan: SPS (None = the voice's own), the pace of each word, the
    voice's own SPS, the frames by which the speech so far is too long for the rate, the rate below
    which there are pauses, and whether there is a sentence before it.
    """

    rate: float | None
    paces: tuple[float, ...]
    own: float
    late: float = 0.0
    below: float = PAUSING_BELOW
    follows: bool = False

    def wanted(self, owners: npt.NDArray[np.int64]) -> float:
        """Return the frames that syllables of the words `owners` should last; needs a rate."""
        assert self.rate is not None
        return float(sum(PER_SECOND / paced(self.rate, self.paces[owner]) for owner in owners))


def fit_durations(
    script: KokoroScript, natural: Lasting, frozen: Frames, pace: Pace, *, closed: bool
) -> Frames:
    """Return the frames of both edges and of every symbol, [symbols + 2]. The first ones are
    `frozen`. `natural`: the durations that Kokoro itself predicts.
    """
    lasting = np.maximum(1.0, natural)
    lasting[0] = max(SHORTEST_LEAD, lasting[0])
    if pace.rate is not None:
        _silence_before_marks(lasting, script.text)
    kept = max(1, len(frozen))
    body = np.arange(kept, len(lasting) - 1 - closed)  # without the last mark
    owners, pauses = np.array(script.words)[body - 1], np.array(script.pauses)[body - 1]
    pauses = pauses * PER_SECOND
    free = body[pauses == 0]
    before = lasting[body].sum()
    lasting[body] = np.where(pauses > 0, np.minimum(pauses, _SPOKEN_PAUSE), lasting[body])
    total, hurried = None, 1.0
    if pace.rate is not None and (voiced := owners[script.nuclei[body - 1]]).size:
        natural_total = lasting[free].sum() * pace.own / _articulation(pace.rate, pace.below)
        early = min(max(0.0, -pace.late), _SAVED) if pace.follows else 0.0
        owed = pace.wanted(voiced) - pauses.sum() - pace.late - (_AROUND + early) * closed
        share, soon = (1.0 if closed else min(1.0, len(voiced) / few) for few in (_HORIZON, _SOON))
        late = max(0.0, pace.late)
        total = natural_total + share * (owed + late - natural_total) - soon * late
        least = _QUICKEST * lasting[free].sum()
        total = np.clip(total, least, max(least, _MOST_LINGER * natural_total))
        hurried = min(1.0, total / natural_total)
    lasting[free] = _stretched(lasting[free], script, free - 1, pace, total)
    if closed and len(lasting) > kept + 1:
        slower = lasting[body].sum() / before if len(body) else 1.0
        limits = _FINAL_PAUSE if script.text.endswith(PAUSE) else _FINAL_MARK
        lasting[-2] = np.clip(lasting[-2] * slower * hurried, *limits)
    edges = np.round(np.cumsum(lasting[len(frozen) :])).astype(np.int64)
    return np.concatenate([frozen, np.maximum(1, np.diff(edges, prepend=0))])


def silent_frames(script: KokoroScript) -> npt.NDArray[np.int64]:
    """Return the frames of silence after each symbol: a pause less its spoken part."""
    silent = np.maximum(0.0, np.array(script.pauses) * PER_SECOND - _SPOKEN_PAUSE)
    return np.diff(np.round(np.cumsum(silent)), prepend=0).astype(np.int64)


def said_syllables(script: KokoroScript, symbols: int) -> Mapping[int, int]:
    """Count the syllables of each word among the first `symbols`."""
    said = np.array(script.words[:symbols], np.int64)[script.nuclei[:symbols]]
    return Counter(said.tolist())


def lateness(script: KokoroScript, frames: Frames, first: int, last: int, pace: Pace) -> float:
    """Return the frames by which the symbols from `first` to `last` are too long for the rate."""
    if pace.rate is None or last <= first:
        return 0.0
    owners = np.array(script.words)[first:last][script.nuclei[first:last]]
    spoken = frames[1 + first : 1 + last].sum() + silent_frames(script)[first:last].sum()
    return float(spoken - pace.wanted(owners))


def _silence_before_marks(lasting: Lasting, text: str) -> None:
    for place, symbol in enumerate(text, start=1):
        if symbol in MARKS:
            silent = max(0.0, lasting[place - 1] - _LAST_SOUND)
            lasting[place - 1 : place + 1] += (-silent, silent)


def _longest(script: KokoroScript, place: int) -> float:
    if script.text.startswith(tuple(MARKS), place + 1):
        return _LONGEST_LAST
    if place and script.pauses[place - 1]:
        return _BESIDE_PAUSE if script.text[place] == SPACE else np.inf
    return _LONGEST_GAP.get(script.text[place], np.inf)


def _stretched(
    lasting: Lasting,
    script: KokoroScript,
    places: npt.NDArray[np.int64],
    pace: Pace,
    total: float | None,
) -> Lasting:
    """Stretch symbols to `total` frames (None = natural), each word at its own pace."""
    elasticity = np.array([ELASTICITY.get(script.text[place], _GAP_ELASTICITY) for place in places])
    slower = np.array([-np.log(pace.paces[script.words[place]]) for place in places])
    longest = np.array([_longest(script, place) for place in places])

    def at(more: float) -> Lasting:
        stretched: Lasting = np.maximum(1.0, lasting * np.exp(elasticity * (slower + more)))
        within: Lasting = np.minimum(stretched, longest)
        return within

    if total is None or not len(places):
        return at(0.0)
    low, high = -6.0, 6.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle).sum() < total else (low, middle)
    return at(low)
