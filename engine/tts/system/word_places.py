"""Where words begin and syllables end among a passage's phones, each reported once.

Invariant: what is reported depends on the phones alone, never on when their words came.
"""

from collections import deque

from engine.text.phonemes import PhonedWord, is_nucleus
from engine.tts.phones import PhoneTable


class WordPlaces:
    """Places count phones, in rising order."""

    def __init__(self, first_word: int = 0) -> None:
        """`first_word`: how many words of the utterance came before the passage."""
        self.begun_words = first_word  # of the utterance, that begun() has given
        self.first_word = first_word
        self._starts: deque[int] = deque()  # where each word begins that has not begun yet
        self._nuclei: deque[int] = deque()  # phones that carry a syllable that has not ended yet

    def add(self, word: PhonedWord, place: int, table: PhoneTable) -> list[int]:
        """Note the next word, whose first phone lies at `place`; the ids of its phones."""
        self._starts.append(place)
        ids: list[int] = []
        for phone in word.phones:
            numbers = table.ids(phone)
            if numbers and is_nucleus(phone):
                self._nuclei.append(place + len(ids))
            ids += numbers
        return ids

    def begun(self, place: float) -> list[tuple[int, int]]:
        """Number and place of the words that begin at `place` or before it."""
        words = []
        while self._starts and self._starts[0] <= place:
            words.append((self.begun_words, self._starts.popleft()))
            self.begun_words += 1
        return words

    def word_at(self, place: int) -> int:
        """Number of the last word that has begun at `place`; before the first one, that one's."""
        count = sum(start <= place for start in self._starts)
        return max(self.first_word, self.begun_words + count - 1)

    def begins_at(self, place: int) -> bool:
        """Whether a word that has not begun yet begins there."""
        return place in self._starts

    def syllables_ended(self, place: float) -> int:
        """How many syllables lie before `place`."""
        ended = 0
        while self._nuclei and self._nuclei[0] < place:
            self._nuclei.popleft()
            ended += 1
        return ended
