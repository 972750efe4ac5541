"""Whisper, with the built-in recogniser beside it for quick transcripts of short commands.

Invariant: the screen shows the text of one recogniser per utterance. PocketSphinx's words are shown
only if Whisper has shown none, or words that sound the same; until then they only help to decide.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from difflib import SequenceMatcher

from num2words import num2words

from engine.asr.base import SAMPLE_RATE, RecogniserInfo, Transcript
from engine.asr.sphinx.recogniser import SphinxRecogniser, SphinxRecognition
from engine.asr.whisper.recogniser import WhisperRecogniser, WhisperRecognition
from engine.audio.pcm import Pcm
from engine.settings import RecogniserSettings

ENGLISH = ("", "en")
QUICK_SAMPLES = 5 * SAMPLE_RATE  # few sentences for skills are longer
# decoding less with Whisper would only delay a short utterance
FIRST_SAMPLES = 3 * SAMPLE_RATE // 2
# Minimum share of common letters of two texts that may be the same sentence. "what man is that" and
# "what month is it" share 0.69; an open question and its decoding as a phrase at most 0.33.
ALIKE = 0.65
_WORD = re.compile(r"[a-z']+")
_NUMBER = re.compile(r"\d{1,9}")


class PairedRecogniser:
    """Both loaded recognisers. Opens one Recognition at a time."""

    def __init__(self, whisper: WhisperRecogniser, sphinx: SphinxRecogniser, language: str) -> None:
        """Takes ownership of both. PocketSphinx is used only for English."""
        self._whisper = whisper
        self._sphinx = sphinx
        self._language = language

    @property
    def info(self) -> RecogniserInfo:
        info = self._whisper.info
        return RecogniserInfo(info.name, f"{info.detail}; PocketSphinx for short commands")

    def open(self) -> "PairedRecognition":
        sphinx = self._sphinx.open() if self._language in ENGLISH else None
        return PairedRecognition(self._whisper.open(), sphinx)

    def adjust(self, settings: RecogniserSettings) -> None:
        """As Whisper, which supports more languages."""
        self._whisper.adjust(settings)
        self._language = settings.language

    def close(self) -> None:
        self._whisper.close()
        self._sphinx.close()


class PairedRecognition:
    """One utterance; PocketSphinx decodes it too while it is short."""

    def __init__(self, whisper: WhisperRecognition, sphinx: SphinxRecognition | None) -> None:
        self._whisper = whisper
        self._sphinx = sphinx  # None: another language, or longer than a command
        self._samples = 0

    def push(self, pcm: Pcm) -> None:
        """Append samples; close PocketSphinx once the utterance is too long for a command."""
        self._samples += len(pcm)
        if self._sphinx is not None and self._samples > QUICK_SAMPLES:
            self._sphinx.close()
            self._sphinx = None
        if self._sphinx is not None:
            self._sphinx.push(pcm)
        self._whisper.push(pcm)

    def peek(self) -> str:
        """Return PocketSphinx's text while it is open, otherwise Whisper's."""
        return self._sphinx.peek() if self._sphinx else self._whisper.peek()

    def partial(self) -> str:
        """Return Whisper's text so far."""
        return self._whisper.partial() if self._samples >= FIRST_SAMPLES else ""

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        """Return a command that PocketSphinx is certain of, otherwise Whisper's text."""
        command = self._sphinx.command(wanted) if self._sphinx else None
        return self._agreed(command) or self._expected(self._whisper.interim(wanted), wanted)

    def overlapping(self) -> Transcript:
        """Return a halt, nod or command that PocketSphinx is certain of, or Whisper's text."""
        interjection = self._sphinx.interjection() if self._sphinx else None
        command = interjection or (self._sphinx.command(lambda: True) if self._sphinx else None)
        return self._agreed(command) or self._whisper.overlapping()

    def finish(self) -> Transcript:
        """As interim(); RecogniserError when a model fails."""
        transcript = self.interim(lambda: True)
        assert transcript is not None, "wanted to the end"
        self.close()
        return transcript

    def close(self) -> None:
        self._whisper.close()
        if self._sphinx is not None:
            self._sphinx.close()

    def _agreed(self, command: Transcript | None) -> Transcript | None:
        """Return the command, unless different words are on the screen."""
        shown = self._whisper.peek()
        if command is None or (shown and _words(shown) != _words(command.text)):
            return None
        return command

    def _expected(
        self, whisper: Transcript | None, wanted: Callable[[], bool]
    ) -> Transcript | None:
        """Return Whisper's transcript, or a skill's sentence instead: if Whisper's is not one, and
        PocketSphinx decoded one that sounds the same.
        """
        if whisper is None or self._sphinx is None or whisper.language not in ENGLISH:
            return whisper
        words = _words(whisper.text)
        whole, start = "".join(words), "".join(_words(self._sphinx.peek()))
        # The text so far has half of the letters or more, and sounds like the start.
        begins_alike = 2 * len(start) >= len(whole) and _alike(whole[: len(start)], start)
        if self._sphinx.expects(words) or not begins_alike:
            return whisper
        phrase = self._sphinx.phrase(wanted)
        if phrase is None:
            return None
        phrase_words = _words(phrase.text)
        alike = self._sphinx.expects(phrase_words) and _alike(whole, "".join(phrase_words))
        return replace(whisper, text=phrase.text) if alike else whisper


def _alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE


def _words(text: str) -> list[str]:
    """Return the lower-case words, with numbers spelt out."""
    spelt = _NUMBER.sub(lambda found: f" {num2words(int(found[0]))} ", text.lower())
    return _WORD.findall(spelt.replace("%", " percent").replace("-", " "))
