"""Whisper, with the built-in recogniser beside it for a quick first look at short commands.

Invariant: the screen shows one recogniser's text of an utterance. The quick one's words are shown
only where the other has shown none, or words that sound the same; until then they only help to
decide.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from num2words import num2words

from engine.asr.base import SAMPLE_RATE, RecogniserInfo, Transcript
from engine.asr.sphinx.recogniser import SphinxRecogniser, SphinxRecognition
from engine.asr.whisper.recogniser import WhisperRecogniser, WhisperRecognition
from engine.audio.pcm import Pcm
from engine.settings import RecogniserSettings

ENGLISH = ("", "en")
QUICK_SAMPLES = 5 * SAMPLE_RATE  # few skills' sentences are longer
FIRST_SAMPLES = 3 * SAMPLE_RATE // 2  # a look of Whisper's would only delay a shorter utterance
# Least share of letters in common of sentences that may be the same: "what man is that" and "what
# month is it" have 0.69, an open question and what the skills' model makes of it up to 0.33.
ALIKE = 0.65
_WORD = re.compile(r"[a-z']+")
_NUMBER = re.compile(r"\d{1,9}")


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

    def peek(self) -> str:
        """What the quick one hears, as long as it listens."""
        return self._quick.peek() if self._quick else self._careful.peek()

    def partial(self) -> str:
        """Whisper's text so far."""
        return self._careful.partial() if self._samples >= FIRST_SAMPLES else ""

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        """A command that the quick one is sure of, else what Whisper hears."""
        command = self._quick.command(wanted) if self._quick else None
        return self._agreed(command) or self._expected(self._careful.interim(wanted), wanted)

    def overlapping(self) -> Transcript:
        """A halt, a nod or a command of which the quick one is sure, else what Whisper hears."""
        interjection = self._quick.interjection() if self._quick else None
        command = interjection or (self._quick.command(lambda: True) if self._quick else None)
        return self._agreed(command) or self._careful.overlapping()

    def finish(self) -> Transcript:
        """As interim(); RecogniserError when a model fails."""
        transcript = self.interim(lambda: True)
        assert transcript is not None, "wanted to the end"
        self.close()
        return transcript

    def close(self) -> None:
        self._careful.close()
        if self._quick is not None:
            self._quick.close()

    def _agreed(self, command: Transcript | None) -> Transcript | None:
        """The command, unless something else was on screen."""
        shown = self._careful.peek()
        if command is None or (shown and _words(shown) != _words(command.text)):
            return None
        return command

    def _expected(
        self, careful: Transcript | None, wanted: Callable[[], bool]
    ) -> Transcript | None:
        """What Whisper heard; where that is no sentence of a skill, and the quick one heard one
        that sounds the same, that one.
        """
        if careful is None or self._quick is None or careful.language not in ENGLISH:
            return careful
        words = _words(careful.text)
        if self._quick.expects(words) or not _begins_alike(words, _words(self._quick.peek())):
            return careful
        phrase = self._quick.phrase(wanted)
        if phrase is None:
            return None
        phrase_words = _words(phrase.text)
        alike = self._quick.expects(phrase_words) and _alike("".join(words), "".join(phrase_words))
        return replace(careful, text=phrase.text) if alike else careful


def _begins_alike(words: Sequence[str], beginning: Sequence[str]) -> bool:
    """Whether the first half of `words`, or more, sounds the same."""
    whole, start = "".join(words), "".join(beginning)
    return 2 * len(start) >= len(whole) and _alike(whole[: len(start)], start)


def _alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE


def _words(text: str) -> list[str]:
    """Lower-case words, figures in words."""
    spelt = _NUMBER.sub(lambda found: f" {num2words(int(found[0]))} ", text.lower())
    return _WORD.findall(spelt.replace("%", " percent").replace("-", " "))
