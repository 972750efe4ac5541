"""Conversion between syllables per second and espeak's words per minute.

Invariant: the pace of a piece depends only on the targets and the pieces before it.
"""

from dataclasses import dataclass, replace
from typing import Final

from engine.tts.base import RateRange
from engine.tts.espeak.library import SAMPLE_RATE
from engine.tts.rate import PLAIN, paced

OWN_WORDS_PER_MINUTE: Final = 175  # espeak's own default; 4.6 SPS on ordinary text
_SLOWEST, _FASTEST = 80, 450  # words per minute espeak can do
# Reached within 8 % on four kinds of text by all six voices at every whole SPS up to 10, and at
# 1.5 and 2.5. At 11 within 4 %, but short sentences are 11 to 14 % too slow; espeak ends at 11.4.
# To measure again: `python -m tests.benchmarks.formant_rates`.
RATE_RANGE: Final = RateRange(1.0, 11.0)

# Mean over the same texts with their pauses; between 34.6 (at 80 words a minute) and 40.5 (at 400),
# which the correction below makes up for.
_WORDS_PER_SYLLABLE: Final = 37.0
# espeak's slowest is about 2.2 SPS. Below, the wave is stretched, and the rest becomes gaps between
# words, because longer stretching sounds drunk.
_LONGEST_STRETCH: Final = 1.6
# Syllables behind (ahead of) the target at which words would be spoken twice as fast.
_WORD_HORIZON: Final = 6.0
# All of a row of short sentences are slow, which a share of the error alone never makes up for. So
# with every syllable the correction grows by this share of the error, up to a limit. The last word
# of a sentence is slowest, so the words before it should be ahead by this much.
_GROWTH: Final = 0.04
_MOST_GROWTH: Final = 3.0  # syllables
_AHEAD: Final = 0.3  # syllables
_MOST_HURRY: Final = 1.35
_SHORT_HORIZON: Final = 1.0  # the same of a word that ends a sentence of a few syllables
_MOST_SHORT_HURRY: Final = 2.2
_MOST_LINGER: Final = 1.6
# Syllables behind the target at which pauses are halved, and how short they may become.
_PAUSE_HORIZON: Final = 1.2
_MOST_PAUSE_CUT: Final = 4.0


@dataclass(frozen=True)
class Pace:
    """The pace of one piece.

    `words_per_minute`: espeak's pace. `stretch`: the factor on the length of the wave. `gap`:
    samples of silence per syllable, as one gap after the piece. `pause`: the length of pauses as a
    share of those at the voice's own pace.
    """

    words_per_minute: int
    stretch: float = 1.0
    gap: float = 0.0
    pause: float = 1.0


OWN_RATE: Final = OWN_WORDS_PER_MINUTE / _WORDS_PER_SYLLABLE  # SPS


def pace_for(rate: float) -> Pace:
    """Return the pace at which fluent text has `rate` SPS, pauses included."""
    words_per_minute = rate * _WORDS_PER_SYLLABLE
    pause = OWN_WORDS_PER_MINUTE / words_per_minute
    if words_per_minute >= _SLOWEST:
        return Pace(min(round(words_per_minute), _FASTEST), pause=pause)
    lack = _SLOWEST / words_per_minute
    factor = min(lack, _LONGEST_STRETCH)
    gap = SAMPLE_RATE / rate * (1 - factor / lack)
    return Pace(_SLOWEST, factor, gap, pause)


class Pacer:
    """Keeps the speech at the target rate. At the same pace of espeak, texts differ by half in
    syllables a second (long words, short sentences, pauses). So the next words correct a part of
    the error, and pauses correct more of it.
    """

    def __init__(self) -> None:
        self._target: float | None = None
        self._word_target = OWN_RATE  # the target of the last piece
        self._late_s = 0.0
        self._more = 0.0  # syllables by which the correction has grown

    def pace(
        self, target: float | None, word_pace: float = PLAIN, *, ends_short: bool = False
    ) -> Pace:
        """Return the pace of the next piece at `target` SPS (None = the voice's own pace) and the
        word's pace. `ends_short`: it ends a sentence of a few syllables, which espeak draws out.
        """
        if target is None:
            self._target = None
            return pace_for(paced(OWN_RATE, word_pace))
        if target != self._target:
            self._target, self._late_s, self._more = target, 0.0, 0.0
        self._word_target = paced(target, word_pace)
        late_syllables = self._late_s * self._word_target + self._more
        horizon = _SHORT_HORIZON if ends_short else _WORD_HORIZON
        hurry = _MOST_SHORT_HURRY if ends_short else _MOST_HURRY
        faster = min(max(1 + late_syllables / horizon, 1 / _MOST_LINGER), hurry)
        shorter = min(max(1 + late_syllables / _PAUSE_HORIZON, 1.0), _MOST_PAUSE_CUT)
        pace = pace_for(self._word_target * faster)
        return replace(pace, pause=pace.pause / shorter)

    def note(self, *, syllables: int, samples: int) -> None:
        """Count a spoken piece and the pause before it."""
        if self._target is not None:
            self._late_s += samples / SAMPLE_RATE - syllables / self._word_target
            late = self._late_s * self._word_target + _AHEAD
            more = self._more + _GROWTH * syllables * late
            self._more = min(max(more, -_MOST_GROWTH), _MOST_GROWTH)
