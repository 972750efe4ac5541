"""Bases of the systems' sessions: with networks, and in passages of complete sentences.

Invariant: a passage's text depends on the words, never on when they came.
"""

from abc import abstractmethod
from typing import Protocol

import torch

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer
from engine.text.rules.punctuation import ends_sentence
from engine.tts.base import RateRange, Step
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
