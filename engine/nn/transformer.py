"""Llama blocks as VoXtream uses them: the phone, temporal and depth transformers share this code.

Invariant: forward never writes to the module; a sequence's memory is the cache that is passed in,
owned by one session. Two caches never share storage, so two sessions on one set of weights cannot
affect each other.
Key and value heads are stored once, never expanded to the query heads.
Letters: B batch, T new positions, S stored positions, D width, H query heads, G key/value heads,
R = H / G query heads that share a key/value head, E head width.
"""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.settings.rules import Range

ROPE_BASE = 500_000.0
# Llama 3.1 frequency scaling (public Llama 3.1/3.2 arithmetic): long waves are stretched 32 times,
# waves shorter than a quarter of the original training context are unchanged, those in between are
# blended.
ROPE_STRETCH = 32.0
ROPE_LOW_FREQUENCY = 1.0
ROPE_HIGH_FREQUENCY = 4.0
ROPE_FIRST_CONTEXT = 8192
NORM_EPS = 1e-5
GROWTH = 64  # positions; a full cache grows by this much, so that appending stays cheap
_CPU = torch.device("cpu")


@dataclass(frozen=True)
class TransformerConfig:
    """Shape of one stack. `width` = heads x head width; `hidden` is the width inside the MLP."""

    layers: Annotated[int, Range(1, 64)]
    width: Annotated[int, Range(2, 16_384)]
    heads: Annotated[int, Range(1, 256)]
    kv_heads: Annotated[int, Range(1, 256)]
    hidden: Annotated[int, Range(1, 65_536)]

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    @property
    def group(self) -> int:
        """Query heads that share one key/value head."""
        return self.heads // self.kv_heads


class Rotation(NamedTuple):
    """Angles of some positions: cosine and sine, both [T, E / 2], fp32."""

    cos: Tensor
    sin: Tensor


class Heads(NamedTuple):
    """Queries [B, H, T, E], keys and values [B, G, T, E] of new positions, already rotated."""

    queries: Tensor
    keys: Tensor
    values: Tensor


class Stored(NamedTuple):
    """Keys and values [B, G, S, E] that may be attended to."""

    keys: Tensor
    values: Tensor


class Cache(Protocol):
    """Keys and values per layer."""

    def append(self, layer: int, keys: Tensor, values: Tensor) -> Stored:
        """Store [B, G, T, E] behind the layer's positions; return all that attention may read."""
        ...


class KvCache:
    """Grows with the sequence; `stored` holds keys and values of all layers,
    [layers, 2, B, G, capacity, E], of which `length` positions are in use.
    """

    def __init__(
        self,
        config: TransformerConfig,
        batch: int = 1,
        device: torch.device = _CPU,
        dtype: torch.dtype = torch.float32,
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


class Stack(nn.Module):
    """Base of plain and packed stacks, each with the angles of its positions."""

    TURNS = True  # False: see RotaryTable

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.rotary = RotaryTable(config.head_width, turns=self.TURNS)

    def append(self, x: Tensor, cache: KvCache) -> Tensor:
        """Run new positions [B, T, D] behind those in the cache, each seeing itself and all before
        it. Return their outputs [B, T, D].
        """
        start, length = cache.length, x.shape[1]
        mask = causal_mask(start, length, x.device) if length > 1 else None
        rotation = self.rotary.slice(start, start + length, x.device)
        hidden: Tensor = self(x, rotation, cache, mask)
        cache.advance(length)
        return hidden


class Transformer(Stack):
    """A stack of blocks and a last norm; no embedding, no head."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RmsNorm(config.width)

    def forward(
        self, x: Tensor, rotation: Rotation, cache: Cache, mask: Tensor | None = None
    ) -> Tensor:
        """[B, T, D] new positions -> [B, T, D].

        `mask` is [T, S], or [B, 1, T, S] where sequences differ: either booleans, True where
        position t may read s, or numbers to add to the scores. None = every position may read all
        that is stored.
        """
        grouped = None if mask is None else group_mask(mask, self.config)
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, Block)
            heads = layer.project(x, rotation)
            stored = cache.append(number, heads.keys, heads.values)
            x = layer.finish(x, heads.queries, stored, grouped)
        out: Tensor = self.norm(x)
        return out


class Block(nn.Module):
    """Attention and MLP, each behind its norm and around its residual."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.attention_norm = RmsNorm(config.width)
        self.attention = Attention(config)
        self.mlp_norm = RmsNorm(config.width)
        self.mlp = Mlp(config)

    def project(self, x: Tensor, rotation: Rotation) -> Heads:
        """[B, T, D] -> rotated queries and keys, values."""
        return self.attention.project(self.attention_norm(x), rotation)

    def finish(self, x: Tensor, queries: Tensor, stored: Stored, mask: Tensor | None) -> Tensor:
        """Rest of the block for rows x [B, T, D] once keys are stored; `mask` from group_mask."""
        x = x + self.attention.attend(queries, stored, mask)
        out: Tensor = x + self.mlp(self.mlp_norm(x))
        return out


class Attention(nn.Module):
    """Grouped-query attention without biases."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        kv_width = config.kv_heads * config.head_width
        self.qkv = Linear(config.width, config.width + 2 * kv_width)
        self.output = Linear(config.width, config.width)

    def project(self, x: Tensor, rotation: Rotation) -> Heads:
        config = self.config
        batch, length, _ = x.shape
        qkv = self.qkv(x).view(batch, length, -1, config.head_width).transpose(1, 2)
        rotated_heads = config.heads + config.kv_heads
        rotated = rotate(qkv[:, :rotated_heads], rotation)  # [B, H + G, T, E]
        return Heads(rotated[:, : config.heads], rotated[:, config.heads :], qkv[:, rotated_heads:])

    def attend(self, queries: Tensor, stored: Stored, mask: Tensor | None) -> Tensor:
        config = self.config
        batch, _, length, width = queries.shape
        # Query head h reads key/value head h // R, so one stored head serves R x T queries.
        rows = queries.reshape(batch, config.kv_heads, config.group * length, width)
        mixed = functional.scaled_dot_product_attention(
            rows, stored.keys, stored.values, attn_mask=mask
        )
        # A card may lay its attention out another way.
        heads = mixed.reshape(batch, config.heads, length, width).transpose(1, 2)
        out: Tensor = self.output(heads.reshape(batch, length, -1))
        return out


class Mlp(nn.Module):
    """SwiGLU: down(silu(gate x) * up x), gate and up as one product."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.gate_up = Linear(config.width, 2 * config.hidden)
        self.down = Linear(config.hidden, config.width)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)  # each [B, T, hidden]
        out: Tensor = self.down(functional.silu(gate) * up)
        return out


