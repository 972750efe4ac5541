"""Mimi's decoding transformer as one packed graph, for the two columns a single frame has.

moshi's code with packed products took 9 ms of one core a frame, nearly all of it Python between
some hundreds of small calls; as one graph it takes 3.5. Invariant: it computes what moshi's
transformer computes with the restored weights, column by column or many at once. What a stream
remembers is its state, as everywhere in moshi.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from moshi.modules.streaming import State, StreamingModule
from moshi.modules.transformer import StreamingTransformer
from torch import Tensor, nn

from engine.nn.packed.product_graph import Array
from engine.nn.packed.quantise import Precision
from engine.nn.packed.stack_graph import HIDDEN_SCORE, StackGraph
from engine.nn.transformer import Rotation, TransformerConfig


@dataclass
class HeardColumns(State):
    """Keys and values of the last columns, [layers, 2, B, H, context, E], as a ring buffer: column
    p lies in slot p % context. `length` counts all columns so far.
    """

    stored: Tensor = field(default_factory=lambda: torch.empty(0))
    length: int = 0

    def reset(self, reset_mask: Tensor) -> None:
        super().reset(reset_mask)
        assert bool(reset_mask.all()), "streams of a batch are reset together"
        self.length = 0

    def slots(self, context: int) -> Array:
        """[context] the column each slot holds; below zero = none yet."""
        last = self.length - 1
        columns: Array = last - (last - np.arange(context)) % context
        return columns

    def keep(self, new: Tensor) -> None:
        """Write columns [layers, 2, B, H, T, E] behind the `length` earlier ones."""
        context, columns = self.stored.shape[4], new.shape[4]
        recent = min(columns, context)
        slots = torch.arange(self.length + columns - recent, self.length + columns) % context
        self.stored.index_copy_(4, slots, new[..., columns - recent :, :])
        self.length += columns


class PackedMimiTransformer(StreamingModule[HeardColumns]):
    """Stands where moshi's StreamingTransformer stood; `packable` says whether it can."""

    def __init__(self, origin: StreamingTransformer, precision: Precision) -> None:
        super().__init__()
        first: Any = origin.layers[0]
        attention = first.self_attn
        self._config = TransformerConfig(
            layers=len(origin.layers),
            width=attention.embed_dim,
            heads=attention.num_heads,
            kv_heads=attention.num_heads,
            hidden=first.linear1.out_features,
        )
        self._context: int = attention.context
        half = self._config.head_width // 2
        steps = torch.arange(half, dtype=torch.float32)
        self._frequencies = torch.exp(steps * (-math.log(attention.rope.max_period) / half))
        graph = _MimiGraph(self._config, precision)
        for number, layer in enumerate(origin.layers):
            graph.block(number, layer)
        self._stack = graph.finish(threads=1)
        # moshi takes the device from the parameters of the enclosing module.
        self.nothing = nn.Parameter(torch.empty(0), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """The stream's next columns [B, T, D] -> [B, T, D]."""
        state = self._streaming_state or self._init_streaming_state(x.shape[0])
        end = state.length + x.shape[1]
        steps = torch.arange(state.length, end, dtype=torch.float32)
        angles = steps[:, None] * self._frequencies
        rotation = Rotation(angles.cos(), angles.sin())
        output = self._stack.run(x, rotation, state.stored, self._bias(state, x.shape[1]))
        state.keep(output.stored)
        return output.hidden

    def _init_streaming_state(self, batch_size: int) -> HeardColumns:
        config = self._config
        heads = (batch_size, config.heads, self._context, config.head_width)
        stored = torch.zeros(config.layers, 2, *heads)
        return HeardColumns(batch_size, torch.device("cpu"), stored)

    def _bias(self, state: HeardColumns, columns: int) -> Array:
        """[T, context + T]: a column may read itself and the context - 1 before it."""
        new = np.arange(state.length, state.length + columns)
        old = state.slots(self._context)
        ages = new[:, None] - np.concatenate((old, new))
        visible = (ages >= 0) & (ages < self._context)
        visible[:, : self._context] &= old >= 0
        bias: Array = np.where(visible, np.float32(0), np.float32(HIDDEN_SCORE))
        return bias


def packable(module: StreamingTransformer, precision: Precision) -> bool:
    """Whether a transformer is built like Mimi's, with widths that fill whole blocks."""
    if precision is Precision.FLOAT:
        return False
    first: Any = module.layers[0]
    attention = first.self_attn
    mimis = (
        first.linear1 is not None
        and isinstance(first.norm1, nn.LayerNorm)
        and attention.causal
        and attention.context is not None
        and attention.kv_repeat == 1
        and attention.rope is not None
        and attention.rope.interleave
    )
    widths = (attention.embed_dim, first.linear1.out_features) if mimis else ()
    return mimis and not any(width % precision.block for width in widths)


class _MimiGraph(StackGraph):
    """Blocks with LayerNorm, GELU, and a scale on what each half adds."""

    def block(self, layer: int, weights: Any) -> None:
        """hidden -> hidden through one of moshi's StreamingTransformerLayers."""
        mark, attention = f"l{layer}.", weights.self_attn
        normed = self._norm(mark + "normed", weights.norm1)
        # Scaling a product's rows only scales their blocks, so the rounding stays the same.
        output = _scaled(attention.out_projs[0], weights.layer_scale_1)
        self.change = self.attention(layer, normed, attention.in_projs[0].weight, output)
        ready = self._norm(mark + "ready", weights.norm2)
        wide = self.product(ready, mark + "wide", weights.linear1.weight, self._precision)
        self.contrib("Gelu", [wide], [mark + "bent"])
        narrow = _scaled(weights.linear2, weights.layer_scale_2)
        self.change = self.product(mark + "bent", mark + "narrow", narrow, self._precision)

    def _norm(self, y: str, norm: nn.LayerNorm) -> str:
        scale = self.constant(f"{y}.scale", norm.weight.detach().numpy())
        shift = self.constant(f"{y}.shift", norm.bias.detach().numpy())
        return self.normed(y, "LayerNormalization", [scale, shift], norm.eps)


def _scaled(linear: Any, scale: Any) -> Tensor:
    """[N, K] with each output row times its layer scale, where there is one."""
    weight: Tensor = linear.weight.detach()
    return weight if isinstance(scale, nn.Identity) else weight * scale.scale.detach()[:, None]
