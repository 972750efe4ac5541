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
from engine.nn import stored_weights
from engine.nn.packed.modules import PackedLinear, PackedTransformer
from engine.nn.packed.quantise import Precision
from engine.nn.packed.short_stack import ShortStack
from engine.nn.packed.tail_stack import PackedTail
from engine.nn.transformer import Block, Linear, RotaryTable, Transformer, TransformerConfig
from engine.nn.weights_file import check_shapes, not_finite
from engine.translatable import Translatable
from engine.tts.voxtream.config import ModelConfig, VoxtreamGeneration
from engine.tts.voxtream.network.acoustic import PackedAcoustics
from engine.tts.voxtream.network.model import VoxtreamModel

REFETCH = Translatable("Fetch the model again.")
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
    stacks = {"phone": config.phone, "temporal": config.temporal, "depth": config.depth}
    for name, stack in stacks.items():
        shapes |= _stack_shapes(PREFIXES[name], stack)
    return shapes


def _stack_shapes(prefix: str, stack: TransformerConfig) -> dict[str, tuple[int, ...]]:
    width, kv_width = stack.width, stack.kv_heads * stack.head_width
    shapes: dict[str, tuple[int, ...]] = {f"{prefix}.norm.scale": (width,)}
    for layer in range(stack.layers):
        start = f"{prefix}.layers.{layer}."
        shapes |= {
            start + "attn.q_proj.weight": (width, width),
            start + "attn.k_proj.weight": (kv_width, width),
            start + "attn.v_proj.weight": (kv_width, width),
            start + "attn.output_proj.weight": (width, width),
            start + "mlp.w1.weight": (stack.hidden, width),
            start + "mlp.w2.weight": (width, stack.hidden),
            start + "mlp.w3.weight": (stack.hidden, width),
            start + "sa_norm.scale": (width,),
            start + "mlp_norm.scale": (width,),
        }
    return shapes


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
    fill.weight(model.phone_embeddings, "phone_embeddings.weight")
    fill.weight(model.audio_embeddings, "audio_embeddings.weight")
    fill.weight(model.speaker_projection, "spk_emb_proj.weight")
    if heads is not Precision.FLOAT:
        # Only rows of codes in use are read: half the bytes for a loss of 2^-9.
        model.audio_embeddings.weight.data = model.audio_embeddings.weight.data.bfloat16()
    fill.product(model, "semantic_head", ("sem_head.weight",), heads)
    fill.stack(model, "phone", precision)
    fill.stack(model, "temporal", precision)
    if heads is Precision.FLOAT:
        # The published heads are one tensor [K - 1, D, V]; each becomes a product of its own.
        model.acoustic_heads = nn.ModuleList(
            fill.linear(head.t(), heads) for head in source.take("audio_head")
        )
        fill.stack(model, "depth", heads)
    else:
        model.acoustic_heads = nn.ModuleList()
        model.depth = fill.acoustics(model)
    return model.eval().requires_grad_(False)


