"""The words of an utterance for SpeakStream: those with a sound, as phones and marks, in windows.
The words of a window are read; its first ones are then spoken (SpeakStream, III-C, scheme 1).

    T_i = words n (i - 1) + 1 to min(t, n (i - 1) + m)      read
    A_i = speech of words n (i - 1) + 1 to min(t, n i)      spoken

A word without a sound, such as a dash, has no speech of its own. Its mark is read before the next
word that sounds, and it begins with that word. Invariant: the text depends on the words alone,
never on when they came; a window depends on m, n and the end of the text.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.text.phonemes import PhonedWord, is_nucleus
from engine.tts.phones import MARKS, PhoneTable
from engine.tts.speakstream.model import BEGIN, WORD

_STOPS = frozenset(MARKS[mark] for mark in ".?!")


@dataclass(frozen=True)
class Window:
    """Numbers of words, from 0, ends not included: the words from `first` to `read_end` are read,
    those to `spoken_end` are spoken.
    """

    first: int
    read_end: int
    spoken_end: int


@dataclass(frozen=True)
class AudibleWord:
    """A word with a sound. `ids`: its phones and marks, with those of silent words before it.
    `phones`: the number of its phones. `first` and `last`: numbers of the first silent word before
    it, which begins together with it, and of the word itself.
    """

    ids: tuple[int, ...]
    phones: int
    syllables: int
    first: int
    last: int

    @property
    def units(self) -> list[int]:
        """The ids that are spoken, in order: an id for each phone, as the training's places() gives
        them.
        """
        count = len(self.ids)
        places = dict.fromkeys(n * count // self.phones for n in range(self.phones))
        return [self.ids[place] for place in places]

    @property
    def ends_sentence(self) -> bool:
        return self.ids[-1] in _STOPS


class SpeakStreamScript:
    """The words with a sound, in order."""

    def __init__(self, table: PhoneTable) -> None:
        self._table = table
        self._marks: tuple[int, ...] = ()  # of words without a sound
        self.words: list[AudibleWord] = []
        self.count = 0  # words ever, silent ones too
        self.closed = False

    def add(self, word: PhonedWord) -> None:
        """Append a word."""
        numbers = [self._table.ids(phone) for phone in word.phones]
        mark = (MARKS[word.mark],) if word.mark else ()
        if not any(numbers):
            self._marks += mark
        else:
            ids = tuple(number for spelt in numbers for number in spelt)
            syllables = sum(is_nucleus(phone) for phone in word.phones)
            first = self.words[-1].last + 1 if self.words else 0
            spoken = (*self._marks, *ids, *mark)
            phones = len(word.phones)
            self.words.append(AudibleWord(spoken, phones, syllables, first, self.count))
            self._marks = ()
        self.count += 1

    def close(self) -> None:
        """End the text."""
        self.closed = True

    @property
    def trailing(self) -> range:
        """Numbers of the words after the last one that sounds."""
        return range(self.words[-1].last + 1 if self.words else 0, self.count)


def text_ids(words: Iterable[AudibleWord]) -> list[int]:
    """Return the ids of a window's words, each followed by a word mark."""
    return [number for word in words for number in (*word.ids, WORD)]


def block(words: list[AudibleWord], part: Window, *, opening: int) -> list[int]:
    """Return the ids before a window's speech. `opening`: END after other speech, SPEAKER at the
    beginning.
    """
    return [opening, *text_ids(words[part.first : part.read_end]), BEGIN]


def window(first: int, size: int, hop: int, known: int, *, ended: bool) -> Window | None:
    """Return the window that begins at word `first`, when `known` words have come. None = more
    words are needed or, if the text has `ended`, all words are spoken.
    """
    if first + size > known and not (ended and first < known):
        return None
    return Window(first, min(known, first + size), min(known, first + hop))


def windows(words: int, size: int, hop: int) -> list[Window]:
    """Return all windows of a complete text."""
    parts = []
    first = 0
    while (each := window(first, size, hop, words, ended=True)) is not None:
        parts.append(each)
        first = each.spoken_end
    return parts
