"""What a transformer remembers of several sequences that advance together, each at its own pace.

Invariant: a step reads and writes of a row only what belongs to that row, and always the same
number of positions; so what it computes for a row does not depend on the rows beside it.
"""

import math

import torch
from torch import Tensor

from engine.nn.cache import ALIGNMENT, KvCache
from engine.nn.transformer import RotaryTable, Rotation, Stored, TransformerConfig


class SlotCache:
    """Fixed storage [layers, 2, B, G, S, E]; a step is one new position of each of the first rows.
    Rows that were not advanced after a step are as they were before it.
    """

    def __init__(
        self,
        config: TransformerConfig,
        rows: int,
        capacity: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        # One more than `capacity`: a full row may be computed beside others, and then is written.
        size = math.ceil((capacity + 1) / ALIGNMENT) * ALIGNMENT
        shape = (config.layers, 2, rows, config.kv_heads, size, config.head_width)
        self.stored = torch.zeros(shape, device=device, dtype=dtype)
        self._positions = torch.zeros(rows, device=device, dtype=torch.int64)
        self._steps = torch.arange(size, device=device)

    def append(self, layer: int, keys: Tensor, values: Tensor) -> Stored:
        """Write [B, G, 1, E] at the position of each of the first B rows."""
        rows = len(keys)
        own, places = self.stored[layer, :, :rows], self._positions[:rows]
        each = torch.arange(rows, device=places.device)
        own[0][each, :, places] = keys[:, :, 0]
        own[1][each, :, places] = values[:, :, 0]
        return Stored(own[0], own[1])

    def append_all(self, new: Tensor) -> None:
        """Write [layers, 2, B, G, 1, E] at the position of each of the first B rows."""
        for row, place in enumerate(self._positions[: new.shape[2]].tolist()):
            self.stored[:, :, row, :, place] = new[:, :, row, :, 0]

    def past(self, rows: int) -> Tensor:
        """[B, 1, 1, S] for the first rows, True where a position lies before the row's own."""
        return (self._steps < self._positions[:rows, None])[:, None, None]

    def mask(self, rows: int) -> Tensor:
        """The same with the row's own position."""
        return (self._steps <= self._positions[:rows, None])[:, None, None]

    def rotation(self, table: RotaryTable, rows: int) -> Rotation:
        """Angles of the first rows' positions, [B, 1, 1, E / 2]."""
        cos, sin = table.pick(self._positions[:rows])
        return Rotation(cos[:, None, None], sin[:, None, None])

    def advance(self, rows: Tensor) -> None:
        """Make the position written last part of these rows' sequences."""
        self._positions[rows] += 1

    def load(self, first: int, cache: KvCache) -> None:
        """Make the rows from `first` on the sequences of a growing cache."""
        rows = slice(first, first + cache.stored.shape[2])
        self.stored[:, :, rows, :, : cache.length] = cache.stored[..., : cache.length, :]
        self._positions[rows] = cache.length
