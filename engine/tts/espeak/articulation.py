"""From pieces to sound: each is spoken in its context, cut out, paced, and joined to the last one.

Invariant: the sound depends only on the pieces and on the rate at which each one began.
"""

from copy import copy
from dataclasses import dataclass
from typing import Final, assert_never

import numpy as np

from engine.audio.ending import SILENT_MS
from engine.tts.base import Pcm
from engine.tts.espeak import voices
from engine.tts.espeak.cutting import Cut, cut
from engine.tts.espeak.joining import FADE, Joiner
from engine.tts.espeak.library import SAMPLE_RATE, Espeak
from engine.tts.espeak.pace import Pace, Pacer
from engine.tts.espeak.phrasing import Break, Context, Piece

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
class Sound:
    """The sound of a piece. `syllables`: the samples at which its syllables end."""

    pcm: Pcm
    syllables: tuple[int, ...]


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
        """Return the pause before a piece that will be spoken at this rate and pace;
        see speak().
        """
        longest_s = np.inf if rate is None else self._since * _PAUSE_PER_SYLLABLE_S
        pause = self._pause(self._pacer.pace(rate, word_pace), longest_s)
        if self._before is not Break.NONE:
            self._since = 0
        self._before, self._gap = Break.NONE, 0
        self._rested += len(pause)
        self._silent += len(pause)
        return pause

    def speak(self, piece: Piece, context: Context, rate: float | None, word_pace: float) -> Sound:
        """Return the sound of a piece, at `word_pace` times `rate` SPS (None = the voice's own
        pace). Call rest() before.
        """
        ends_short = piece.closes is Break.SENTENCE and self._since < _SHORT
        pace = self._pacer.pace(rate, word_pace, ends_short=ends_short)
        cutting = self._cutting(piece, context, pace)
        if cutting is None:
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
        return Sound(body * self._gain, syllables)

    def branch(self) -> "Articulation":
        """Return an independent copy that continues from this state."""
        other = copy(self)
        other._joiner, other._pacer = copy(self._joiner), copy(self._pacer)
        return other

    def finish(self) -> Pcm:
        """Return the fade of the last piece."""
        return self._joiner.pause(FADE + SAMPLE_RATE * SILENT_MS // 1000) * self._gain

    def _cutting(self, piece: Piece, context: Context, pace: Pace) -> Cut | None:
        """Return the piece's part of the speech of its context; None if the piece is silent."""
        if not piece.text:
            return None
        speech = self._library.speak(
            context.text, voice=self._voice, words_per_minute=pace.words_per_minute
        )
        return cut(speech, context)

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
    length = cutting.span.end - cutting.span.start
    too_long = max(0.0, pace.gap * len(cutting.syllables) - _LONGEST_PAUSE)
    return pace.stretch + too_long / length
