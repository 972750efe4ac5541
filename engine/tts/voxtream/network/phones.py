"""Outputs (rows) of the phone transformer for a growing text, with a cache of final rows.

Each of the six layers sees `look_ahead` phones ahead, so a row of layer l is final once l *
look_ahead phones after it are known. Keys and values of final rows are cached for each layer, and
only the open rows at the end are computed again. So the work per word is constant, although the
text grows. Invariant: the rows do not depend on how the text was divided.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.nn.packed.tail_stack import MadeLayer, OpenLayer, PackedTail, plain_tail
from engine.nn.transformer import RotaryTable, Stored, Transformer

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


def extend(
    rows: PhoneRows, embedded: Tensor, stack: Transformer | PackedTail, table: RotaryTable
) -> PhoneRows:
    """Append embedded phones [B, P, D] to the rows."""
    longer = PhoneRows(rows.look_ahead, rows.window, rows.length + embedded.shape[1])
    layers, config = rows.layers, stack.config
    if not layers:
        none = embedded.new_empty(embedded.shape[0], config.kv_heads, 0, config.head_width)
        layers = (_Layer(0, none, none, embedded[:, :0]),) * config.layers
    open_layers = [
        _opened(rows, longer, number, layer, table) for number, layer in enumerate(layers)
    ]
    closed = rows.final(len(layers))  # rows that were final before
    skipped = max(0, rows.first - closed)
    if isinstance(stack, PackedTail):
        tail = stack.run(embedded, open_layers, skipped)
    else:
        tail = plain_tail(stack, embedded, open_layers, skipped)
    final = rows.rows[:, : max(0, closed - rows.first)] if rows.layers else tail.hidden[:, :0]
    pairs = zip(layers, tail.layers, strict=True)
    return PhoneRows(
        longer.look_ahead,
        longer.window,
        longer.length,
        tuple(
            _memory(longer, number, layer, output) for number, (layer, output) in enumerate(pairs)
        ),
        rows.first,
        torch.cat((final, tail.hidden), dim=1),
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
    final = Stored(layer.keys, layer.values)
    return OpenLayer(layer.inputs, final, table.slice(start, longer.length), mask)


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
