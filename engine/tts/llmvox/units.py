"""Words as units, of which LLMVoX reads one in each step: phones, or bytes for the published
weights.

Invariant: units depend on the words alone, never on when they came.
"""

from dataclasses import dataclass
from typing import Protocol

from engine.text.phonemes import Espeak, WordPhonemizer, split_mark
from engine.text.pronunciation.respelling import split_phones
from engine.tts.llmvox.config import WORD
from engine.tts.phones import MARKS, PhoneTable

LONGEST_WORD = 200  # bytes; longer is not a word
_STOPS = frozenset(".?!")


@dataclass(frozen=True)
class UnitWord:
    """The units of a pushed word, with WORD as the last; empty for a word without a sound.
    `closes`: the word ends a sentence.
    """

    units: tuple[int, ...]
    closes: bool


class UnitReader(Protocol):
    """Converts the words of one utterance to units."""

    def push(self, text: str) -> list[UnitWord]:
        """Add the next word. Return the words whose units are certain now, maybe none."""
        ...

    def finish(self) -> list[UnitWord]:
        """End the text. Return the word that was held back, if there is one."""
        ...


class PhoneUnits:
    """Converts words to phones and punctuation marks, once these are certain."""

    def __init__(self, espeak: Espeak, table: PhoneTable) -> None:
        self._phonemizer = WordPhonemizer(espeak)
        self._table = table

    def push(self, text: str) -> list[UnitWord]:
        """Add the next word. Return the words whose units are certain now, maybe none."""
        return [self._word(word.phones, word.mark) for word in self._phonemizer.push(text)]

    def finish(self) -> list[UnitWord]:
        """End the text. Return the word that was held back, if there is one."""
        return [self._word(word.phones, word.mark) for word in self._phonemizer.finish()]

    def _word(self, phones: tuple[str, ...], mark: str) -> UnitWord:
        ids = tuple(number for phone in phones for number in self._table.ids(phone))
        if not ids:
            return UnitWord((), mark in _STOPS)
        return UnitWord((*ids, *([MARKS[mark]] if mark else []), WORD), mark in _STOPS)


class ByteUnits:
    """Converts words to bytes, which are certain at once."""

    def push(self, text: str) -> list[UnitWord]:
        """Return the units of a word."""
        word, mark = split_mark(text)
        letters, phones = split_phones(word)
        text = text.replace(word, letters) if phones else text
        content = text.encode("utf-8", "replace")[:LONGEST_WORD] if word else b""
        return [UnitWord((*content, WORD) if content else (), mark in _STOPS)]

    def finish(self) -> list[UnitWord]:
        """Return nothing, because no word is held back."""
        return []
