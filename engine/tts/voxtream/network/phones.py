"""Outputs (rows) of the phone transformer for a growing text, with a cache of final rows.

Each of the six layers sees `look_ahead` phones ahead, so a row of layer l is final once l *
look_ahead phones after it are known. Keys and values of final rows are cached for each layer, and
only a tail of open rows is computed again; the last layer computes only the rows that are needed.
So the work per word is constant, although the text grows. That, and one graph for all layers of
packed weights, reduced the cost of a four-phone word in the full-size model from 57 to 42 ms of CPU
on one core. Invariant: the rows do not depend on how the text was divided; they equal those of
Block layer by layer, and no input is written to. Letters as in transformer.py; layer l has T_l open
rows after S_l final ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, from_numpy

from engine.nn.packed.product_graph import Array
from engine.nn.packed.stack_graph import HIDDEN_SCORE, LlamaGraph, PackedStack
from engine.nn.transformer import (
    Block,
    RotaryTable,
    Rotation,
    Stored,
    Transformer,
    TransformerConfig,
    group_mask,
)

SLACK = 64  # rows beyond the window that a layer may store


@dataclass(frozen=True)
class _Layer:
    """The cache of one layer: keys and values [B, G, S, E] of the final rows from `base` on, and
    the layer's inputs [B, look_ahead, D] that are final although their outputs are not.
    """

    base: int
    keys: Tensor
    values: Tensor
    inputs: Tensor


class OpenLayer(NamedTuple):
    """A layer's cache, whose inputs are those of its first open rows (those of the others are the
    outputs of the layer below), the angles of all open rows, and which of the S + T rows each of
    them sees, [T, S + T].
    """

    cache: "_Layer"
    rotation: Rotation
    mask: Tensor


class MadeLayer(NamedTuple):
    """A layer's open rows: their inputs [B, T, D], and keys and values [B, G, T, E]."""

    inputs: Tensor
    keys: Tensor
    values: Tensor


# The outputs [B, T - skipped, D] after the last norm, and the open rows of each layer.
Tail = tuple[Tensor, list[MadeLayer]]


def _plain_tail(stack: Transformer, new: Tensor, layers: Sequence[OpenLayer], skipped: int) -> Tail:
    """Compute new rows [B, P, D] through all layers, without the first `skipped` open rows of the
    last layer.
    """
    outputs, last = [], len(layers) - 1
    for number, (block, layer) in enumerate(zip(stack.layers, layers, strict=True)):
        assert isinstance(block, Block)
        inputs = torch.cat((layer.cache.inputs, new), dim=1)
        heads = block.project(inputs, layer.rotation)
        stored = Stored(
            torch.cat((layer.cache.keys, heads.keys), dim=2),
            torch.cat((layer.cache.values, heads.values), dim=2),
        )
        first = skipped if number == last else 0
        mask = group_mask(layer.mask[first:], stack.config)
        new = block.finish(inputs[:, first:], heads.queries[:, :, first:], stored, mask)
        outputs.append(MadeLayer(inputs, heads.keys, heads.values))
    return stack.norm(new), outputs


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

    def _of(self, name: str, layer: int) -> str:
        return f"{name}{layer}"

    def _queries(self, layer: int, name: str, *, axis: int) -> str:
        if layer < self._config.layers - 1:
            return name
        queries = f"{name}.asked"
        self.add("Slice", [name, "skipped", "end", f"axis{axis}"], [queries])
        return queries

    def outputs(self) -> list[str]:
        return ["y", *self.of_layers("open", "keys", "values")]


class PackedTail(PackedStack):
    """The same as _plain_tail() with packed weights."""

    GRAPH = _TailGraph

    def run(self, new: Tensor, layers: Sequence[OpenLayer], skipped: int) -> Tail:
        """As _plain_tail(), for CPU tensors."""
        last = len(layers) - 1
        feeds = {"new": new.contiguous().numpy(), "angles": np.zeros(1, dtype=np.int64)}
        feeds["skipped"] = np.array([skipped], dtype=np.int64)
        for number, layer in enumerate(layers):
            feeds |= self._feeds(number, layer, skipped if number == last else 0)
        hidden, *tensors = map(from_numpy, self._session.run(None, feeds))
        kinds = (tensors[start::3] for start in range(3))
        return hidden, [MadeLayer(*each) for each in zip(*kinds, strict=True)]

    def _feeds(self, number: int, layer: OpenLayer, skipped: int) -> dict[str, Array]:
        visible = layer.mask[skipped:].numpy()
        bias = np.where(visible, np.float32(0), np.float32(HIDDEN_SCORE))
        rows, final = layer.mask.shape[0], layer.cache.keys.shape[2]
        return {
            f"inputs{number}": layer.cache.inputs.contiguous().numpy(),
            f"past_keys{number}": layer.cache.keys.contiguous().numpy(),
            f"past_values{number}": layer.cache.values.contiguous().numpy(),
            f"cos{number}": layer.rotation.cos.contiguous().numpy(),
            f"sin{number}": layer.rotation.sin.contiguous().numpy(),
            f"widths{number}": np.array([final, rows], dtype=np.int64),
            f"bias{number}": np.tile(bias, (self.config.group, 1)),
        }


