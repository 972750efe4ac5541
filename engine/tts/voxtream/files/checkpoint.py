"""Loader of the published weights, tensor by tensor, into their final form.

Invariant: either every published key exists with its shape and is used exactly once, or a
ModelError names the file, the key, and the expected and actual value. Memory never holds more of
the model than its final form and one tensor.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import torch
from torch import Tensor, nn

from engine.errors import ModelError
from engine.nn import weights_file
from engine.nn.packed.product_graph import PackedLinear, Precision
from engine.nn.packed.stack_graph import PackedTransformer
from engine.nn.transformer import Block, Linear, Transformer, TransformerConfig
from engine.nn.weights_file import REFETCH, check_finite, check_shapes
from engine.tts.voxtream.config import ModelConfig, VoxtreamGeneration
from engine.tts.voxtream.network.acoustic import PackedAcoustics
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.network.phones import PackedTail

PREFIXES = {"phone": "phone_former", "temporal": "temp_former", "depth": "dep_former"}


class Source(Protocol):
    """Source of finite tensors by published key."""

    def take(self, key: str) -> Tensor:
        """Return the tensor of a key in published_shapes(), fp32 on the CPU."""
        ...


@dataclass(frozen=True)
class Target:
    """Where weights are loaded to: device, dtype of activations, threads of packed products."""

    device: torch.device
    dtype: torch.dtype
    threads: int


def precision_on(target: Target) -> Precision:
    """Return the usual precision: 8 bits on the CPU, the only device with packed products."""
    return Precision.INT8 if target.device.type == "cpu" else Precision.FLOAT


def published_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return every key of the published file with its shape."""
    width, vocabulary = config.width, config.audio_vocabulary
    shapes: dict[str, tuple[int, ...]] = {
        "phone_embeddings.weight": (config.phone_vocabulary, width),
        "audio_embeddings.weight": (vocabulary * config.codebooks, width),
        "spk_emb_proj.weight": (width, config.speaker_width),
        "sem_head.weight": (config.duration_tokens * vocabulary, width),
        "audio_head": (config.codebooks - 1, width, vocabulary),
    }
    for name, prefix in PREFIXES.items():
        stack: TransformerConfig = getattr(config, name)
        shapes[f"{prefix}.norm.scale"] = (stack.width,)
        for layer in range(stack.layers):
            start = f"{prefix}.layers.{layer}."
            shapes |= {start + key: shape for key, (_, shape) in block_keys(stack).items()}
    return shapes


