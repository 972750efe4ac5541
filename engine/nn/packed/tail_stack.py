"""A Llama stack for sequences whose layers look ahead: each layer has final rows, stored as keys
and values, and a tail of open rows that are computed again when the sequence grows.

The last layer computes only the rows that are needed. That, and one graph for all layers, reduced
the cost of a four-phone word in the full-size model from 57 to 42 ms of CPU on one core.
Invariant: the result equals that of Block layer by layer; no input is written to. Letters as in
transformer.py; layer l has T_l open rows after S_l final ones.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import torch
from torch import Tensor, from_numpy, nn

from engine.nn.packed.product_graph import Array
from engine.nn.packed.stack_graph import HIDDEN_SCORE, LlamaGraph
from engine.nn.transformer import (
    Block,
    Rotation,
    Stored,
    Transformer,
    TransformerConfig,
    group_mask,
)


class OpenLayer(NamedTuple):
    """The inputs of a layer: those of its first open rows [B, H, D] (those of the other open rows
    are the outputs of the layer below), its final keys and values [B, G, S, E], the angles of all
    its open rows, and which of the S + T rows each of them sees, [T, S + T].
    """

    inputs: Tensor
    final: Stored
    rotation: Rotation
    mask: Tensor


class MadeLayer(NamedTuple):
    """A layer's open rows: their inputs [B, T, D], and keys and values [B, G, T, E]."""

    inputs: Tensor
    keys: Tensor
    values: Tensor


@dataclass(frozen=True)
class Tail:
    """The result: hidden [B, T - skipped, D] after the last norm, and the open rows of each
    layer."""

    hidden: Tensor
    layers: tuple[MadeLayer, ...]


def plain_tail(stack: Transformer, new: Tensor, layers: Sequence[OpenLayer], skipped: int) -> Tail:
    """Compute new rows [B, P, D] through all layers, without the first `skipped` open rows of the
    last layer.
    """
    outputs, last = [], len(layers) - 1
    for number, (block, layer) in enumerate(zip(stack.layers, layers, strict=True)):
        assert isinstance(block, Block)
        inputs = torch.cat((layer.inputs, new), dim=1)
        heads = block.project(inputs, layer.rotation)
        stored = Stored(
            torch.cat((layer.final.keys, heads.keys), dim=2),
            torch.cat((layer.final.values, heads.values), dim=2),
        )
        first = skipped if number == last else 0
        mask = group_mask(layer.mask[first:], stack.config)
        new = block.finish(inputs[:, first:], heads.queries[:, :, first:], stored, mask)
        outputs.append(MadeLayer(inputs, heads.keys, heads.values))
    return Tail(stack.norm(new), tuple(outputs))


class PackedTail(nn.Module):
    """The same with packed weights, all layers as one graph."""

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
        graph = _TailGraph(config)
        graph.fill(blocks, norm_scale)
        self._session = graph.compiled(threads=threads)

    def run(self, new: Tensor, layers: Sequence[OpenLayer], skipped: int) -> Tail:
        """As plain_tail(), for CPU tensors."""
        last = len(layers) - 1
        feeds = {"new": new.contiguous().numpy(), "angles": np.zeros(1, dtype=np.int64)}
        feeds["skipped"] = np.array([skipped], dtype=np.int64)
        for number, layer in enumerate(layers):
            feeds |= self._feeds(number, layer, skipped if number == last else 0)
        hidden, *tensors = map(from_numpy, self._session.run(None, feeds))
        kinds = (tensors[start::3] for start in range(3))
        return Tail(hidden, tuple(MadeLayer(*each) for each in zip(*kinds, strict=True)))

    def _feeds(self, number: int, layer: OpenLayer, skipped: int) -> dict[str, Array]:
        visible = layer.mask[skipped:].numpy()
        bias = np.where(visible, np.float32(0), np.float32(HIDDEN_SCORE))
        rows, final = layer.mask.shape[0], layer.final.keys.shape[2]
        return {
            f"inputs{number}": layer.inputs.contiguous().numpy(),
            f"past_keys{number}": layer.final.keys.contiguous().numpy(),
            f"past_values{number}": layer.final.values.contiguous().numpy(),
            f"cos{number}": layer.rotation.cos.contiguous().numpy(),
            f"sin{number}": layer.rotation.sin.contiguous().numpy(),
            f"widths{number}": np.array([final, rows], dtype=np.int64),
            f"bias{number}": np.tile(bias, (self.config.group, 1)),
        }


class _TailGraph(LlamaGraph):
    """Every layer has its own rows, angles and bias; the last one computes only the needed rows."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.hidden = "new"
        self.constant("end", np.array([np.iinfo(np.int64).max], dtype=np.int64))
        self.constant("axis1", np.array([1], dtype=np.int64))
        self.constant("axis2", np.array([2], dtype=np.int64))

    def block(self, layer: int, weights: Block) -> None:
        """This layer's first inputs, followed by the output of the layer below, through one
        block."""
        if self.change:
            self.add("Add", [self.hidden, self.change], [f"below{layer}"])
            self.hidden, self.change = f"below{layer}", ""
        self.add("Concat", [f"inputs{layer}", self.hidden], [f"open{layer}"], axis=1)
        self.hidden = f"open{layer}"
        super().block(layer, weights)

    def attention(self, layer: int, normed: str, qkv: Tensor, output: Tensor) -> str:
        change = super().attention(layer, normed, qkv, output)
        self.hidden = self._queries(layer, self.hidden, axis=1)
        return change

    def compiled(self, *, threads: int) -> onnxruntime.InferenceSession:
        config, half = self._config, self._config.head_width // 2
        rows = [None, None, config.width]
        stored = [None, config.kv_heads, None, config.head_width]
        self.add("Identity", [self.hidden], ["y"])
        inputs: dict[str, list[Any]] = {"new": rows, "angles": [1], "skipped": [1]}
        outputs: dict[str, list[Any]] = {"y": rows}
        for layer in range(config.layers):
            inputs |= {f"inputs{layer}": rows, f"bias{layer}": [None, None]}
            inputs |= {f"past_keys{layer}": stored, f"past_values{layer}": stored}
            inputs |= {f"cos{layer}": [None, half], f"sin{layer}": [None, half]}
            inputs[f"widths{layer}"] = [2]
            outputs |= {f"open{layer}": rows, f"keys{layer}": stored, f"values{layer}": stored}
        return self.compile(inputs, outputs, threads=threads)

    def _of(self, name: str, layer: int) -> str:
        return f"{name}{layer}"

    def _queries(self, layer: int, name: str, *, axis: int) -> str:
        if layer < self._config.layers - 1:
            return name
        queries = f"{name}.asked"
        self.add("Slice", [name, "skipped", "end", f"axis{axis}"], [queries])
        return queries
