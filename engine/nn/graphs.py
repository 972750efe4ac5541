"""One launch for many kernels: a function of fixed tensors captured as a CUDA graph, and a cache
of keys and values that stays in place for it.

Invariant: calling a Graphed computes what calling the plain function computes. Off CUDA it *is* the
plain call, so the same code is tested without a GPU.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from engine.nn.transformer import KvCache, Stored, TransformerConfig

ALIGNMENT = 16  # positions; attention on CUDA copies a mask of another length in every layer
WARM_UP_CALLS = 3  # cuBLAS and the allocator settle first; that must not be captured


class Graphed:
    """Repeats `function`, which must read and write only tensors that are not reallocated.

    The function has no arguments: its inputs are tensors in its closure, which the caller fills in
    place. Its result is overwritten by the next call. It must not synchronise with the host.
    RuntimeError if it cannot be captured or memory is short.
    """

    def __init__(self, function: Callable[[], Tensor], device: torch.device) -> None:
        self._function = function
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result = torch.empty(0)
        if device.type == "cuda":
            self._capture()

    def __call__(self) -> Tensor:
        if self._graph is None:
            return self._function()
        self._graph.replay()
        return self._result

    def _capture(self) -> None:
        """Warm up on a side stream, then record; the caller resets the tensors they wrote."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP_CALLS):
                self._function()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # Only this thread is restricted: others (language model, recogniser) may allocate
        # meanwhile. torch stays on its own stream when capturing fails; the outer stream() goes
        # back.
        with (
            torch.cuda.stream(torch.cuda.current_stream()),
            torch.cuda.graph(graph, capture_error_mode="thread_local"),
        ):
            self._result = self._function()
        self._graph = graph


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
        shape = (2, config.layers, batch, config.kv_heads, stored, config.head_width)
        self._keys, self._values = torch.zeros(shape, device=device, dtype=dtype)
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
