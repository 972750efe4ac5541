"""The formant voice as a TtsModel: no weights, no download, speaks a word in a few milliseconds.

Invariant: one thread owns the model and its sessions, because libespeak-ng is global to the
process; any number of sessions of that thread may be open at once.
"""

from typing import Final

from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.text.pronunciation import english
from engine.translatable import Progress, Translatable
from engine.tts.base import TtsInfo, Voice
from engine.tts.espeak import voices
from engine.tts.espeak.articulation import Articulation
from engine.tts.espeak.library import SAMPLE_RATE, Espeak
from engine.tts.espeak.pace import OWN_WORDS_PER_MINUTE, RATE_RANGE
from engine.tts.espeak.session import EspeakSession
from engine.tts.synthesiser import Synthesiser

NAME: Final = "espeak"


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
