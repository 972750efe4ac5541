"""The text of a VoXtream passage: phones after the prompt's, and the position of the voice in them.

Invariant: rows depend on the words added so far, not on how these were grouped.
"""

import torch
from torch import Tensor

from engine.codec.mimi import NOTHING
from engine.tts.phones import PhoneTable
from engine.tts.voxtream.alignment import Span
from engine.tts.voxtream.network.phones import PhoneRows, extend
from engine.tts.voxtream.prompt import PreparedPrompt
from engine.tts.voxtream.script import PhoneScript
from engine.tts.voxtream.voxtream1.config import TOKENS, Voxtream1Generation


class Voxtream1Script(PhoneScript):
    """VoXtream's text: without punctuation, so a phone's index is its sequence position."""

    def __init__(self, prompt: PreparedPrompt, table: PhoneTable, first_word: int = 0) -> None:
        super().__init__(prompt.phones, table, first_word)
        self.rows: PhoneRows = prompt.rows(
            prompt.model.config.max_look_ahead
        )  # all rows, as far as the text is known
        self._prompt = prompt
        self._ids: list[int] = []  # of the text's phones, then of silence and end mark

    def _append_phone(self, number: int) -> None:
        self._ids.append(number)

    def encode(self) -> PhoneRows:
        """Encode the phones added since the last call. Return all rows."""
        if fresh := self._ids[self.rows.length - self._prompt.phones :]:
            model = self._prompt.model
            embedded = model.phone_embeddings(torch.tensor([fresh], device=model.device))
            self.rows = extend(self.rows, embedded, model.phone, self._prompt.tables.phone)
        return self.rows

    def vector(self, span: Span) -> Tensor:
        """Return the phone vector [1, D] of a frame: the sum of its two phones' rows."""
        rows = self.encode()
        vector = rows.row(span.first) + rows.row(span.last)
        self.rows = rows.dropped_before(span.first)  # the voice never goes back
        return vector

    def said(self, span: Span) -> tuple[int, int]:
        """Return the ids of a frame's first and last phone; NOTHING for a phone of the prompt."""
        return self._id(span.first), self._id(span.last)

    def _id(self, position: int) -> int:
        own = position - self._prompt.phones
        return NOTHING if own < 0 else self._ids[own]


class Cursor:
    """The position of the voice, moved by duration tokens, and the number of frames left after the
    text.
    """

    def __init__(self, start: int, generation: Voxtream1Generation) -> None:
        self.last = start  # phone of the frame before
        self.left: int | None = None  # frames to be made; None = the end is not reached
        self._held = 0  # frames in a row that stayed
        self._generation = generation

    def advance(self, token: int, script: Voxtream1Script) -> Span:
        """Move by the token drawn with a frame. Return the phones of the frame after it."""
        step = TOKENS[token]
        self._held = self._held + 1 if step.shift == 0 else 0
        pushed = self._held > self._generation.held_frames
        start = self.last + (1 if pushed else step.shift)
        if pushed:
            self._held = 0
        if script.closed and start >= script.phone_count:
            return self._over(start - script.phone_count, script.phone_count)
        last = start + step.phones - 1
        self.last = last if script.closed else min(last, script.phone_count - 1)
        return Span(start, self.last)

    def _over(self, beyond: int, end: int) -> Span:
        """Move to the silence after the text, or to the end mark, after which one more frame
        follows.
        """
        place = end + min(beyond, 1)
        if place > end:
            self.left = 1
        elif self.left is None:
            self.left = self._generation.end_frames
        self.last = place
        return Span(place, place, ended=True)