@dataclass(frozen=True)
class PhoneRows:
    """The rows of the text so far. A value: extend() returns a new one that shares final rows."""

    look_ahead: int
    window: int
    length: int = 0
    layers: tuple[_Layer, ...] = ()
    first: int = 0  # sequence position of rows[:, 0]
    rows: Tensor = field(default_factory=lambda: torch.empty(0))  # [B, length - first, D]

    def final(self, layer: int) -> int:
        """Return the number of a layer's input rows that can no longer change."""
        return max(0, self.length - layer * self.look_ahead)

    def row(self, position: int) -> Tensor:
        """Return the row [B, D] of a sequence position that was not dropped."""
        assert self.first <= position < self.length
        return self.rows[:, position - self.first]

    def dropped_before(self, position: int) -> "PhoneRows":
        """Return these rows without those before a position."""
        first = max(self.first, position)
        rows = self.rows[:, first - self.first :]
        return PhoneRows(self.look_ahead, self.window, self.length, self.layers, first, rows)


def extend(rows: PhoneRows, embedded: Tensor, stack: Transformer | PackedTail) -> PhoneRows:
    """Append embedded phones [B, P, D] to the rows."""
    longer = PhoneRows(rows.look_ahead, rows.window, rows.length + embedded.shape[1])
    layers, config = rows.layers, stack.config
    if not layers:
        none = embedded.new_empty(embedded.shape[0], config.kv_heads, 0, config.head_width)
        layers = (_Layer(0, none, none, embedded[:, :0]),) * config.layers
    open_layers = [
        _opened(rows, longer, number, layer, stack.rotary) for number, layer in enumerate(layers)
    ]
    closed = rows.final(len(layers))  # rows that were final before
    skipped = max(0, rows.first - closed)
    if isinstance(stack, PackedTail):
        hidden, made = stack.run(embedded, open_layers, skipped)
    else:
        hidden, made = _plain_tail(stack, embedded, open_layers, skipped)
    final = rows.rows[:, : max(0, closed - rows.first)] if rows.layers else hidden[:, :0]
    pairs = zip(layers, made, strict=True)
    return PhoneRows(
        longer.look_ahead,
        longer.window,
        longer.length,
        tuple(
            _memory(longer, number, layer, output) for number, (layer, output) in enumerate(pairs)
        ),
        rows.first,
        torch.cat((final, hidden), dim=1),
    )


def _opened(
    rows: PhoneRows, longer: PhoneRows, number: int, layer: _Layer, table: RotaryTable
) -> OpenLayer:
    """Return a layer's inputs for its open rows, those whose outputs were not final."""
    start = rows.final(number + 1)
    device = layer.inputs.device
    looking = torch.arange(start, longer.length, device=device)[:, None]
    places = torch.arange(layer.base, longer.length, device=device)[None]
    # [rows start.., stored rows base..], True where a row may look
    mask = (places > looking - longer.window) & (places <= looking + longer.look_ahead)
    return OpenLayer(layer, table.slice(start, longer.length, device), mask)


def _memory(rows: PhoneRows, number: int, layer: _Layer, output: MadeLayer) -> _Layer:
    """Return a layer's cache after a pass: keys and values that are now final, and final inputs
    whose outputs are not.
    """
    closed, final = rows.final(number + 1), rows.final(number)
    first = layer.base
    if closed - rows.window - first > SLACK:
        first = closed - rows.window
    start = rows.length - output.inputs.shape[1]
    new = slice(0, max(0, closed - start))
    keys, values = (
        torch.cat((old, fresh[:, :, new]), dim=2)[:, :, first - layer.base :]
        for old, fresh in ((layer.keys, output.keys), (layer.values, output.values))
    )
    return _Layer(first, keys, values, output.inputs[:, closed - start : final - start])
