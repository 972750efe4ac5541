"""What a passage has to say: phones with the marks behind them, word by word.

Invariant: units depend on the words added so far, not on how they were grouped.
"""

from engine.text.phonemes import PhonedWord
from engine.tts.phones import PhoneTable
from engine.tts.smlle.config import MARKS, Shape
from engine.tts.smlle.transducer import Unit
from engine.tts.system.word_places import WordPlaces


class Script:
    """Units of one passage, `begin` first and, once closed, `end` last."""

    def __init__(self, shape: Shape, table: PhoneTable, first_word: int) -> None:
        """`first_word`: how many words of the utterance came before."""
        self._shape = shape
        self._table = table
        self.units = [Unit(shape.begin)]
        self.places = WordPlaces(first_word)
        self.closed = False

    def add(self, word: PhonedWord) -> None:
        """The next word. A mark is read together with the phone before it, never alone."""
        units = [Unit(number) for number in self.places.add(word, len(self.units), self._table)]
        if word.mark and units:
            units[-1] = Unit(units[-1].phone, MARKS[word.mark])
        self.units += units

    def close(self) -> None:
        """The passage's text is over."""
        self.closed = True
        self.units.append(Unit(self._shape.end))

    def is_end(self, place: int) -> bool:
        """Whether no unit can follow this one."""
        return self.closed and place == len(self.units) - 1
