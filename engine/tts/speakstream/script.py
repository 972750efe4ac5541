"""The words of an utterance for SpeakStream: those that sound, as phones and marks, in windows of
which some words are read before they are spoken (SpeakStream, III-C, scheme 1).

    T_i = words n (i - 1) + 1 to min(t, n (i - 1) + m)      read
    A_i = speech of words n (i - 1) + 1 to min(t, n i)      spoken

A word without a sound, such as a dash, has no speech of its own. Its mark is read before the next
word that sounds, and it begins with that word.
Invariant: the text depends on the words alone, never on when they came; a window on m, n and the
end of the text.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.text.phonemes import PhonedWord, is_nucleus
from engine.tts.phones import MARKS, PhoneTable
from engine.tts.speakstream.config import BEGIN, WORD

_STOPS = frozenset(MARKS[mark] for mark in ".?!")


@dataclass(frozen=True)
class Window:
    """Words by number from 0, ends not included: `first` to `read_end` are read, `first` to
    `spoken_end` spoken.
    """

    first: int
    read_end: int
    spoken_end: int


@dataclass(frozen=True)
class Sounding:
    """A word with sound. `phones`: their number. `last`: the word's number among the pushed words.
    `first`: the number of the first silent word before it; the silent words begin together with it.
    """

    ids: tuple[int, ...]
    phones: int
    syllables: int
    first: int
    last: int

    @property
    def units(self) -> list[int]:
        """Ids that are spoken, in order; the training's `places` gives each the same positions."""
        count = len(self.ids)
        places = dict.fromkeys(n * count // self.phones for n in range(self.phones))
        return [self.ids[place] for place in places]

    @property
    def ends_sentence(self) -> bool:
        return self.ids[-1] in _STOPS


class Script:
    """Words that sound, in order."""

    def __init__(self, table: PhoneTable) -> None:
        self._table = table
        self._marks: tuple[int, ...] = ()  # of words without a sound
        self.words: list[Sounding] = []
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
            self.words.append(Sounding(spoken, phones, syllables, first, self.count))
            self._marks = ()
        self.count += 1

    def close(self) -> None:
        """The text is over."""
        self.closed = True

    @property
    def trailing(self) -> range:
        """Numbers of the words after the last one that sounds."""
        return range(self.words[-1].last + 1 if self.words else 0, self.count)


def text_ids(words: Iterable[Sounding]) -> list[int]:
    """Return the ids of a window's words, each followed by a word mark."""
    return [number for word in words for number in (*word.ids, WORD)]


def block(words: list[Sounding], part: Window, *, opening: int) -> list[int]:
    """Return the ids before a window's speech. `opening`: END after other speech, else SPEAKER."""
    return [opening, *text_ids(words[part.first : part.read_end]), BEGIN]


def window(first: int, size: int, hop: int, known: int, *, ended: bool) -> Window | None:
    """Return the window at word `first` of a text of which `known` words have come. None = more
    words are needed or, when the text has ended, all are spoken.
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