class _Filler:
    """Sets the tensors of a model, in the target's dtype or packed."""

    def __init__(self, source: Source, target: Target) -> None:
        self._take = source.take
        self._target = target

    def weight(self, module: nn.Module, key: str, name: str = "weight") -> None:
        module.register_parameter(name, self._parameter(self._take(key)))

    def linear(self, weight: Tensor, precision: Precision, *, threads: int = 1) -> nn.Module:
        if precision is not Precision.FLOAT:
            return PackedLinear(weight, threads=threads)
        with torch.device("meta"):
            linear = Linear(weight.shape[1], weight.shape[0])
        linear.weight = self._parameter(weight)
        return linear

    def product(
        self, parent: nn.Module, name: str, keys: tuple[str, ...], precision: Precision
    ) -> None:
        """Set one product from published ones, concatenated along their outputs."""
        weight = torch.cat([self._take(key) for key in keys])
        setattr(parent, name, self.linear(weight, precision, threads=self._target.threads))

    def stack(self, model: VoxtreamModel, name: str, precision: Precision) -> None:
        """Set a transformer's weights. Packed, the phone or temporal transformer
        becomes one graph.
        """
        stack = getattr(model, name)
        assert isinstance(stack, Transformer)
        self.weight(stack.norm, f"{PREFIXES[name]}.norm.scale", "scale")
        if precision is Precision.FLOAT:
            for number, block in enumerate(stack.layers):
                self._block(block, f"{PREFIXES[name]}.layers.{number}.")
            return
        packed = (PackedTail if name == "phone" else PackedTransformer)(
            stack.config,
            self._blocks(name, stack.config),
            stack.norm.scale,
            threads=self._target.threads,
        )
        setattr(model, name, packed)

    def acoustics(self, model: VoxtreamModel) -> PackedAcoustics:
        """Return the depth transformer and its heads, both packed."""
        config = model.config
        table = RotaryTable(config.depth.head_width, self._target.device, model.codebooks)
        stack = ShortStack(
            config.depth,
            self._blocks("depth", config.depth),
            self._take(f"{PREFIXES['depth']}.norm.scale"),
            table.slice(0, model.codebooks),
            threads=self._target.threads,
        )
        heads = self._take("audio_head").transpose(1, 2)
        guidance = model.generation.acoustic_guidance
        return PackedAcoustics(stack, heads[:, : config.codes], guidance=guidance)

    def _blocks(self, name: str, config: TransformerConfig) -> Iterator[Block]:
        """Yield the blocks of a stack one at a time, so that memory holds only one."""
        for number in range(config.layers):
            with torch.device("meta"):
                block = Block(config)
            self._block(block, f"{PREFIXES[name]}.layers.{number}.")
            yield block

    def _block(self, block: Any, start: str) -> None:
        attention = tuple(f"{start}attn.{part}_proj.weight" for part in "qkv")
        self.product(block.attention, "qkv", attention, Precision.FLOAT)
        output = (start + "attn.output_proj.weight",)
        self.product(block.attention, "output", output, Precision.FLOAT)
        gate_up = (start + "mlp.w1.weight", start + "mlp.w3.weight")
        self.product(block.mlp, "gate_up", gate_up, Precision.FLOAT)
        self.product(block.mlp, "down", (start + "mlp.w2.weight",), Precision.FLOAT)
        self.weight(block.attention_norm, start + "sa_norm.scale", "scale")
        self.weight(block.mlp_norm, start + "mlp_norm.scale", "scale")

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
        try:
            self._check({key: shapes[key] for key in shapes if not key.startswith(without)})
        except ModelError:
            self.close()
            raise

    def take(self, key: str) -> Tensor:
        """Return one tensor as fp32. ModelError when it contains NaN or infinity."""
        tensor = stored_weights.read(self._open, key)
        if not_finite([(key, tensor)]):
            raise ModelError(
                "{file}: '{key}' holds NaN or infinity.", hint=REFETCH, file=self._file, key=key
            )
        return tensor

    def close(self) -> None:
        self._open.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, expected: dict[str, tuple[int, ...]]) -> None:
        views = {key: self._open.get_slice(key) for key in stored_weights.names(self._open)}
        shapes = {key: view.get_shape() for key, view in views.items()}
        check_shapes(self._file, expected, shapes, REFETCH)
        for key, view in views.items():
            if view.get_dtype() not in stored_weights.KINDS:
                raise ModelError(
                    "{file}: '{key}' holds {kind}, expected F32, BF16, F16 or I8.",
                    hint=REFETCH,
                    file=self._file,
                    key=key,
                    kind=view.get_dtype(),
                )
            try:
                stored_weights.check_scales(self._open, key)
            except ValueError as error:
                raise ModelError(
                    "{file} cannot be used: {error}.", hint=REFETCH, file=self._file, error=error
                ) from error


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
