"""One utterance of the formant voice: words in, frames out.

Invariant: the samples depend on the words and on the rate each piece was begun with, not on when
the words came, nor on rewinds. Nothing in it is random, so the seed changes nothing.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from engine.errors import InvalidInput
from engine.tts.base import Finished, Onset, Starved, Step
from engine.tts.espeak.articulation import Articulation
from engine.tts.espeak.library import SAMPLE_RATE
from engine.tts.espeak.pace import RATE_RANGE
from engine.tts.espeak.phrasing import Phrasing, Piece
from engine.tts.rate import PLAIN, SyllableMeter
from engine.tts.utterance import AheadUtterance

_KEPT: Final = 2 * SAMPLE_RATE  # how far back a word can be taken back: beyond any lead


@dataclass(frozen=True)
class _Mark:
    """The beginning of a word or of the pause before it, with the state before it."""

    sample: int
    pieces: int
    articulation: Articulation
    meter: SyllableMeter


class EspeakSession(AheadUtterance):
    """A TtsSession. Frames have 80 ms; a shorter one comes only before Starved or Finished."""

    def __init__(self, articulation: Articulation) -> None:
        super().__init__(SAMPLE_RATE, RATE_RANGE)
        self._articulation = articulation
        self._phrasing = Phrasing(british=articulation.british)
        self._marks: deque[_Mark] = deque()
        self._faded = False  # the last sound has been made

    @property
    def syllables(self) -> int:
        """Syllables made so far."""
        return self._meter.count

    def push_word(self, text: str, pace: float = PLAIN) -> None:
        """Append one whole word with its punctuation, to be spoken at `pace` times the rate (at the
        voice's own pace too). InvalidInput after end_input() or close(), for empty text and for
        text with spaces.
        """
        if self._finished:
            raise InvalidInput("A word came after the utterance was closed.")
        self._phrasing.push(text)
        self._paces.append(pace)

    def end_input(self) -> None:
        """No more words will come. Calling it twice is harmless."""
        self._phrasing.end()

    def step(self) -> Step:
        """The next frame, made now."""
        if self._finished:
            return Finished()
        self._note_rate(self._made)
        while len(self._ready) < self._piece and self._speak_next():
            pass
        if len(self._ready):
            return self._cut()
        return Finished() if self._phrasing.finished else Starved()

    def rewind(self, sample: int) -> int | None:
        """See TtsSession: words of the last 2 s can be taken back."""
        mark = next((mark for mark in self._marks if mark.sample >= sample), None)
        if mark is None or self._finished:
            return None
        self._forget_from(mark.sample)
        self._marks = deque(each for each in self._marks if each.sample < mark.sample)
        self._phrasing.go_back(mark.pieces)
        self._articulation, self._meter, self._faded = mark.articulation, mark.meter, False
        return mark.sample

    def _speak_next(self) -> bool:
        """Make the sound of one more piece; False when none can be made now."""
        pieces, pair = self._phrasing.taken, self._phrasing.take()
        if pair is None:
            return self._fade_out()
        piece, context = pair
        pace = self._paces[piece.word]
        self._mark(piece, pieces)
        pause = self._articulation.rest(self._target, pace)
        if len(pause):
            self._make(pause)
            self._mark(piece, pieces)
        sound = self._articulation.speak(piece, context, self._target, pace)
        if piece.begins_word:
            self._onsets.append(Onset(piece.word, self._made))
        for syllable in sound.syllables:
            self._meter.add(self._made + syllable)
        self._make(sound.pcm)
        return True

    def _mark(self, piece: Piece, pieces: int) -> None:
        """Note the state before the word of `piece`, if it begins here, for a rewind."""
        mouth, meter = self._articulation.branch(), self._meter.branch()
        if piece.begins_word:
            self._marks.append(_Mark(self._made, pieces, mouth, meter))
        while self._marks and self._marks[0].sample < self._made - _KEPT:
            self._marks.popleft()

    def _fade_out(self) -> bool:
        """Emit the rest of the last piece's sound, once."""
        if self._faded or not self._phrasing.finished:
            return False
        self._faded = True
        if self._made:
            self._make(self._articulation.finish())
        return True
