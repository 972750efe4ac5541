"""What a transformer remembers of one sequence, as plain values owned by one session.

Invariant: a cache reads only the positions in use, and stores little more. Two caches never share
storage, so two sessions on one set of weights cannot disturb each other.
"""

import torch
from torch import Tensor

from engine.nn.transformer import Stored, TransformerConfig

GROWTH = 64  # positions; a full cache grows by this much, so that appending stays cheap


class KvCache:
    """Grows with the sequence; per layer keys and values [B, G, capacity, E], `length` in use."""

    def __init__(
        self,
        config: TransformerConfig,
        batch: int,
        device: torch.device,
        dtype: torch.dtype,
        *,
        growth: int = GROWTH,
    ) -> None:
        self.length = 0
        self._growth = growth
        shape = (batch, config.kv_heads, 0, config.head_width)
        self.keys = [torch.zeros(shape, device=device, dtype=dtype) for _ in range(config.layers)]
        self.values = [torch.zeros_like(keys) for keys in self.keys]

    @property
    def capacity(self) -> int:
        return self.keys[0].shape[2]

    def append(self, layer: int, keys: Tensor, values: Tensor) -> Stored:
        """Store [B, G, T, E] behind `length`; call advance(T) once every layer has stored."""
        end = self.length + keys.shape[2]
        self.reserve(end)
        self.keys[layer][:, :, self.length : end] = keys
        self.values[layer][:, :, self.length : end] = values
        return Stored(self.keys[layer][:, :, :end], self.values[layer][:, :, :end])

    def advance(self, positions: int) -> None:
        """Make the last `positions` appended ones part of the sequence."""
        self.length += positions

    def restart(self) -> None:
        """Forget everything, keep the storage."""
        self.length = 0

    def reserve(self, positions: int) -> None:
        """Make room for `positions` in all; unused room is zero, never NaN."""
        extra = positions - self.capacity
        if extra <= 0:
            return
        batch, kv_heads, _, width = self.keys[0].shape
        room = self.keys[0].new_zeros(batch, kv_heads, max(extra, self._growth), width)
        self.keys = [torch.cat((keys, room), dim=2) for keys in self.keys]
        self.values = [torch.cat((values, room), dim=2) for values in self.values]

    def copy(self, length: int) -> "KvCache":
        """A cache of its own with the first `length` positions."""
        twin = object.__new__(KvCache)
        twin.length, twin._growth = length, self._growth
        twin.keys = [keys[:, :, :length].clone() for keys in self.keys]
        twin.values = [values[:, :, :length].clone() for values in self.values]
        return twin


class FixedKvCache:
    """Fixed storage written at a position that is itself a tensor, for CUDA graphs.

    Attention reads all `capacity` positions; `mask()` hides those beyond the position.
    """

    def __init__(
        self,
        config: TransformerConfig,
        batch: int,
        capacity: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        shape = (config.layers, batch, config.kv_heads, capacity, config.head_width)
        self._keys = torch.zeros(shape, device=device, dtype=dtype)
        self._values = torch.zeros(shape, device=device, dtype=dtype)
        self._steps = torch.arange(capacity, device=device)
        self.capacity = capacity
        self.position = torch.zeros(1, device=device, dtype=torch.int64)

    def append(self, layer: int, keys: Tensor, values: Tensor) -> Stored:
        """Write one position [B, G, 1, E] at `position`."""
        self._keys[layer].index_copy_(2, self.position, keys)
        self._values[layer].index_copy_(2, self.position, values)
        return Stored(self._keys[layer], self._values[layer])

    def mask(self) -> Tensor:
        """[1, capacity], True up to and including `position`."""
        return (self._steps <= self.position)[None]

    def load(self, cache: KvCache) -> None:
        """Take over a growing cache's positions."""
        for layer, (keys, values) in enumerate(zip(cache.keys, cache.values, strict=True)):
            self._keys[layer][:, :, : cache.length] = keys[:, :, : cache.length]
            self._values[layer][:, :, : cache.length] = values[:, :, : cache.length]
        self.position.fill_(cache.length)
