"""The text of a passage: phones after the prompt's, encoded as far as the text is known.

Punctuation is encoded with the phones but never spoken, so phone indices (of the alignment) and
sequence positions (of the phone transformer) differ. Invariant: rows depend on the words added so
far, not on how these were grouped.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from typing import Final

import torch
from torch import Tensor

from engine.codec.mimi import NOTHING
from engine.text.phonemes import PhonedWord
from engine.tts.papers.word_places import WordPlaces
from engine.tts.phones import PhoneTable
from engine.tts.voxtream.alignment import Span
from engine.tts.voxtream.network.phones import PhoneRows, extend
from engine.tts.voxtream.prompt import PreparedPrompt

LAST_FRAMES: Final = 38  # 3 s; a passage in the last frames of a full window ends with a word


class PhoneScript(ABC):
    """The phones of one passage, word by word. Their indices continue those of the prompt."""

    def __init__(self, prompt_phones: int, table: PhoneTable, first_word: int) -> None:
        """`first_word`: number of the utterance's words before the passage."""
        self.phone_count = prompt_phones  # real phones, the prompt's included
        self.closed = False
        self.places = WordPlaces(first_word)
        self._prompt_phones = prompt_phones
        self._table = table

    @abstractmethod
    def _append_phone(self, number: int) -> None:
        """Append the id of a phone, of silence or of the end mark."""

    @property
    def has_phones(self) -> bool:
        return self.phone_count > self._prompt_phones

    def add(self, word: PhonedWord) -> None:
        """Append a word."""
        for number in self.places.add(word, self.phone_count, self._table):
            self._append_phone(number)
            self.phone_count += 1

    def close(self) -> None:
        """End the text: append silence and the end mark."""
        self.closed = True
        self._append_phone(self._table.special.silence)
        self._append_phone(self._table.special.eos)

    def words_begun(self, span: Span) -> list[tuple[int, bool]]:
        """Return the words that begin in a frame, each reported once: number, and True if in the
        second half.
        """
        begun = self.places.begun(math.inf if span.ended else span.last)
        return [(word, span.first < start == span.last) for word, start in begun]

    def is_cut(self, before: Span, span: Span, left: int) -> bool:
        """Return True if the passage must end between these two frames, because the temporal
        transformer's window has room for only `left` more. If possible it ends between words.
        """
        if left > LAST_FRAMES:
            return False
        return left <= 0 or self.places.word_at(span.first) > self.places.word_at(before.last)

    def syllables_ended(self, span: Span) -> int:
        """Return the number of syllables that end before a frame, each counted once."""
        return self.places.syllables_ended(math.inf if span.ended else span.first)


class VoxtreamScript(PhoneScript):
    """VoXtream2's text: with punctuation, encoded with as much look-ahead as the known
    text allows.
    """

    def __init__(self, prompt: PreparedPrompt, table: PhoneTable, first_word: int = 0) -> None:
        super().__init__(prompt.phones, table, first_word)
        self._prompt = prompt
        self._tokens: list[int] = []  # of the text; dropped once the look-ahead is at its maximum
        self._count = 0  # all tokens of the text
        self._fresh: list[int] = []  # not yet encoded
        self._rows: PhoneRows | None = None
        self._needed = 0  # sequence position of the first row that may be needed
        self._positions: deque[int] = deque()  # of phone indices self._first..
        self._ids: deque[int] = deque()  # of the same phones
        self._first = prompt.phones

    def add(self, word: PhonedWord) -> None:
        """Append a word and the punctuation mark after it."""
        super().add(word)
        if word.mark in self._table.special.marks:
            self._append(self._table.special.marks[word.mark])

    def rows(self) -> PhoneRows:
        """Return all rows, encoded with the look-ahead that the known text allows."""
        config = self._prompt.model.config
        look_ahead = min(self._count // config.max_look_ahead, config.max_look_ahead - 1) + 1
        rows = self._rows
        if rows is None or rows.look_ahead != look_ahead:
            rows = self._prompt.rows(look_ahead).dropped_before(self._needed)
            self._fresh = self._tokens.copy()
        if self._fresh:
            model = self._prompt.model
            # The unconditional row has unknown phones.
            ids = [self._fresh, [self._table.special.unknown] * len(self._fresh)]
            embedded = model.phone_embeddings(torch.tensor(ids, device=model.device))
            rows = extend(rows, embedded, model.phone, self._prompt.tables.phone)
            self._fresh = []
        if look_ahead == config.max_look_ahead:
            self._tokens = []
        self._rows = rows
        return rows

    def vector(self, span: Span) -> Tensor:
        """Return the phone vector [B, D] of a frame: the sum of its two phones' rows."""
        rows = self.rows()
        return rows.row(self._position(span.first)) + rows.row(self._position(span.last))

    def said(self, span: Span) -> tuple[int, int]:
        """Return the ids of a frame's first and last phone; NOTHING for a phone of the prompt."""
        return self._id(span.first), self._id(span.last)

    def forget_before(self, phone: int) -> None:
        """Drop the phones before this index, because they are spoken.

        The voice may stay on the prompt's last phone, so rows are kept until it leaves that.
        """
        while self._first < phone and self._positions:
            self._positions.popleft()
            self._ids.popleft()
            self._first += 1
        if self._rows is not None and self._positions and phone >= self._prompt.phones:
            self._needed = self._positions[0]
            self._rows = self._rows.dropped_before(self._needed)

    def is_inside_word(self, phone: int) -> bool:
        """Return True if the phone's word continues after it; False for a phone of the prompt."""
        following = phone + 1
        if phone < self._prompt.phones or (self.closed and following >= self.phone_count):
            return False
        return not self.places.begins_at(following)

    def _position(self, phone: int) -> int:
        if phone < self._prompt.phones:
            return phone
        return self._positions[phone - self._first]

    def _id(self, phone: int) -> int:
        return NOTHING if phone < self._prompt.phones else self._ids[phone - self._first]

    def _append_phone(self, number: int) -> None:
        self._ids.append(number)
        self._positions.append(self._prompt.phones + self._count)
        self._append(number)

    def _append(self, number: int) -> None:
        self._tokens.append(number)
        self._fresh.append(number)
        self._count += 1
