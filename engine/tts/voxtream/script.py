"""The text of a passage: phones after the prompt's, encoded as far as the text is known; and the
position of the voice in them. Duration tokens move it, and rules decide the end.

Punctuation is encoded with the phones but never spoken, so phone indices (of the alignment) and
sequence positions (of the phone transformer) differ. Phone indices count from the prompt's first
column. The rules follow the released implementation except where it fails (noted at each place).
Invariant: rows depend on the words added so far, not on how these were grouped; the cursor never
moves back, and it never ends while more text may come.
"""

import math
from collections import Counter, deque
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.codec.mimi import NOTHING
from engine.text.phonemes import PhonedWord
from engine.tts.papers.session import WordPlaces
from engine.tts.phones import PhoneTable
from engine.tts.voxtream.config import DurationToken, VoxtreamGeneration
from engine.tts.voxtream.network.frames import PreparedPrompt
from engine.tts.voxtream.network.phones import PhoneRows, extend

LAST_FRAMES: Final = 38  # 3 s; a passage in the last frames of a full window ends with a word
LAST_PHONES: Final = 2  # the end rule watches the last two phones


@dataclass(frozen=True)
class Span:
    """The phones of a frame, from `first` to `last`. `ended`: the text is over, one more frame
    follows.
    """

    first: int
    last: int
    ended: bool = False


class VoxtreamScript:
    """The phones of one passage, word by word, with punctuation, encoded with as much look-ahead as
    the known text allows. Their indices continue those of the prompt.
    """

    def __init__(self, prompt: PreparedPrompt, table: PhoneTable, first_word: int = 0) -> None:
        """`first_word`: number of the utterance's words before the passage."""
        self.phone_count = prompt.phones  # real phones, the prompt's included
        self.closed = False
        self.places = WordPlaces(first_word)
        self._prompt = prompt
        self._table = table
        self._tokens: list[int] = []  # of the text; dropped once the look-ahead is at its maximum
        self._count = 0  # all tokens of the text
        self._fresh: list[int] = []  # not yet encoded
        self._rows: PhoneRows | None = None
        self._needed = 0  # sequence position of the first row that may be needed
        self._positions: deque[int] = deque()  # of phone indices self._first..
        self._ids: deque[int] = deque()  # of the same phones
        self._first = prompt.phones

    @property
    def has_phones(self) -> bool:
        return self.phone_count > self._prompt.phones

    def add(self, word: PhonedWord) -> None:
        """Append a word and the punctuation mark after it."""
        for number in self.places.add(word, self.phone_count, self._table):
            self._append_phone(number)
            self.phone_count += 1
        if word.mark in self._table.special.marks:
            self._append(self._table.special.marks[word.mark])

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

    def rows(self) -> PhoneRows:
        """Return all rows, encoded with the look-ahead that the known text allows."""
        look_ahead, rows = self._look_ahead(), self._rows
        if rows is None or rows.look_ahead != look_ahead:
            rows = self._prompt.rows(look_ahead).dropped_before(self._needed)
            self._fresh = self._tokens.copy()
        if self._fresh:
            model = self._prompt.model
            # An unconditional row has unknown phones.
            ids = [self._fresh, [self._table.special.unknown] * len(self._fresh)]
            fresh = torch.tensor(ids[: len(self._prompt.tokens)], device=model.device)
            embedded = model.phone_embeddings(fresh)
            rows = extend(rows, embedded, model.phone)
            self._fresh = []
        if look_ahead == self._prompt.model.config.max_look_ahead:
            self._tokens = []
        self._rows = rows
        return rows

    def _look_ahead(self) -> int:
        most = self._prompt.model.config.max_look_ahead
        return min(self._count // most, most - 1) + 1

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


class AlignmentCursor:
    """A cursor on the last phone of the previous frame."""

    def __init__(
        self, start: int, tokens: tuple[DurationToken, ...], generation: VoxtreamGeneration
    ) -> None:
        self.last = start
        self._tokens = tokens
        self._generation = generation
        self._visits: Counter[tuple[int, int]] = Counter()
        self._first = start  # phone at the start of the last frame
        self._frames = 0  # that start with this phone

    def advance(self, token: int, total: int, *, closed: bool, inside_word: bool = False) -> Span:
        """Move by a duration token. `total`: known phones; `closed`: no more will come;
        `inside_word`: the current phone is not the last of its word.

        When closed, index `total` is the silence behind the text and `total` + 1 its end mark.
        """
        step = self._tokens[token]
        start = self.last + step.shift
        if inside_word and start == self._first:
            start += self._frames >= self._generation.frames_in_word
        # The released rule pushes once, into any state, and compares the visits near the end with
        # ==. So a state with more visits from before the end was known stays for 2 s. Here a state
        # with too many visits is never entered.
        while self._worn((start, start + step.phones), total, closed=closed):
            start += 1
        self._visits[(start, start + step.phones)] += 1
        span = Span(start, start + step.phones - 1)
        if closed and start >= total:
            end = min(start, total + 1)
            span = Span(end, end, ended=True)
        self._frames = self._frames + 1 if span.first == self._first else 1
        self._first, self.last = span.first, span.last
        return span

    def _worn(self, state: tuple[int, int], total: int, *, closed: bool) -> bool:
        visits = self._visits[state]
        # While text may still come, the last known phones are not the end (in the released rule
        # they are).
        if closed and state[0] >= total:
            return False
        at_end = closed and state[0] >= total - LAST_PHONES
        if at_end and visits >= self._generation.repeats_at_end:
            return True
        return visits > self._generation.repeats_before_push