class Linear(nn.Module):
    """A product without bias. torch's own Linear draws initial values for weights that are then
    replaced, and doing that on the meta device imports torch's compiler, which takes nine seconds.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight)


class Embedding(nn.Module):
    """Rows by number; see Linear."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width), requires_grad=False)

    def forward(self, numbers: Tensor) -> Tensor:
        return functional.embedding(numbers, self.weight)


class RmsNorm(nn.Module):
    """x / rms(x) * scale, in fp32 whatever the dtype around it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        # One kernel on CUDA, instead of eight for each of a frame's 160 norms.
        same = x.to(self.scale.dtype)  # the dtypes differ in training only
        return functional.rms_norm(same, self.scale.shape, self.scale, NORM_EPS)


class RotaryTable:
    """Cosines and sines of the first positions, made at the first use and longer on demand."""

    def __init__(self, head_width: int, positions: int = 2048, *, turns: bool = True) -> None:
        """`turns` False: all angles are 0, for input that contains its positions."""
        self._head_width, self._positions, self._turns = head_width, positions, turns
        self._table: Rotation | None = None

    def slice(self, start: int, end: int, device: torch.device = _CPU) -> Rotation:
        """Angles of positions start..end-1."""
        if end > self._positions:
            self._positions, self._table = max(end, 2 * self._positions), None
        table = self._on(device)
        return Rotation(table.cos[start:end], table.sin[start:end])

    def pick(self, positions: Tensor) -> Rotation:
        """Angles of positions [T] on the device; they must be below the table's present size."""
        table = self._on(positions.device)
        return Rotation(table.cos[positions], table.sin[positions])

    @torch.inference_mode(mode=False)  # training may go on with a table that a session made
    def _on(self, device: torch.device) -> Rotation:
        if self._table is None or self._table.cos.device != device:
            # fp32 throughout, like the model was trained: fp64 angles differ by up to 1e-4 rad at
            # 2000.
            steps = torch.arange(self._positions, device=device, dtype=torch.float32)
            angles = steps[:, None] * rope_frequencies(self._head_width).to(device)[None]
            angles = angles * self._turns
            self._table = Rotation(angles.cos(), angles.sin())
        return self._table


def rope_frequencies(head_width: int) -> Tensor:
    """Radians per position of each pair [E / 2], fp32, with Llama 3.1 scaling."""
    exponents = torch.arange(0, head_width, 2)[: head_width // 2].float() / head_width
    plain = 1.0 / (ROPE_BASE**exponents)
    waves = 2 * math.pi / plain
    long_wave = ROPE_FIRST_CONTEXT / ROPE_LOW_FREQUENCY
    short_wave = ROPE_FIRST_CONTEXT / ROPE_HIGH_FREQUENCY
    share = (ROPE_FIRST_CONTEXT / waves - ROPE_LOW_FREQUENCY) / (
        ROPE_HIGH_FREQUENCY - ROPE_LOW_FREQUENCY
    )
    blended = (1 - share) * plain / ROPE_STRETCH + share * plain
    scaled = torch.where(waves > long_wave, plain / ROPE_STRETCH, plain)
    between = (waves >= short_wave) & (waves <= long_wave)
    return torch.where(between, blended, scaled)


def rotate(x: Tensor, rotation: Rotation) -> Tensor:
    """Rotate pairs (x[2i], x[2i+1]) of [..., T, E] by their position's angles, in fp32."""
    pairs = x.float().view(*x.shape[:-1], -1, 2)  # [..., T, E / 2, 2]
    even, odd = pairs[..., 0], pairs[..., 1]
    rotated_pairs = torch.stack(
        (even * rotation.cos - odd * rotation.sin, odd * rotation.cos + even * rotation.sin),
        dim=-1,
    )
    return rotated_pairs.flatten(-2).type_as(x)


def causal_mask(start: int, length: int, device: torch.device) -> Tensor:
    """[T, start + T], True up to each new position."""
    return torch.ones(length, start + length, dtype=torch.bool, device=device).tril(start)


def group_mask(mask: Tensor, config: TransformerConfig) -> Tensor:
    """[.., T, S] -> [.., R * T, S]: one copy per query head that shares a key/value head."""
    return torch.cat([mask] * config.group, dim=-2)
