"""8-bit products and transformer stacks on the CPU, as modules with the same interface as the
plain ones.

Invariant: a packed module computes what the plain one computes with the restored weights.
"""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn

from engine.nn.cache import KvCache
from engine.nn.packed.product_graph import Array, ProductGraph
from engine.nn.packed.stack_graph import HIDDEN_SCORE, GptGraph, LlamaGraph
from engine.nn.transformer import Block, Rotation, TransformerConfig


class PackedLinear(nn.Module):
    """A bias-free product [.., K] -> [.., N], weights in 8 bits."""

    def __init__(self, weight: Tensor, *, threads: int = 1) -> None:
        super().__init__()
        self.in_features, self.out_features = weight.shape[1], weight.shape[0]
        graph = ProductGraph()
        graph.product("x", "y", weight)
        self._session = graph.compile(
            {"x": [None, self.in_features]}, {"y": [None, self.out_features]}, threads=threads
        )

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, self.in_features)
        (out,) = self._session.run(None, {"x": rows.numpy()})
        return torch.from_numpy(out).view(*x.shape[:-1], self.out_features)


class PackedTransformer(nn.Module):
    """A Transformer's twin with packed weights: same call, same cache, fp32 activations."""

    GRAPH: type[LlamaGraph] = LlamaGraph

    def __init__(
        self,
        config: TransformerConfig,
        blocks: Iterable[Block],
        norm_scale: Tensor,
        *,
        threads: int,
    ) -> None:
        super().__init__()
        self.config = config
        graph = self.GRAPH(config)
        graph.fill(blocks, norm_scale)
        self._stack = graph.finish(threads=threads)

    def forward(
        self,
        x: Tensor,
        rotation: Rotation,
        cache: KvCache,
        mask: Tensor | None = None,
    ) -> Tensor:
        """As Transformer.forward, for CPU tensors."""
        output = self._stack.run(x, rotation, cache.stored, _bias(cache, x.shape[1], mask))
        cache.append_all(output.stored)
        return output.hidden


class PackedGpt(PackedTransformer):
    """A Gpt's twin."""

    GRAPH = GptGraph


def _bias(cache: KvCache, length: int, mask: Tensor | None) -> Array:
    """Return [T, capacity + T] to add to the scores: 0 where a position may be read."""
    past = cache.capacity
    bias = np.full((length, past + length), HIDDEN_SCORE, dtype=np.float32)
    if mask is None:
        bias[:, : cache.length] = 0
        bias[:, past:] = 0
    else:
        bias[:, : cache.length][mask[:, : cache.length].numpy()] = 0
        bias[:, past:][mask[:, cache.length :].numpy()] = 0
    return bias
