"""Networks from safetensors files, which may contain the network's shape beside its weights.

Invariant: every tensor fits the network and is finite, or a ModelError names the file.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

import torch
from torch import Tensor, nn
from torch.nn import init
from torch.overrides import TorchFunctionMode

from engine.errors import ModelError
from engine.nn import stored_weights
from engine.nn.transformer import TransformerConfig
from engine.settings.rules import Range
from engine.translatable import Translatable
from engine.typed_values import build, drop_settled, json_object

SHAPE_KEY: Final = "config"
_DRAWS: Final = frozenset(
    (init.kaiming_uniform_, init.uniform_, init.normal_, Tensor.uniform_, Tensor.normal_)
)
_Shape = TypeVar("_Shape")
_Network = TypeVar("_Network", bound=nn.Module)


def shape_metadata(shape: Any) -> dict[str, str]:
    """Return the metadata of a safetensors file that describe the network's shape."""
    return {SHAPE_KEY: json.dumps(asdict(shape), default=lambda member: member.value)}


def read_shape(
    kind: type[_Shape],
    text: str,
    *,
    ignore_unknown: bool = False,
    settled: Mapping[str, object] | None = None,
) -> _Shape:
    """Return the shape in a file, each size within its Range; `settled`: see drop_settled().
    ValueError if it is missing or cannot be built.
    """
    if not text:
        raise ValueError("it does not say its shape")
    table = json_object(text)
    drop_settled(table, **(settled or {}))
    shape = build(kind, table, ignore_unknown=ignore_unknown)
    check_numbers(shape)
    return shape


def check_numbers(config: Any) -> None:
    """ValueError names the first value of a dataclass, or of one inside it, that is outside its
    annotated Range, or says that a transformer's sizes do not match.
    """
    hints = get_type_hints(type(config), include_extras=True)
    for name, value in vars(config).items():
        inner = value.values() if isinstance(value, Mapping) else (value,)
        for each in filter(is_dataclass, inner):
            check_numbers(each)
        for allowed in getattr(hints[name], "__metadata__", ()):
            for number in value if isinstance(value, tuple) else (value,):
                check_number(name, number, allowed)
    if isinstance(config, TransformerConfig) and (
        config.width % (2 * config.heads) or config.heads % config.kv_heads
    ):
        raise ValueError("a transformer of it does not fit together")


def check_number(name: str, value: float, allowed: Range) -> None:
    """ValueError if this value is not allowed under this name."""
    if not allowed.allows(value):
        low, high = allowed.lowest, allowed.highest
        raise ValueError(f"'{name}' is {value!r}, expected {low:g} to {high:g}")


def load_network(
    file: Path, network_of: Callable[[str], _Network], what: Translatable, hint: str
) -> _Network:
    """Return the network that `network_of` builds of the shape in a file (JSON; empty = none), with
    the file's weights, for inference only. `what` (the kind of file, "The vocoder") and `hint` are
    for the ModelError, also if `network_of` raises a ValueError.
    """
    from safetensors import SafetensorError, safe_open

    if not file.is_file():
        raise ModelError("{what} {file} is not there.", hint=hint, what=what, file=file)
    try:
        with safe_open(str(file), framework="pt") as handle:  # type: ignore[no-untyped-call]
            about: dict[str, str] = handle.metadata() or {}
            tensors = {
                name: stored_weights.read(handle, name) for name in stored_weights.names(handle)
            }
        with Unset():
            network = network_of(about.get(SHAPE_KEY, ""))
        network.load_state_dict(tensors, assign=True)
    except (OSError, SafetensorError, ValueError, RuntimeError) as error:
        raise ModelError(
            "{what} {file} cannot be used: {error}",
            hint=hint,
            what=what,
            file=file,
            error=error,
        ) from error
    if key := not_finite(tensors.items()):
        raise ModelError(
            "{what} {file}: '{key}' holds NaN or infinity.",
            hint=hint,
            what=what,
            file=file,
            key=key,
        )
    return network.eval().requires_grad_(requires_grad=False)


def check_shapes(
    file: Path,
    expected: Mapping[str, Sequence[int]],
    found: Mapping[str, Sequence[int]],
    hint: Translatable,
) -> None:
    """ModelError names the first tensor of a file that is missing, has another shape, or is not
    expected.
    """
    for key, shape in expected.items():
        if key not in found:
            raise ModelError(
                "{file} lacks '{key}', expected {shape}.",
                hint=hint,
                file=file,
                key=key,
                shape=list(shape),
            )
        if list(found[key]) != list(shape):
            raise ModelError(
                "{file}: '{key}' has shape {shape}, expected {expected}.",
                hint=hint,
                file=file,
                key=key,
                shape=list(found[key]),
                expected=list(shape),
            )
    for key in sorted(set(found) - set(expected)):
        raise ModelError(
            "{file} holds '{key}', which is not expected.", hint=hint, file=file, key=key
        )


def not_finite(tensors: Iterable[tuple[str, Tensor]]) -> str:
    """Return the name of the first tensor that contains NaN or infinity; empty if none does. One
    NaN in a file would turn all speech into silence or noise, without any error.
    """
    for name, tensor in tensors:
        if not tensor.is_floating_point() or not tensor.numel():
            continue
        # Both ends are NaN when one element is; thirty times faster than isfinite().
        if not torch.stack(tensor.aminmax()).isfinite().all():
            return name
    return ""


class Unset(TorchFunctionMode):
    """Context in which new parameters stay uninitialised: drawing millions of numbers that are then
    replaced takes half of the time of reading a codec.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        if func in _DRAWS:
            return args[0] if args else named["tensor"]
        return func(*args, **named)
