"""The temporal transformer's memory of one utterance: always the prompt, and what was said last.

When the window is full the released implementation recomputes prompt and recent columns at once,
an audible stall. Here the same memory is prepared in slices over the frames before it is needed.
Invariant: the hidden state of every step equals that of rebuilding at once.
"""

from collections import deque

import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.pending import Pending
from engine.nn.transformer import RotaryTable
from engine.tts.voxtream.network.model import VoxtreamModel

SLICE = 2  # columns prepared per frame: 312 of them within the 156 frames before they are needed


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
        rotation = self._table.slice(at, at + 1)
        hidden = self._model.start(column[:, None], rotation, self._cache, None)
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
        """Give up the column that was begun, if any; returns once it is no longer computed."""
        if self._started is not None:
            self._started[1].settle()


class NextWindow:
    """The cache that follows when the window is full: the prompt and the last half window of
    columns, at new positions. Prepared column by column while the old one is still in use.
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

    def see(self, column: Tensor, length: int) -> None:
        """A column [B, D] was spoken; the window in use holds `length` columns now."""
        self._recent.append(column)
        frames_left = self._window - length
        if self._keep - self._prepared <= SLICE * frames_left:
            return
        if self._cache is None:
            self._cache = self._prompt.copy(self._columns)
        ready = self._surviving(length)[self._prepared : self._prepared + SLICE]
        if ready:
            forward(self._model, self._table, self._cache, torch.stack(ready, dim=1))

    def take(self) -> KvCache:
        """The finished cache, once the window in use is full."""
        cache = self._cache or self._prompt.copy(self._columns)
        rest = self._surviving(self._window)[cache.length - self._columns :]
        if rest:
            forward(self._model, self._table, cache, torch.stack(rest, dim=1))
        self._prompt, self._cache = cache, None
        return cache

    @property
    def _prepared(self) -> int:
        """Columns behind the prompt that the cache holds."""
        return 0 if self._cache is None else self._cache.length - self._columns

    def _surviving(self, length: int) -> list[Tensor]:
        """Of the columns the cache will hold behind the prompt, those known by now."""
        count = max(0, length - (self._window - self._keep))
        return list(self._recent)[len(self._recent) - count :]


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
