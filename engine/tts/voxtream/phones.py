"""Rows of the phone transformer for a text that grows, with finished rows kept.

Each of the six layers looks `look_ahead` phones ahead, so a row of layer l is final once
l * look_ahead phones behind it are known. Final rows' keys and values are kept per layer and only
the open tail is computed again: constant work per word instead of work that grows with the text.
Invariant: extending piece by piece gives the rows that computing all at once gives.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.nn.transformer import Block, RotaryTable, Stored, Transformer, group_mask

SLACK = 64  # rows beyond the window a layer may keep before it drops them


@dataclass(frozen=True)
class _Layer:
    """One layer's memory: keys and values [B, G, S, E] of final rows `base`.., and the layer's
    final inputs [B, look_ahead, D] whose outputs are still open.
    """

    base: int
    keys: Tensor
    values: Tensor
    inputs: Tensor


@dataclass(frozen=True)
class PhoneRows:
    """Rows of the sequence so far. A value: extend() returns a new one and shares what is final."""

    look_ahead: int
    window: int
    length: int = 0
    layers: tuple[_Layer, ...] = ()
    first: int = 0  # sequence position of rows[:, 0]
    rows: Tensor = field(default_factory=lambda: torch.empty(0))  # [B, length - first, D]

    def final(self, layer: int) -> int:
        """How many input rows of a layer can no longer change."""
        return max(0, self.length - layer * self.look_ahead)

    def row(self, position: int) -> Tensor:
        """Row of a sequence position, [B, D]; it must not have been dropped."""
        assert self.first <= position < self.length
        return self.rows[:, position - self.first]

    def dropped_before(self, position: int) -> "PhoneRows":
        """The same without rows nobody will ask for again."""
        first = max(self.first, min(position, self.final(len(self.layers))))
        rows = self.rows[:, first - self.first :]
        return PhoneRows(self.look_ahead, self.window, self.length, self.layers, first, rows)


def extend(rows: PhoneRows, embedded: Tensor, stack: Transformer, table: RotaryTable) -> PhoneRows:
    """`rows` with embedded phones [B, P, D] behind them."""
    grown = PhoneRows(rows.look_ahead, rows.window, rows.length + embedded.shape[1])
    layers = rows.layers or _empty_layers(stack, embedded)
    new = embedded
    kept = []
    for number, (block, layer) in enumerate(zip(stack.layers, layers, strict=True)):
        assert isinstance(block, Block)
        start = rows.final(number + 1)  # the first row whose output is open
        inputs = torch.cat((layer.inputs, new), dim=1)  # [B, grown.length - start, D]
        heads = block.project(inputs, table.slice(start, grown.length))
        stored = Stored(
            torch.cat((layer.keys, heads.keys), dim=2),
            torch.cat((layer.values, heads.values), dim=2),
        )
        mask = _mask(grown, start, layer.base, embedded.device)
        new = block.finish(inputs, heads.queries, stored, group_mask(mask, stack.config))
        kept.append(_kept(grown, number, layer.base, stored, inputs))
    out: Tensor = stack.norm(new)
    done = rows.rows[:, : rows.final(len(layers)) - rows.first] if rows.layers else out[:, :0]
    return PhoneRows(
        grown.look_ahead,
        grown.window,
        grown.length,
        tuple(kept),
        rows.first,
        torch.cat((done, out), dim=1),
    )


def _empty_layers(stack: Transformer, like: Tensor) -> tuple[_Layer, ...]:
    config = stack.config
    none = like.new_empty(like.shape[0], config.kv_heads, 0, config.head_width)
    return tuple(_Layer(0, none, none, like[:, :0]) for _ in range(config.layers))


def _mask(rows: PhoneRows, start: int, base: int, device: torch.device) -> Tensor:
    """[rows start.., stored rows base..], True where a row may look."""
    looking = torch.arange(start, rows.length, device=device)[:, None]
    seen = torch.arange(base, rows.length, device=device)[None]
    return (seen > looking - rows.window) & (seen <= looking + rows.look_ahead)


def _kept(rows: PhoneRows, number: int, base: int, stored: Stored, inputs: Tensor) -> _Layer:
    """What a layer remembers after a pass: final keys, and final inputs with open outputs."""
    closed, known = rows.final(number + 1), rows.final(number)
    first = base
    if closed - rows.window - base > SLACK:
        first = closed - rows.window
    start = rows.length - inputs.shape[1]
    return _Layer(
        first,
        stored.keys[:, :, first - base : closed - base],
        stored.values[:, :, first - base : closed - base],
        inputs[:, closed - start : known - start],
    )
