"""The formant voice as a TtsModel, and one utterance of it: words in, frames out. It has no
weights, needs no download, and speaks a word in a few milliseconds.

Invariants: one thread owns the model and its sessions, because libespeak-ng is global to the
process; any number of sessions of that thread may be open at once. The samples depend on the words
and on the rate at which each piece began, not on when the words came, nor on rewinds. Nothing is
random, so the seed has no effect.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.text.pronunciation import english
from engine.translatable import Progress, Translatable
from engine.tts.base import TtsInfo, Voice
from engine.tts.espeak import voices
from engine.tts.espeak.articulation import OWN_WORDS_PER_MINUTE, RATE_RANGE, Articulation
from engine.tts.espeak.library import SAMPLE_RATE, Espeak
from engine.tts.espeak.phrasing import Phrasing, Piece
from engine.tts.rate import SyllableMeter
from engine.tts.session import Session, Synthesiser

_KEPT: Final = 2 * SAMPLE_RATE  # how far back a word can be taken back: beyond any lead

NAME: Final = "espeak"


@dataclass(frozen=True)
class _Mark:
    """The state before a word or before the pause in front of it, for a rewind to `sample`."""

    sample: int
    pieces: int
    articulation: Articulation
    meter: SyllableMeter


class EspeakSession(Session):
    """A TtsSession. Frames have 80 ms; a shorter one comes only before Starved or Finished."""

    def __init__(self, articulation: Articulation) -> None:
        super().__init__(SAMPLE_RATE, RATE_RANGE)
        self._articulation = articulation
        self._phrasing = Phrasing(british=articulation.british)
        self._marks: deque[_Mark] = deque()
        self._least = self._frame_samples

    @property
    def syllables(self) -> int:
        """The number of syllables made so far."""
        return self._meter.count

    def rewind(self, sample: int) -> int | None:
        """Rewind as TtsSession.rewind() does. Words of the last 2 s can be taken back."""
        mark = next((mark for mark in self._marks if mark.sample >= sample), None)
        if mark is None or self._closed:
            return None
        self._drop_from(mark.sample)
        self._marks = deque(each for each in self._marks if each.sample < mark.sample)
        self._phrasing.taken = mark.pieces
        self._articulation, self._meter = mark.articulation, mark.meter
        return mark.sample

    def _hear(self, word: str | None) -> None:
        if word is None:
            self._phrasing.end()
        else:
            self._phrasing.push(word)

    def _make(self) -> bool:
        """Make the sound of one more piece."""
        pieces, pair = self._phrasing.taken, self._phrasing.take()
        if pair is None:
            return False
        piece, context = pair
        pace = self._paces[piece.word]
        self._mark(piece, pieces)
        pause = self._articulation.rest(self.rate, pace)
        if len(pause):
            self._append(pause)
            self._mark(piece, pieces)
        pcm, syllables = self._articulation.speak(piece, context, self.rate, pace)
        if piece.begins_word:
            self._begin_word(piece.word)
        for syllable in syllables:
            self._meter.add(self._made + syllable)
        self._append(pcm)
        return True

    def _end(self) -> None:
        """Append the fade of the last piece."""
        if self._made:
            self._append(self._articulation.finish())

    def _mark(self, piece: Piece, pieces: int) -> None:
        """If a word begins with `piece`, store the state before it for a rewind."""
        mouth, meter = self._articulation.branch(), self._meter.branch()
        if piece.begins_word:
            self._marks.append(_Mark(self._made, pieces, mouth, meter))
        while self._marks and self._marks[0].sample < self._made - _KEPT:
            self._marks.popleft()


class EspeakModel(Synthesiser[voices.FormantVoice]):
    """libespeak-ng and our voices on it. ModelError when the library does not load."""

    def __init__(self) -> None:
        own = (
            Voice(voice.name, NAME, metadata={"description": voice.description})
            for voice in voices.VOICES
        )
        info = TtsInfo(NAME, SAMPLE_RATE, RATE_RANGE)
        super().__init__(info, tuple(own), lambda voice: voices.find(voice.name))
        self._library: Espeak | None = Espeak.claim()
        # espeak's first synthesis in a process costs 10 ms more: not in a reply's first packet.
        default = voices.file_name(voices.VOICES[0])
        english.roughly("ready")  # the lexicon's first look-up is slow too
        self._library.speak("ready", voice=default, words_per_minute=OWN_WORDS_PER_MINUTE)

    def warm(self, voice: Voice) -> None:
        """Do nothing: loading has warmed up the library for all voices."""
        self._of(voice)

    def open(self, voice: Voice, *, seed: int) -> EspeakSession:
        """Open an utterance in `voice`. `seed` has no effect: nothing here is random."""
        if self._library is None:
            raise ModelError("The formant voice was closed.", hint="Load it again.")
        return EspeakSession(Articulation(self._library, self._of(voice)))

    def close(self) -> None:
        """Release the library; calling it twice is harmless."""
        super().close()
        library, self._library = self._library, None
        if library is not None:
            library.release()


def load(settings: SpeechSettings, progress: Progress) -> EspeakModel:
    """Load the formant voice; the settings have no effect."""
    progress(Translatable("Loading the formant voice"), None)
    return EspeakModel()
