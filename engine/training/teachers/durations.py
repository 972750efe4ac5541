"""How many frames every symbol of a teacher's utterance lasts, so that its rate is exact.

Vowels and the gaps between words stretch most, stops least. Below PAUSING_BELOW people do not
stretch every sound but pause between words: pauses are symbols of their own (an added comma), and
the sounds are stretched only over the time that is left. Invariant: the frames of a stretch add up
to its syllables over its rate, to a frame.
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.text.phonemes import PhonedWord
from engine.training.corpus.utterance import UNEVEN
from engine.training.teachers import kokoro

Frames = npt.NDArray[np.int64]

PAUSE: Final = ","
# How easily a symbol stretches, 1 for vowels; symbols not listed are marks or spaces.
_GIVES: Final = {
    **dict.fromkeys("aeioɑɐɒæɔəɚɛɜɪʊʌuᵻː", 1.0),
    **dict.fromkeys("mnŋlɹrszʃʒfvθðhwjxˈˌ", 0.8),
    **dict.fromkeys("pbtdkɡɾʔ", 0.45),
}
_GAP_GIVES: Final = 1.3
# Frames of a pause that the teacher speaks, in which the sound before it dies away. The rest is
# silence: when the teacher spoke whole pauses, they had echoes of the words around them.
_SPOKEN_PAUSE: Final = 8.0
# Of the sound before a mark about four frames are audible, however many it has (five to fifteen
# made no difference); the rest is silence.
_LAST_SOUND: Final = 4.0
_TAIL: Final = 10  # frames of the final mark
# Frames of silence before speech. With seven, instead of the model's own thirteen to twenty, the
# first 0.2 s of speech were lost.
_SHORTEST_LEAD: Final = 13.0
# Words wrong at 1.5 SPS (Whisper base, 6 sentences): 11 % with 3.4 SPS and a share of 0.4, 7 % with
# 3.4 and 0.1 and with 2.8 and 0.15.
PAUSING_BELOW: Final = 3.0  # SPS
_DRAWN_OUT: Final = 0.15  # share of the slowing, in octaves, that is done by stretching sounds
_SHORTEST_PAUSE: Final = (0.12, 0.6)  # seconds, drawn for each utterance: word by word, or phrases


@dataclass(frozen=True)
class Symbol:
    """One symbol, and the number of the phone it belongs to. `pause` = its seconds if it is a
    pause; 0 = as long as its stretch allows.
    """

    text: str
    phone: int
    pause: float = 0.0


@dataclass(frozen=True)
class Stretch:
    """Symbols from `first` on that last `seconds` together; 0 = their natural length."""

    first: int
    seconds: float


@dataclass(frozen=True)
class Script:
    """All symbols of an utterance, the last one its final mark, and its stretches in order."""

    symbols: tuple[Symbol, ...]
    stretches: tuple[Stretch, ...]

    @property
    def text(self) -> str:
        return "".join(symbol.text for symbol in self.symbols)


def make_script(words: Sequence[PhonedWord], rates: Sequence[float], dice: random.Random) -> Script:
    """The symbols of words; several rates (SPS) apply to equal parts of them, no rate means the
    natural one.

    KeyError for a phone that the teacher has no symbols for.
    """
    voiced = [word for word in words if word.phones]
    shares = [number * len(rates) // len(voiced) for number in range(len(voiced))]
    pauses = _pauses(voiced, [rates[share] for share in shares] if rates else [], dice)
    symbols: list[Symbol] = []
    firsts: dict[int, int] = {}  # place of a share's first symbol
    phone = 0
    for number, word in enumerate(voiced):
        firsts.setdefault(shares[number] if rates else 0, len(symbols))
        symbols += _symbols(word, phone)
        phone += len(word.phones)
        last = number == len(voiced) - 1
        mark = word.mark or ("." if last else PAUSE if pauses[number] else "")
        if mark:
            symbols.append(Symbol(mark, phone - 1, pauses[number]))
        if not last:
            symbols.append(Symbol(" ", phone - 1))
    return Script(tuple(symbols), _stretches(voiced, rates, shares, firsts))


def frames(script: Script, natural: kokoro.Floats, quickening: float) -> Frames | None:
    """Whole frames of every symbol and of the silences around them, [symbols + 2]; None when there
    are fewer frames than symbols. `quickening` = how much faster it will be played.
    """
    lasting = np.maximum(1.0, natural.astype(np.float64))
    for place, symbol in enumerate(script.symbols, start=1):
        if symbol.text in kokoro.MARKS:
            silent = max(0.0, lasting[place - 1] - _LAST_SOUND)
            lasting[place - 1 : place + 1] += (-silent, silent)
    per_second = kokoro.SAMPLE_RATE * quickening / kokoro.FRAME
    ends = [stretch.first for stretch in script.stretches[1:]] + [len(script.symbols) - 1]
    for stretch, end in zip(script.stretches, ends, strict=True):
        part = slice(stretch.first + 1, end + 1)
        fitted = _fitted(script.symbols[stretch.first : end], lasting[part], stretch, per_second)
        if fitted is None:
            return None
        lasting[part] = fitted
    edges = np.round(np.cumsum(lasting[1:-2])).astype(np.int64)
    lead = round(max(_SHORTEST_LEAD, lasting[0]))
    return np.asarray([lead, *np.diff(edges, prepend=0), _TAIL, 1], np.int64)


def silences(script: Script, lasting: Frames, quickening: float) -> list[int]:
    """Samples of silence by which each symbol's pause is longer than its frames."""
    return [
        max(0, round(kokoro.SAMPLE_RATE * symbol.pause - count * kokoro.FRAME / quickening))
        if symbol.pause
        else 0
        for symbol, count in zip(script.symbols, lasting[1:-1].tolist(), strict=True)
    ]


