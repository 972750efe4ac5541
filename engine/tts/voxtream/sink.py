"""The temporal transformer's memory of one utterance: always the prompt, and what was said last.

When the window is full the released implementation recomputes prompt and recent columns at once,
an audible stall. Here the same memory is prepared in a few batches beside the frames before it is
needed: a batch reads the weights once for all its columns.
Invariant: the hidden state of every step equals that of rebuilding at once, and which columns are
computed together depends on the number of frames alone.
"""

from collections import deque
from functools import partial
from typing import Final

import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.pending import Pending, on_a_thread
from engine.nn.transformer import RotaryTable
from engine.tts.voxtream.network.model import VoxtreamModel

# So many frames before the window is full, what is known of the next one is prepared: 312 columns
# in batches of 216, 72, 18 and 5, and one at the end. On one core int8 takes 8 ms for a column, a
# third of the time that the frames of its batch last.
LEADS: Final = (96, 24, 6, 1)
PIECE: Final = 32  # columns; between two of them a batch can be given up


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
        self._given_up = False

    def see(self, column: Tensor, length: int) -> None:
        """A column [B, D] was spoken; the window in use holds `length` columns now."""
        self._recent.append(column)
        frames_left = self._window - length
        if frames_left in LEADS or (self._cache is None and frames_left < max(LEADS)):
            self._prepare(length, apart=column.device.type == "cpu")

    def take(self) -> KvCache:
        """The finished cache, once the window in use is full."""
        self._prepare(self._window, apart=False)
        cache = self._cache or self._prompt.copy(self._columns)
        self._prompt, self._cache = cache, None
        return cache

    def give_up(self) -> None:
        """Nothing is computed any more when this returns."""
        self._given_up = True
        if self._batch is not None:
            self._batch.settle()
            self._batch = None

    def _prepare(self, length: int, *, apart: bool) -> None:
        """Add all that is known of the columns the cache will hold and that it does not hold yet.
        `apart`: by a thread of its own; what is queued on a card runs beside the caller anyway.
        """
        self._settle()
        surviving = max(0, length - (self._window - self._keep))
        if not surviving:
            return
        if self._cache is None:
            self._cache = self._prompt.copy(self._columns)
        held = self._cache.length - self._columns
        columns = list(self._recent)[len(self._recent) - surviving + held :]
        if not columns:
            return
        mode = torch.is_inference_mode_enabled()  # which a thread does not inherit
        work = partial(self._add, self._cache, torch.stack(columns, dim=1), inference=mode)
        if apart:
            self._batch = on_a_thread(work)
        else:
            work()

    def _add(self, cache: KvCache, columns: Tensor, *, inference: bool) -> None:
        with torch.inference_mode(inference):
            for piece in torch.split(columns, PIECE, dim=1):
                if not self._given_up:
                    forward(self._model, self._table, cache, piece)

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
