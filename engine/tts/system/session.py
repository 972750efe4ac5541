"""The bases of the systems' sessions: with networks, and in passages of whole sentences.

Invariant: a passage's text depends on the words, never on when they came.
"""

from abc import abstractmethod
from typing import Protocol

import torch

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer
from engine.text.rules.punctuation import ends_sentence
from engine.tts.base import RateRange, Step
from engine.tts.session import ANY_RATE, Session


class Script(Protocol):
    """The text of a passage, word by word."""

    def add(self, word: PhonedWord) -> None:
        """Append a word."""
        ...

    def close(self) -> None:
        """The text of the passage is over."""
        ...


class NetworkSession(Session):
    """A session whose speech networks make."""

    @torch.inference_mode()
    def step(self) -> Step:
        return super().step()


class PassageSession(NetworkSession):
    """A session in passages of whole sentences, each from the prompt alone. A passage begins with
    its first word.
    """

    _script: Script
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
        """Reset the state of a passage and set `_script`; `first_word` words came before it."""

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
        """Hear the next word, but close a full passage behind a sentence. False when neither word
        nor end has come.
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
        """Queue the words behind the first `begun` ones of the utterance again."""
        while len(self._words_heard) > begun:
            self._words.appendleft(self._words_heard.pop())
            self._all_heard = False