def _pauses(
    words: Sequence[PhonedWord], rates: Sequence[float], dice: random.Random
) -> list[float]:
    """Seconds of the pause after each word; none where there is no rate."""
    pauses, deficit = [0.0] * len(words), 0.0
    shortest = dice.uniform(*_SHORTEST_PAUSE)
    for number, (word, rate) in enumerate(zip(words[:-1], rates, strict=False)):
        lacking = word.syllables * (1 / rate - 1 / _articulation(rate))
        deficit += lacking * dice.uniform(*UNEVEN)
        if deficit >= (_SHORTEST_PAUSE[0] if word.mark else shortest):
            pauses[number], deficit = deficit, 0.0
    return pauses


def _articulation(rate: float) -> float:
    """The rate between the pauses, SPS, of speech that has this rate overall."""
    return rate if rate >= PAUSING_BELOW else PAUSING_BELOW * (rate / PAUSING_BELOW) ** _DRAWN_OUT


def _symbols(word: PhonedWord, phone: int) -> list[Symbol]:
    return [
        Symbol(symbol, number)
        for number, each in enumerate(word.phones, start=phone)
        for symbol in kokoro.symbols(each)
    ]


def _stretches(
    words: Sequence[PhonedWord],
    rates: Sequence[float],
    shares: Sequence[int],
    firsts: dict[int, int],
) -> tuple[Stretch, ...]:
    if not rates:
        return (Stretch(0, 0.0),)
    seconds = dict.fromkeys(firsts, 0.0)
    for word, share in zip(words, shares, strict=True):
        seconds[share] += word.syllables / rates[share]
    return tuple(Stretch(first, seconds[share]) for share, first in firsts.items())


def _fitted(
    symbols: Sequence[Symbol],
    lasting: npt.NDArray[np.float64],
    stretch: Stretch,
    per_second: float,
) -> npt.NDArray[np.float64] | None:
    """Frames of a stretch's symbols that add up to its seconds; None where they cannot."""
    paused = np.asarray([min(symbol.pause * per_second, _SPOKEN_PAUSE) for symbol in symbols])
    gives = np.asarray([_GIVES.get(symbol.text, _GAP_GIVES) for symbol in symbols])
    gives[paused > 0] = 0.0
    lasting = np.where(paused > 0, paused, lasting)
    if not stretch.seconds:
        return lasting
    silent = sum(symbol.pause for symbol in symbols) * per_second - paused.sum()
    frames_left = stretch.seconds * per_second - silent
    low, high = -6.0, 6.0
    for _ in range(40):
        middle = (low + high) / 2
        total = np.maximum(1.0, lasting * np.exp(middle * gives)).sum()
        low, high = (middle, high) if total < frames_left else (low, middle)
    fitted: npt.NDArray[np.float64] = np.maximum(1.0, lasting * np.exp(low * gives))
    return fitted if abs(fitted.sum() - frames_left) < 1.0 else None
