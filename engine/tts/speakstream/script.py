"""The words of an utterance as SpeakStream reads them: only words that sound, as phones and marks.

A pushed word without a sound, as a dash, has no speech of its own. Its mark is read before the next
word that sounds, and it begins with that word.
Invariant: what is read depends on the words alone, never on when they came.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.text.phonemes import PhonedWord, is_nucleus
from engine.tts.phones import MARKS, PhoneTable
from engine.tts.speakstream.config import BEGIN, WORD
from engine.tts.speakstream.windows import Window

_STOPS = frozenset(MARKS[mark] for mark in ".?!")


@dataclass(frozen=True)
class Sounding:
    """A word that sounds. `last` is its number among the pushed words, `first` that of the first
    silent word before it, which begins with it.
    """

    ids: tuple[int, ...]
    syllables: int
    first: int
    last: int

    @property
    def ends_sentence(self) -> bool:
        return self.ids[-1] in _STOPS


class Script:
    """The words that sound, in order."""

    def __init__(self, table: PhoneTable) -> None:
        self._table = table
        self._marks: tuple[int, ...] = ()  # of words without a sound
        self.words: list[Sounding] = []
        self.count = 0  # words ever, silent ones too

    def add(self, word: PhonedWord) -> None:
        """The next word."""
        numbers = [self._table.ids(phone) for phone in word.phones]
        mark = (MARKS[word.mark],) if word.mark else ()
        if not any(numbers):
            self._marks += mark
        else:
            ids = tuple(number for spelt in numbers for number in spelt)
            syllables = sum(is_nucleus(phone) for phone in word.phones)
            first = self.words[-1].last + 1 if self.words else 0
            self.words.append(Sounding((*self._marks, *ids, *mark), syllables, first, self.count))
            self._marks = ()
        self.count += 1

    @property
    def trailing(self) -> range:
        """Numbers of the words after the last one that sounds."""
        return range(self.words[-1].last + 1 if self.words else 0, self.count)


def text_ids(words: Iterable[Sounding]) -> list[int]:
    """Ids of a window's words, a word mark behind each."""
    return [number for word in words for number in (*word.ids, WORD)]


def block(words: list[Sounding], part: Window, *, opening: int) -> list[int]:
    """Ids before the speech of a window; `opening` is END after other speech, else SPEAKER."""
    return [opening, *text_ids(words[part.first : part.read_end]), BEGIN]