def block_keys(config: TransformerConfig) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the published keys of a block: the weight that they are a part of, and their shapes.
    Parts of one weight are concatenated along their outputs.
    """
    width, kv_width, hidden = config.width, config.kv_heads * config.head_width, config.hidden
    return {
        "attn.q_proj.weight": ("attention.qkv.weight", (width, width)),
        "attn.k_proj.weight": ("attention.qkv.weight", (kv_width, width)),
        "attn.v_proj.weight": ("attention.qkv.weight", (kv_width, width)),
        "attn.output_proj.weight": ("attention.output.weight", (width, width)),
        "mlp.w1.weight": ("mlp.gate_up.weight", (hidden, width)),
        "mlp.w2.weight": ("mlp.down.weight", (width, hidden)),
        "mlp.w3.weight": ("mlp.gate_up.weight", (hidden, width)),
        "sa_norm.scale": ("attention_norm.scale", (width,)),
        "mlp_norm.scale": ("mlp_norm.scale", (width,)),
    }


def load_weights(
    source: Source,
    config: ModelConfig,
    generation: VoxtreamGeneration,
    precision: Precision,
    target: Target,
    *,
    heads: Precision | None = None,
) -> VoxtreamModel:
    """Load the model with its products in this precision. `heads`: another precision for the heads
    and the depth transformer (None = the same).
    """
    heads = heads or precision
    with torch.device("meta"):
        model = VoxtreamModel(config, generation)
    fill = _Filler(source, target)
    model.phone_embeddings.weight = fill.weight("phone_embeddings.weight")
    model.audio_embeddings.weight = fill.weight("audio_embeddings.weight")
    model.speaker_projection.weight = fill.weight("spk_emb_proj.weight")
    setattr(model, "semantic_head", fill.linear(source.take("sem_head.weight"), heads))  # noqa: B010
    if precision is Precision.FLOAT:
        model.phone = fill.stack("phone", config.phone)
        model.temporal = fill.stack("temporal", config.temporal)
    else:
        threads = target.threads
        model.phone = PackedTail(*fill.parts("phone", config.phone), threads=threads)
        model.temporal = PackedTransformer(
            *fill.parts("temporal", config.temporal), threads=threads
        )
    audio_head = source.take("audio_head")  # [K - 1, D, V], of all codebooks
    if heads is Precision.FLOAT:
        model.acoustic_heads = nn.ModuleList(fill.linear(head.t(), heads) for head in audio_head)
        model.depth = fill.stack("depth", config.depth)
    else:
        # Only rows of codes in use are read: half the bytes for a loss of 2^-9.
        model.audio_embeddings.weight.data = model.audio_embeddings.weight.data.bfloat16()
        model.acoustic_heads = nn.ModuleList()
        model.depth = PackedAcoustics(
            *fill.parts("depth", config.depth),
            audio_head.transpose(1, 2)[:, : config.codes],
            guidance=generation.acoustic_guidance,
            threads=target.threads,
        )
    return model.eval().requires_grad_(False)


class _Filler:
    """Makes the parts of a model, in the target's dtype or packed."""

    def __init__(self, source: Source, target: Target) -> None:
        self._take = source.take
        self._target = target

    def weight(self, key: str) -> nn.Parameter:
        return self._parameter(self._take(key))

    def linear(self, weight: Tensor, precision: Precision) -> Linear | PackedLinear:
        if precision is not Precision.FLOAT:
            return PackedLinear(weight, threads=self._target.threads)
        with torch.device("meta"):
            linear = Linear(weight.shape[1], weight.shape[0])
        linear.weight = self._parameter(weight)
        return linear

    def stack(self, name: str, config: TransformerConfig) -> Transformer:
        with torch.device("meta"):
            stack = Transformer(config)
        _, blocks, stack.norm.scale = self.parts(name, config)
        stack.layers = nn.ModuleList(blocks)
        return stack

    def parts(
        self, name: str, config: TransformerConfig
    ) -> tuple[TransformerConfig, Iterator[Block], nn.Parameter]:
        """Return what a packed stack is made of: the blocks come one at a time, so that memory
        holds only one.
        """
        return config, self._blocks(name, config), self.weight(f"{PREFIXES[name]}.norm.scale")

    def _blocks(self, name: str, config: TransformerConfig) -> Iterator[Block]:
        for number in range(config.layers):
            with torch.device("meta"):
                block = Block(config)
            weights: dict[str, list[Tensor]] = {}
            for key, (ours, _) in block_keys(config).items():
                part = self._take(f"{PREFIXES[name]}.layers.{number}.{key}")
                weights.setdefault(ours, []).append(part)
            whole = {ours: self._parameter(torch.cat(parts)) for ours, parts in weights.items()}
            block.load_state_dict(whole, assign=True)
            yield block

    def _parameter(self, tensor: Tensor) -> nn.Parameter:
        moved = tensor.to(self._target.device, self._target.dtype).contiguous()
        return nn.Parameter(moved, requires_grad=False)


class PublishedFile:
    """model.safetensors, validated against the shapes of its configuration when opened."""

    def __init__(self, file: Path, config: ModelConfig, without: tuple[str, ...] = ()) -> None:
        """`without`: prefixes of keys that are in another file."""
        self._file = file
        self._open = _open_safetensors(file)
        shapes = published_shapes(config)
        expected = {key: shapes[key] for key in shapes if not key.startswith(without)}
        try:
            names = weights_file.names(self._open)
            check_shapes(expected, {key: self._open.get_slice(key).get_shape() for key in names})
            for key in names:
                weights_file.check(self._open, key)
        except ValueError as error:
            self.close()
            raise self._unusable(error) from error

    def take(self, key: str) -> Tensor:
        """Return one tensor as fp32. ModelError when it contains NaN or infinity."""
        tensor = weights_file.read(self._open, key)
        try:
            check_finite([(key, tensor)])
        except ValueError as error:
            raise self._unusable(error) from error
        return tensor

    def close(self) -> None:
        self._open.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _unusable(self, error: object) -> ModelError:
        return ModelError(
            "{file} cannot be used: {error}.", hint=REFETCH, file=self._file, error=error
        )


def _open_safetensors(file: Path) -> Any:
    from safetensors import SafetensorError, safe_open

    if not file.is_file():
        raise ModelError("The weights {file} are not there.", hint=REFETCH, file=file)
    try:
        handle: Any = safe_open(str(file), framework="pt", device="cpu")  # type: ignore[no-untyped-call]
        return handle.__enter__()
    except (OSError, SafetensorError) as error:
        raise ModelError(
            "The weights {file} are damaged: {error}.", hint=REFETCH, file=file, error=error
        ) from error
