"""The temporal transformer's memory of one utterance: the prompt for ever, and what was said last.

When the window is full the released implementation recomputes prompt and recent columns at once,
an audible stall. Here the same memory is prepared in slices over the frames before it is needed.
Invariant: the hidden state of every step equals that of rebuilding at once.
"""

from collections import deque

import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.transformer import RotaryTable
from engine.tts.voxtream.model import VoxtreamModel

SLICE = 8  # columns prepared per frame; 312 of them are ready 39 frames after the start


class TemporalMemory:
    """Owns the caches of one utterance."""

    def __init__(
        self, model: VoxtreamModel, table: RotaryTable, prompt: KvCache, window: int
    ) -> None:
        self._model = model
        self._table = table
        self._window = window
        self._prompt_columns = prompt.length
        self._cache = prompt
        room = max(0, window - prompt.length - 1)
        self._keep = min(window // 2, room)  # recent columns that survive
        self._recent: deque[Tensor] = deque(maxlen=self._keep)
        self._next: KvCache | None = None

    @property
    def length(self) -> int:
        """Columns attention can see now."""
        return self._cache.length

    def step(self, column: Tensor) -> Tensor:
        """One column [B, D] -> hidden [B, D]."""
        if self._cache.length >= self._window:
            self._turn_over()
        hidden = self._forward(self._cache, column[:, None])
        self._recent.append(column)
        self._prepare()
        return hidden

    def _forward(self, cache: KvCache, columns: Tensor) -> Tensor:
        start, length = cache.length, columns.shape[1]
        mask = None
        if length > 1:
            mask = causal_mask(start, length, columns.device)
        rotation = self._table.slice(start, start + length)
        hidden = self._model.advance(columns, rotation, cache, mask)
        cache.advance(length)
        return hidden

    def _prepare(self) -> None:
        """Put some of the recent columns into the next cache, just fast enough to be ready."""
        slices_left = self._window - self._cache.length + 1  # calls of this before turning over
        prepared = 0 if self._next is None else self._next.length - self._prompt_columns
        if (self._keep - prepared) <= SLICE * (slices_left - 1):
            return
        if self._next is None:
            self._next = self._cache.copy(self._prompt_columns)
        ready = self._surviving()[prepared : prepared + SLICE]
        if ready:
            self._forward(self._next, torch.stack(ready, dim=1))

    def _surviving(self) -> list[Tensor]:
        """Of the columns that the next cache will hold behind the prompt, those known by now."""
        count = max(0, self._cache.length - (self._window - self._keep))
        return list(self._recent)[len(self._recent) - count :]

    def _turn_over(self) -> None:
        """The prepared cache becomes the memory; positions are numbered anew."""
        prepared = self._next or self._cache.copy(self._prompt_columns)
        rest = self._surviving()[prepared.length - self._prompt_columns :]
        if rest:
            self._forward(prepared, torch.stack(rest, dim=1))
        self._cache, self._next = prepared, None


def causal_mask(start: int, length: int, device: torch.device) -> Tensor:
    """[T, start + T], True up to each new position."""
    return torch.ones(length, start + length, dtype=torch.bool, device=device).tril(start)
