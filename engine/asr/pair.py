"""Whisper, with the built-in recogniser beside it for a quick first look at short commands.

Invariant: on screen is one recogniser's hearing of an utterance. The quick one's words are shown
only where the other has shown none, or the same; what it hears meanwhile is weighed, not shown.
"""

import re
from collections.abc import Callable

from engine.asr.base import SAMPLE_RATE, RecogniserInfo, Transcript
from engine.asr.kept import Pcm
from engine.asr.sphinx.recogniser import SphinxRecogniser, SphinxRecognition
from engine.asr.whisper.recogniser import WhisperRecogniser, WhisperRecognition
from engine.settings import RecogniserSettings

ENGLISH = ("", "en")
QUICK_SAMPLES = 3 * SAMPLE_RATE  # no command into a reply is longer
FIRST_SAMPLES = 3 * SAMPLE_RATE // 2  # a look of Whisper's would only delay a shorter utterance
_WORD = re.compile(r"[a-z']+")


class PairedRecogniser:
    """Both loaded; opens one Recognition at a time."""

    def __init__(self, careful: WhisperRecogniser, quick: SphinxRecogniser, language: str) -> None:
        """Both belong to it from now on; the quick one listens where English is spoken."""
        self._careful = careful
        self._quick = quick
        self._language = language

    @property
    def info(self) -> RecogniserInfo:
        info = self._careful.info
        return RecogniserInfo(info.name, f"{info.detail}; PocketSphinx for short commands")

    def open(self) -> "PairedRecognition":
        quick = self._quick.open() if self._language in ENGLISH else None
        return PairedRecognition(self._careful.open(), quick)

    def adjust(self, settings: RecogniserSettings) -> None:
        """As Whisper does it, whose languages are the more."""
        self._careful.adjust(settings)
        self._language = settings.language

    def close(self) -> None:
        self._careful.close()
        self._quick.close()


class PairedRecognition:
    """One utterance, heard by both while it is short."""

    def __init__(self, careful: WhisperRecognition, quick: SphinxRecognition | None) -> None:
        self._careful = careful
        self._quick = quick  # None: not in this language, or too long for a command
        self._samples = 0

    def push(self, pcm: Pcm) -> None:
        """To both; the quick one is let go once the utterance is no command."""
        self._samples += len(pcm)
        if self._quick is not None and self._samples > QUICK_SAMPLES:
            self._quick.close()
            self._quick = None
        if self._quick is not None:
            self._quick.push(pcm)
        self._careful.push(pcm)

    def glance(self) -> str:
        """What the quick one hears, as long as it listens."""
        return self._quick.glance() if self._quick else self._careful.glance()

    def partial(self) -> str:
        """Whisper's text so far."""
        return self._careful.partial() if self._samples >= FIRST_SAMPLES else ""

    def draft(self, wanted: Callable[[], bool]) -> Transcript | None:
        """A command that the quick one is sure of, else what Whisper hears."""
        command = self._quick.command(wanted) if self._quick else None
        return self._agreed(command) or self._careful.draft(wanted)

    def aside(self) -> Transcript:
        """A halt, a nod or a command of which the quick one is sure, else what Whisper hears."""
        said = self._quick.interjection() if self._quick else None
        command = said or (self._quick.command(lambda: True) if self._quick else None)
        return self._agreed(command) or self._careful.aside()

    def finish(self) -> Transcript:
        """As draft(); RecogniserError when a model fails."""
        transcript = self.draft(lambda: True)
        assert transcript is not None, "wanted to the end"
        self.close()
        return transcript

    def close(self) -> None:
        self._careful.close()
        if self._quick is not None:
            self._quick.close()

    def _agreed(self, command: Transcript | None) -> Transcript | None:
        """The command, unless something else was on screen."""
        shown = self._careful.shown
        if command is None or (shown and _words(shown) != _words(command.text)):
            return None
        return command


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
