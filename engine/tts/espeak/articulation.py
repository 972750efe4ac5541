"""From pieces to sound: each is spoken in its context, cut out, paced, and joined to the last one.

Invariant: the sound and the pace depend only on the pieces, on those before, and on the rate at
which each one began.
"""

from copy import copy
from dataclasses import dataclass, replace
from typing import Final, assert_never

import numpy as np

from engine.audio.finishing import SILENT_MS
from engine.tts.base import Pcm, RateRange
from engine.tts.espeak import voices
from engine.tts.espeak.cutting import FADE, Cut, Joiner, cut
from engine.tts.espeak.library import SAMPLE_RATE, Espeak
from engine.tts.espeak.phrasing import Break, Context, Piece
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

# Pauses at the voice's own pace, about espeak's; they shrink and grow with the rate.
_CLAUSE_PAUSE_S: Final = 0.20
_SENTENCE_PAUSE_S: Final = 0.40
# At a chosen rate, a pause is at most this long for each syllable since the last pause: the rate
# counts pauses, and full ones would be most of the time in a row of short sentences.
_PAUSE_PER_SYLLABLE_S: Final = 0.07
_SHORT: Final = 3  # a short sentence has fewer syllables before its last word
_LONGEST_PAUSE: Final = SAMPLE_RATE  # samples, inside a sentence
_LONGEST_BETWEEN: Final = SAMPLE_RATE * 115 // 100  # the same between two sentences
_QUIET: Final = 0.003  # of full scale: below this espeak is silent, as before a quotation mark
# A piece without any sound still gets a place in the utterance.
_MUTE_SAMPLES: Final = SAMPLE_RATE * 40 // 1000
_NO_SYLLABLES: Final[tuple[int, ...]] = ()


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


class Articulation:
    """The speech of one utterance, piece after piece."""

    def __init__(self, library: Espeak, voice: voices.FormantVoice) -> None:
        self._library = library
        self._voice = voices.file_name(voice)
        self.british = voice.british
        library.select(self._voice)  # now, so that the first word does not wait for it
        self._gain = np.float32(10 ** (voice.gain_db / 20))
        self._joiner = Joiner()
        self._pacer = Pacer()
        # The pause after a piece is made when the next one comes: a reply ends without one.
        self._before = Break.NONE
        self._gap = 0
        self._since = 0  # syllables since the last pause
        self._rested = 0  # samples of the pause made for the next piece so far
        self._silent = 0  # samples since the last sound

    def rest(self, rate: float | None, word_pace: float) -> Pcm:
        """Return the pause before a piece of this rate and pace; see speak()."""
        longest_s = np.inf if rate is None else self._since * _PAUSE_PER_SYLLABLE_S
        pause = self._pause(self._pacer.pace(rate, word_pace), longest_s)
        if self._before is not Break.NONE:
            self._since = 0
        self._before, self._gap = Break.NONE, 0
        self._rested += len(pause)
        self._silent += len(pause)
        return pause

    def speak(
        self, piece: Piece, context: Context, rate: float | None, word_pace: float
    ) -> tuple[Pcm, tuple[int, ...]]:
        """Return the sound of a piece, and the samples at which its syllables end, at `word_pace`
        times `rate` SPS (None = the voice's own pace). Call rest() before.
        """
        ends_short = piece.closes is Break.SENTENCE and self._since < _SHORT
        pace = self._pacer.pace(rate, word_pace, ends_short=ends_short)
        cutting = None
        if piece.text:
            words_per_minute = pace.words_per_minute
            text, voice = " ".join(context.tokens), self._voice
            cutting = cut(
                self._library.speak(text, voice=voice, words_per_minute=words_per_minute), context
            )
        if cutting is None:  # the piece is silent
            body, syllables = self._joiner.pause(_MUTE_SAMPLES), _NO_SYLLABLES
            self._silent += _MUTE_SAMPLES
        else:
            stretch = _stretch(cutting, pace)
            body = self._joiner.append(cutting.span, stretch)
            syllables = tuple(
                min(len(body), round(sample * stretch)) for sample in cutting.syllables
            )
            dropped = self._hear(body)
            body, syllables = body[dropped:], tuple(max(0, end - dropped) for end in syllables)
        # The slowness of a long word that a gap does not absorb is spread over the next words
        # (Pacer).
        self._before, self._gap = piece.closes, round(pace.gap * len(syllables))
        self._since += len(syllables)
        self._pacer.note(syllables=len(syllables), samples=self._rested + len(body))
        self._rested = 0
        return body * self._gain, syllables

    def branch(self) -> "Articulation":
        """Return an independent copy that continues from this state."""
        other = copy(self)
        other._joiner, other._pacer = copy(self._joiner), copy(self._pacer)
        return other

    def finish(self) -> Pcm:
        """Return the fade of the last piece."""
        return self._joiner.pause(FADE + SAMPLE_RATE * SILENT_MS // 1000) * self._gain

    def _pause(self, pace: Pace, longest_s: float) -> Pcm:
        """Return the silence between the last piece and the next one, which has `pace`. A pause at
        a mark has at most `longest_s` at the voice's own pace.
        """
        match self._before:
            case Break.SENTENCE:
                samples = round(min(_SENTENCE_PAUSE_S, longest_s) * pace.pause * SAMPLE_RATE)
                samples = max(0, min(samples, _LONGEST_BETWEEN) - self._silent)
            case Break.CLAUSE:
                seconds = min(_CLAUSE_PAUSE_S, longest_s) * pace.pause
                samples = self._limited(round(seconds * SAMPLE_RATE))
            case Break.NONE:
                samples = self._limited(self._gap)
            case _:
                assert_never(self._before)
        return self._joiner.pause(samples) * self._gain if samples else np.zeros(0, np.float32)

    def _hear(self, body: Pcm) -> int:
        """Store the length of the silence at the end of a piece. Return how many samples to omit at
        its head, where espeak is silent for too long.
        """
        sounding = np.flatnonzero(np.abs(body) > _QUIET)
        if not len(sounding):
            self._silent += len(body)
            return 0
        head, last = int(sounding[0]), int(sounding[-1])
        dropped = min(self._silent + head - _LONGEST_PAUSE, head - FADE)
        self._silent = len(body) - 1 - last
        return max(0, dropped)

    def _limited(self, samples: int) -> int:
        """Shorten a pause so that no silence is too long; several marks may follow each other."""
        return min(samples, max(0, _LONGEST_PAUSE - self._silent))


def _stretch(cutting: Cut, pace: Pace) -> float:
    """Return the factor on a piece's length: the part of its gap that would be too long a silence
    stretches a long word instead.
    """
    too_long = max(0.0, pace.gap * len(cutting.syllables) - _LONGEST_PAUSE)
    return pace.stretch + too_long / (cutting.span.end - cutting.span.start)
