"""Bases of the systems' sessions: with networks, and in passages of complete sentences; and the
places of words and syllables in a passage's phones.

Invariant: a passage's text and these places depend on the words, never on when they came.
"""

from abc import abstractmethod
from collections import deque
from typing import Protocol

import torch

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer, is_nucleus
from engine.text.rules.punctuation import ends_sentence
from engine.tts.base import RateRange, Step
from engine.tts.phones import PhoneTable
from engine.tts.session import ANY_RATE, Session


class PassageScript(Protocol):
    """The text of a passage, word by word."""

    def add(self, word: PhonedWord) -> None:
        """Append a word."""
        ...

    def close(self) -> None:
        """End the text of the passage."""
        ...


class NetworkSession(Session):
    """A session whose speech is made by networks."""

    @torch.inference_mode()
    def step(self) -> Step:
        return super().step()


class PassageSession(NetworkSession):
    """A session in passages of complete sentences, each starting from the prompt alone, so that the
    state of the networks stays short. A passage begins with its first word.
    """

    _script: PassageScript
    _phonemizer: WordPhonemizer

    def __init__(
        self,
        sample_rate: int,
        espeak: Espeak,
        rates: RateRange = ANY_RATE,
        rate_window: int = 0,
    ) -> None:
        super().__init__(sample_rate, rates, rate_window)
        self._espeak = espeak
        self._words_heard: list[str] = []
        self._passage_over = True  # so the next word begins another one

    @abstractmethod
    def _begin_passage(self, first_word: int) -> None:
        """Reset the state for a new passage and set `_script`. `first_word`: the number of words
        before it.
        """

    def _hear(self, word: str | None) -> None:
        if word is None:
            self._close_script()
            return
        if self._passage_over:
            self._passage_over = False
            self._phonemizer = WordPhonemizer(self._espeak)
            self._begin_passage(len(self._words_heard))
        self._words_heard.append(word)
        for each in self._phonemizer.push(word):
            self._script.add(each)

    def _read(self, *, passage_full: bool) -> bool:
        """Pass the next word to the system, or, if the passage is full and a sentence has ended,
        close its text. False when neither a word nor the end has come.
        """
        if passage_full and ends_sentence(self._words_heard[-1]):
            self._close_script()
            return True
        return self._hear_next()

    def _close_script(self) -> None:
        if self._passage_over:
            return
        for each in self._phonemizer.finish():
            self._script.add(each)
        self._script.close()

    def _return_words(self, begun: int) -> None:
        """Put the utterance's words after the first `begun` ones back into the queue."""
        while len(self._words_heard) > begun:
            self._words.appendleft(self._words_heard.pop())
            self._all_heard = False


class WordPlaces:
    """Positions in a passage's phones at which words begin and syllables end, each reported once;
    they only rise.
    """

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
