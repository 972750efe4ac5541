"""Caches of keys and values: a transformer's memory of one sequence, owned by one session.

Invariant: a cache reads only the positions in use, and stores little more. Two caches never share
storage, so two sessions on one set of weights cannot affect each other.
"""

import math

import torch
from torch import Tensor

from engine.nn.transformer import Stored, TransformerConfig

GROWTH = 64  # positions; a full cache grows by this much, so that appending stays cheap
ALIGNMENT = 16  # positions; attention on CUDA copies a mask of another length in every layer


class KvCache:
    """Grows with the sequence; `stored` holds keys and values of all layers,
    [layers, 2, B, G, capacity, E], of which `length` positions are in use.
    """

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
        shape = (config.layers, 2, batch, config.kv_heads, 0, config.head_width)
        self.stored = torch.zeros(shape, device=device, dtype=dtype)

    @property
    def capacity(self) -> int:
        return self.stored.shape[4]

    def append(self, layer: int, keys: Tensor, values: Tensor) -> Stored:
        """Store [B, G, T, E] behind `length`; call advance(T) once every layer has stored."""
        end = self.length + keys.shape[2]
        self.reserve(end)
        own = self.stored[layer, :, :, :, :end]
        own[0, :, :, self.length :] = keys
        own[1, :, :, self.length :] = values
        return Stored(own[0], own[1])

    def append_all(self, new: Tensor) -> None:
        """Store [layers, 2, B, G, T, E] behind `length`; call advance(T) next."""
        end = self.length + new.shape[4]
        self.reserve(end)
        self.stored[..., self.length : end, :] = new

    def advance(self, positions: int) -> None:
        """Make the last `positions` appended ones part of the sequence."""
        self.length += positions

    def restart(self) -> None:
        """Drop all positions, keep the storage."""
        self.length = 0

    def reserve(self, positions: int) -> None:
        """Allocate storage for `positions` in total; unused storage is zero, never NaN."""
        extra = positions - self.capacity
        if extra <= 0:
            return
        shape = list(self.stored.shape)
        shape[4] = max(extra, self._growth)
        self.stored = torch.cat((self.stored, self.stored.new_zeros(shape)), dim=4)

    def copy(self, length: int) -> "KvCache":
        """Return a separate cache with the first `length` positions."""
        twin = object.__new__(KvCache)
        twin.length, twin._growth = length, self._growth
        twin.stored = self.stored[..., :length, :].clone(memory_format=torch.contiguous_format)
        return twin


class FixedKvCache:
    """Fixed storage written at a position that is itself a tensor, for CUDA graphs.

    Attention reads all that is stored, some positions more than `capacity`; `mask()` hides those
    beyond the position.
    """

    def __init__(
        self,
        config: TransformerConfig,
        batch: int,
        capacity: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        stored = math.ceil(capacity / ALIGNMENT) * ALIGNMENT
        shape = (config.layers, batch, config.kv_heads, stored, config.head_width)
        self._keys = torch.zeros(shape, device=device, dtype=dtype)
        self._values = torch.zeros(shape, device=device, dtype=dtype)
        self._steps = torch.arange(stored, device=device)
        self.capacity = capacity
        self.position = torch.zeros(1, device=device, dtype=torch.int64)

    def append(self, layer: int, keys: Tensor, values: Tensor) -> Stored:
        """Write one position [B, G, 1, E] at `position`."""
        self._keys[layer].index_copy_(2, self.position, keys)
        self._values[layer].index_copy_(2, self.position, values)
        return Stored(self._keys[layer], self._values[layer])

    def mask(self) -> Tensor:
        """Return [1, S] to add to the scores, 0 up to and including `position`. With a mask of
        booleans every layer would compute it again.
        """
        hidden = self._steps > self.position
        return torch.zeros_like(hidden, dtype=self._keys.dtype).masked_fill(hidden, -math.inf)[None]

    def load(self, cache: KvCache) -> None:
        """Copy the positions of a growing cache."""
        stored = cache.stored[..., : cache.length, :]
        self._keys[..., : cache.length, :] = stored[:, 0]
        self._values[..., : cache.length, :] = stored[:, 1]
        self.position.fill_(cache.length)
