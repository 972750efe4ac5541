"""Positions in a passage's phones at which words begin and syllables end, each reported once.

Invariant: a report depends on the phones alone, never on when their words came.
"""

from collections import deque

from engine.text.phonemes import PhonedWord, is_nucleus
from engine.tts.phones import PhoneTable


class WordPlaces:
    """Positions count the passage's phones and only rise."""

    def __init__(self, first_word: int = 0) -> None:
        """`first_word`: number of the utterance's words before the passage."""
        self.begun_words = first_word  # of the utterance, reported by begun()
        self.first_word = first_word
        self._starts: deque[int] = deque()  # of words that are not reported yet
        self._nuclei: deque[int] = deque()  # phones of syllables that are not reported yet

    def add(self, word: PhonedWord, place: int, table: PhoneTable) -> list[int]:
        """Add the next word, whose first phone is at `place`. Return the ids of its phones."""
        self._starts.append(place)
        ids: list[int] = []
        for phone in word.phones:
            numbers = table.ids(phone)
            if numbers and is_nucleus(phone):
                self._nuclei.append(place + len(ids))
            ids += numbers
        return ids

    def begun(self, place: float) -> list[tuple[int, int]]:
        """Return the number and position of each word that begins at `place` or before it, once for
        each word.
        """
        words = []
        while self._starts and self._starts[0] <= place:
            words.append((self.begun_words, self._starts.popleft()))
            self.begun_words += 1
        return words

    def word_at(self, place: int) -> int:
        """Return the number of the word at `place`; before the first word, that of the
        first word.
        """
        count = sum(start <= place for start in self._starts)
        return max(self.first_word, self.begun_words + count - 1)

    def begins_at(self, place: int) -> bool:
        """Return True if a word that is not reported yet begins at `place`."""
        return place in self._starts

    def syllables_ended(self, place: float) -> int:
        """Return the number of syllables that end before `place`, each counted once."""
        ended = 0
        while self._nuclei and self._nuclei[0] < place:
            self._nuclei.popleft()
            ended += 1
        return ended
