"""What a passage has to say: phones with the marks behind them, word by word.

Invariant: units depend on the words added so far, not on how they were grouped.
"""

from engine.text.phonemes import PhonedWord, is_nucleus
from engine.tts.phones import PhoneTable
from engine.tts.smlle.config import MARKS, Shape
from engine.tts.smlle.transducer import Unit


class Script:
    """Units of one passage, `begin` first and, once closed, `end` last."""

    def __init__(self, shape: Shape, table: PhoneTable, first_word: int) -> None:
        """`first_word`: how many words of the utterance came before."""
        self._shape = shape
        self._table = table
        self.units = [Unit(shape.begin)]
        self.closed = False
        self._first_word = first_word
        self._starts: list[int] = []  # first unit of each word
        self._begun = 0  # words that words_begun() has given
        self._nuclei: list[int] = []  # units that carry a syllable
        self._ended = 0  # syllables that syllables_ended() has given

    @property
    def next_word(self) -> int:
        """Number of the first word after this passage."""
        return self._first_word + len(self._starts)

    def add(self, word: PhonedWord) -> None:
        """The next word. A mark is read together with the phone before it, never alone."""
        first = len(self.units)
        self._starts.append(first)
        for phone in word.phones:
            numbers = self._table.ids(phone)
            if numbers and is_nucleus(phone):
                self._nuclei.append(len(self.units))
            self.units += map(Unit, numbers)
        if word.mark and len(self.units) > first:
            self.units[-1] = Unit(self.units[-1].phone, MARKS[word.mark])

    def close(self) -> None:
        """The passage's text is over."""
        self.closed = True
        self.units.append(Unit(self._shape.end))

    def is_end(self, place: int) -> bool:
        """Whether no unit can follow this one."""
        return self.closed and place == len(self.units) - 1

    def word_at(self, place: int) -> int:
        """Number of the word a unit belongs to; before the first word begins, that word's."""
        words = sum(start <= place for start in self._starts)
        return self._first_word + max(0, words - 1)

    def words_begun(self, place: int) -> list[int]:
        """Words that begin when this unit gets a token, each once: a word without a token begins
        where the next one does.
        """
        first = self._begun
        while self._begun < len(self._starts) and self._starts[self._begun] <= place:
            self._begun += 1
        return [self._first_word + number for number in range(first, self._begun)]

    def words_left(self) -> list[int]:
        """Words that words_begun() has not given, each once."""
        return self.words_begun(len(self.units))

    def syllables_ended(self, place: int) -> int:
        """How many syllables have ended when this unit speaks, each counted once."""
        first = self._ended
        while self._ended < len(self._nuclei) and self._nuclei[self._ended] < place:
            self._ended += 1
        return self._ended - first
