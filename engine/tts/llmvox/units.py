"""The text of LLMVoX: words as units, of which it reads one in each step (phones, or bytes for the
published weights), and the position of a sentence's speech in its text (ours).

Invariant: units depend on the words alone, never on when they came; the restriction of the tokens
depends only on the units read and the tokens spoken before.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer, split_mark
from engine.text.pronunciation.respelling import split_phones
from engine.tts.llmvox.model import TEXT_END, WORD
from engine.tts.papers.spectrum import SpectrumShape
from engine.tts.phones import MARKS, PhoneTable

LONGEST_WORD = 200  # bytes; longer is not a word
_STOPS = frozenset(".?!")
_AHEAD: Final = 2  # phones: a short one may have no token
_LEAST: Final = 1e-9  # least probability of an allowed token
_LONGEST: Final = 10  # tokens of a phone, 0.4 s; then the next is due
_LONGEST_PAUSE: Final = 20  # of a phone before a mark, with the pause


@dataclass(frozen=True)
class UnitWord:
    """The units of a pushed word, with WORD as the last; empty for a word without a sound.
    `closes`: the word ends a sentence.
    """

    units: tuple[int, ...]
    closes: bool


class PhoneUnits:
    """Converts words to phones and punctuation marks, once these are certain."""

    def __init__(self, espeak: Espeak, table: PhoneTable) -> None:
        self._phonemizer = WordPhonemizer(espeak)
        self._table = table

    def push(self, text: str) -> list[UnitWord]:
        """Add the next word. Return the words whose units are certain now, maybe none."""
        return [self._word(word) for word in self._phonemizer.push(text)]

    def finish(self) -> list[UnitWord]:
        """End the text. Return the word that was held back, if there is one."""
        return [self._word(word) for word in self._phonemizer.finish()]

    def _word(self, word: PhonedWord) -> UnitWord:
        ids = [number for phone in word.phones for number in self._table.ids(phone)]
        mark = [MARKS[word.mark]] if word.mark else []
        return UnitWord((*ids, *mark, WORD) if ids else (), word.mark in _STOPS)


class ByteUnits:
    """Converts words to bytes, which are certain at once."""

    def __init__(self, longest: int) -> None:
        """`longest`: bytes of a sentence. The word that exceeds them ends the sentence."""
        self._longest = longest
        self._length = 0  # of the sentence

    def push(self, text: str) -> list[UnitWord]:
        """Return the units of a word."""
        word, mark = split_mark(text)
        letters, phones = split_phones(word)
        text = text.replace(word, letters) if phones else text
        content = text.encode("utf-8", "replace")[:LONGEST_WORD] if word else b""
        units = (*content, WORD) if content else ()
        self._length += len(units)
        closes = mark in _STOPS or self._length > self._longest
        if closes:
            self._length = 0
        return [UnitWord(units, closes)]

    def finish(self) -> list[UnitWord]:
        """Return nothing, because no word is held back."""
        return []


class TextCursor:
    """The position of one sentence's speech in its text. The network itself has to find the unit to
    speak (3.3), and a small one loses its place: it repeats a phone for seconds, or continues with
    other words. Every token belongs to a phone. So the choice of tokens is restricted to those of
    the phone that sounds and of the next two.
    """

    def __init__(self, shape: SpectrumShape) -> None:
        self._shape = shape
        self._phones = [shape.begin]  # of the units read
        self._pauses: set[int] = set()  # places of those before a mark
        self._firsts: list[int] = []  # places of words' first phones
        self._word_over = True  # the next phone is a word's first
        self._at = 0
        self._said = 0  # tokens of this phone

    def read(self, unit: int) -> None:
        """Append a unit."""
        if unit < self._shape.begin:
            self._firsts += [len(self._phones)] * self._word_over
            self._word_over = False
            self._phones.append(unit)
        elif unit < WORD:
            self._pauses.add(len(self._phones) - 1)
        elif unit == WORD:
            self._word_over = True
        elif unit == TEXT_END:
            self._phones.append(self._shape.end)

    def say(self, token: int) -> int:
        """Move to the phone of an allowed token. Return the number of words that begin with it."""
        before = self._at
        self._at = self._phones.index(self._shape.phone_of(token), before + self._is_over)
        self._said = 1 if self._at > before else self._said + 1
        return sum(before < first <= self._at for first in self._firsts)

    @property
    def _is_over(self) -> bool:
        """True if the current phone has its maximum of tokens and another phone follows."""
        longest = _LONGEST_PAUSE if self._at in self._pauses else _LONGEST
        return self._said >= longest and self._at + 1 < len(self._phones)

    def restrict(self, logits: Tensor) -> Tensor:
        """Return logits [tokens + 1] restricted to the next phones. The probability of all other
        phones moves to the next phone, because it means that the current one is over.
        """
        shape, at = self._shape, self._at
        chances = logits.softmax(-1)
        tokens, end = chances[:-1].view(shape.phones, -1), chances[-1:]
        held = torch.zeros_like(tokens)
        now, *following = self._phones[at : at + 1 + _AHEAD]
        for phone in following[1:]:
            held[phone] = tokens[phone]
        if not self._is_over:
            held[now] = tokens[now].clamp(min=_LEAST)
        if following:
            after = tokens[following[0]].clamp(min=_LEAST)
            after = after * (1 - held.sum() - end) / after.sum()
            held[following[0]] += after.clamp(min=_LEAST)
        if self._phones[-1] != shape.end or at + 2 < len(self._phones):
            end = torch.zeros(1)
        return torch.cat((held.flatten(), end)).clamp(min=0).log()
