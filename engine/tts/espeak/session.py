"""One utterance of the formant voice: words in, frames out.

Invariant: the samples depend on the words and on the rate each piece was begun with, not on when
the words came. Nothing in it is random, so the seed changes nothing.
"""

from collections import deque
from math import isnan
from types import TracebackType
from typing import Final, Self

import numpy as np

from engine.errors import InvalidInput
from engine.tts.base import AudioFrame, Finished, Onset, Pcm, Starved, Step
from engine.tts.espeak.articulation import Articulation
from engine.tts.espeak.library import SAMPLE_RATE
from engine.tts.espeak.pace import SyllableMeter
from engine.tts.espeak.phrasing import Phrasing
from engine.tts.pacing import PLAIN

FRAME: Final = SAMPLE_RATE * 80 // 1000


class EspeakSession:
    """A TtsSession. Frames have 80 ms; a shorter one comes only before Starved or Finished."""

    def __init__(self, articulation: Articulation) -> None:
        self._rate: float | None = None
        self._articulation = articulation
        self._phrasing = Phrasing()
        self._paces: list[float] = []  # of the words pushed
        self._meter = SyllableMeter()
        self._onsets: deque[Onset] = deque()
        self._ready: Pcm = np.zeros(0, np.float32)  # made, not yet in a frame
        self._sample = 0  # position of _ready[0] in the utterance
        self._faded = False  # the last sound has been made
        self._closed = False

    @property
    def rate(self) -> float | None:
        """Target SPS for the pieces not yet begun; None = own pace. Clamped to the model's range;
        InvalidInput for a NaN.
        """
        return self._rate

    @rate.setter
    def rate(self, rate: float | None) -> None:
        if rate is not None and isnan(rate):
            raise InvalidInput("The speaking rate is not a number.")
        self._rate = rate

    @property
    def syllables(self) -> int:
        """How many syllables were made so far."""
        return self._meter.counted

    def push_word(self, text: str, pace: float = PLAIN) -> None:
        """Append one whole word with its punctuation, to be spoken at `pace` times the rate (at the
        voice's own pace too). InvalidInput after end_input() or close(), for empty text and for
        text with spaces.
        """
        if self._closed:
            raise InvalidInput("A word came after the utterance was closed.")
        self._phrasing.push(text)
        self._paces.append(pace)

    def end_input(self) -> None:
        """No more words will come. Calling it twice is harmless."""
        self._phrasing.end()

    def step(self) -> Step:
        """The next frame, made now."""
        if self._closed:
            return Finished()
        while len(self._ready) < FRAME and self._speak_next():
            pass
        if len(self._ready):
            return self._frame()
        return Finished() if self._phrasing.finished else Starved()

    def close(self) -> None:
        """Forget the utterance; further steps are Finished."""
        self._closed = True
        self._ready = np.zeros(0, np.float32)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _speak_next(self) -> bool:
        """Make the sound of one more piece; False when none can be made now."""
        taken = self._phrasing.take()
        if taken is None:
            return self._fade_out()
        piece, context = taken
        sound = self._articulation.speak(piece, context, self._rate, self._paces[piece.word])
        made = self._sample + len(self._ready)
        if piece.begins_word:
            self._onsets.append(Onset(piece.word, made + sound.onset))
        for syllable in sound.syllables:
            self._meter.add(made + syllable)
        self._ready = np.concatenate([self._ready, sound.pcm])
        return True

    def _fade_out(self) -> bool:
        """Once, after the last piece: what is left of its sound."""
        if self._faded or not self._phrasing.finished:
            return False
        self._faded = True
        if self._sample + len(self._ready):
            self._ready = np.concatenate([self._ready, self._articulation.finish()])
        return True

    def _frame(self) -> AudioFrame:
        pcm, self._ready = self._ready[:FRAME], self._ready[FRAME:]
        start, self._sample = self._sample, self._sample + len(pcm)
        onsets = []
        while self._onsets and self._onsets[0].sample < self._sample:
            onsets.append(self._onsets.popleft())
        return AudioFrame(pcm, start, tuple(onsets), self._meter.rate(self._sample))
