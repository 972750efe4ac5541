"""The temporal transformer's memory of one utterance: always the prompt, and what was said last.

When the window is full the released implementation recomputes prompt and recent columns at once,
an audible stall. Here the same memory is prepared in batches beside the frames before it is needed:
a batch reads the weights once for all its columns, and has a thread of its own where there is one.
Invariant: the hidden state of every step equals that of rebuilding at once, and which columns are
computed together does not depend on how long anything takes.
"""

from collections import deque
from typing import Final

import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.pending import Pending
from engine.nn.transformer import RotaryTable
from engine.tts.voxtream.network.model import VoxtreamModel

BATCH: Final = 32  # columns; int8 takes 0.3 s for them on one core, in which 2.6 s are spoken
# What a last batch lacks is prepared so many frames before the window is full; one column is left
# for the frame that needs all.
LAST_BATCHES: Final = (6, 1)


class TemporalMemory:
    """Owns the caches of one utterance; `prompt` becomes its own."""

    def __init__(
        self, model: VoxtreamModel, table: RotaryTable, prompt: KvCache, window: int
    ) -> None:
        self._model = model
        self._table = table
        self._window = window
        self._cache = prompt
        self._next = NextWindow(model, table, prompt, window)
        self._started: tuple[Tensor, Pending[Tensor]] | None = None  # a column and its hidden

    @property
    def length(self) -> int:
        """Columns attention can see now."""
        return self._cache.length

    def start(self, column: Tensor) -> None:
        """Begin on the next column [B, D]; finish() or settle() follows."""
        if self._cache.length >= self._window:
            self._cache = self._next.take()
        at = self._cache.length
        arguments = (column[:, None], self._table.slice(at, at + 1), self._cache, None)
        if self._next.is_busy:  # behind the batch it would wait for all of it
            hidden = Pending(lambda: self._model.advance(*arguments))
        else:
            hidden = self._model.start(*arguments)
        self._started = (column, hidden)

    def finish(self) -> Tensor:
        """Hidden [B, D] of the column begun on."""
        assert self._started is not None, "start() comes first"
        column, pending = self._started
        hidden = pending.wait()
        self._started = None
        self._cache.advance(1)
        self._next.see(column, self._cache.length)
        return hidden

    def settle(self) -> None:
        """Give up what was begun, if anything; returns once nothing is computed any more."""
        if self._started is not None:
            self._started[1].settle()
        self._next.give_up()


class NextWindow:
    """The cache that follows when the window is full: the prompt and the last half window of
    columns, at new positions. Prepared beside the frames while the old one is still in use.
    """

    def __init__(
        self, model: VoxtreamModel, table: RotaryTable, prompt: KvCache, window: int
    ) -> None:
        self._model = model
        self._table = table
        self._prompt = prompt  # any cache that begins with the prompt
        self._columns = prompt.length
        self._window = window
        self._keep = min(window // 2, max(0, window - prompt.length - 1))
        self._recent: deque[Tensor] = deque(maxlen=self._keep)
        self._cache: KvCache | None = None
        self._batch: Pending[None] | None = None  # what is being added to that cache

    @property
    def is_busy(self) -> bool:
        """Whether the temporal transformer's second thread is taken."""
        return self._batch is not None and not self._batch.done()

    def see(self, column: Tensor, length: int) -> None:
        """A column [B, D] was spoken; the window in use holds `length` columns now."""
        self._recent.append(column)
        if self._window - length in LAST_BATCHES:
            self._catch_up(length)
            self._begin(self._unprepared(length))
        elif not self.is_busy:
            self._settle()
            known = self._unprepared(length)
            if len(known) >= BATCH:
                self._begin(known[:BATCH])

    def take(self) -> KvCache:
        """The finished cache, once the window in use is full."""
        self._catch_up(self._window)
        self._begin(self._unprepared(self._window))
        self._settle()
        cache = self._cache or self._prompt.copy(self._columns)
        self._prompt, self._cache = cache, None
        return cache

    def give_up(self) -> None:
        """Nothing is computed any more when this returns."""
        if self._batch is not None:
            self._batch.settle()
            self._batch = None

    def _unprepared(self, length: int) -> list[Tensor]:
        """Of the columns the cache will hold, those known by now that it does not hold yet."""
        surviving = max(0, length - (self._window - self._keep))
        held = 0 if self._cache is None else self._cache.length - self._columns
        return list(self._recent)[len(self._recent) - surviving + held :]

    def _catch_up(self, length: int) -> None:
        """Finish the whole batches that a slow machine did not."""
        self._settle()
        while len(known := self._unprepared(length)) >= BATCH:
            self._begin(known[:BATCH])
            self._settle()

    def _begin(self, columns: list[Tensor]) -> None:
        if not columns:
            return
        if self._cache is None:
            self._cache = self._prompt.copy(self._columns)
        cache, start, count = self._cache, self._cache.length, len(columns)
        mask = causal_mask(start, count, columns[0].device) if count > 1 else None
        rotation = self._table.slice(start, start + count)
        batch = self._model.start(torch.stack(columns, dim=1), rotation, cache, mask)
        self._batch = batch.then(lambda _: cache.advance(count))

    def _settle(self) -> None:
        if self._batch is not None:
            self._batch.wait()
            self._batch = None


def forward(model: VoxtreamModel, table: RotaryTable, cache: KvCache, columns: Tensor) -> Tensor:
    """Columns [B, T, D] behind the cache's; hidden of the last one [B, D]."""
    start, length = cache.length, columns.shape[1]
    mask = causal_mask(start, length, columns.device) if length > 1 else None
    hidden = model.advance(columns, table.slice(start, start + length), cache, mask)
    cache.advance(length)
    return hidden


def causal_mask(start: int, length: int, device: torch.device) -> Tensor:
    """[T, start + T], True up to each new position."""
    return torch.ones(length, start + length, dtype=torch.bool, device=device).tril(start)
