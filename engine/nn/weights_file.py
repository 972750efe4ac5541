"""Networks from safetensors files, which may contain the network's shape beside its weights. These
are in fp32, half precision, or int8 with one scale per row.

    name             int8 [..., n], or a floating tensor as it is
    name.row_scale   fp32 [..., 1], only where name is int8: the weight is their product

Invariant: reading gives fp32, whatever the stored type; every tensor fits the network and is
finite, or a ModelError names the file.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.nn import init
from torch.overrides import TorchFunctionMode

from engine.errors import ModelError
from engine.nn.transformer import TransformerConfig
from engine.settings.rules import Range
from engine.translatable import Translatable
from engine.typed_values import build, json_object

SHAPE_KEY: Final = "config"
REFETCH: Final = Translatable("Fetch the model again.")
ROW_SCALE: Final = ".row_scale"
SMALLEST: Final = 4096  # elements; below, int8 saves nothing that counts
SHORTEST_ROW: Final = 32  # elements; below, the scales take too much
LARGEST: Final = 127  # of int8; -128 is not used
KINDS: Final = ("F32", "BF16", "F16", "I8")  # that may hold weights, as safetensors calls them
_DRAWS: Final = frozenset(
    (init.kaiming_uniform_, init.uniform_, init.normal_, Tensor.uniform_, Tensor.normal_)
)
_Shape = TypeVar("_Shape")
_Network = TypeVar("_Network", bound=nn.Module)


def shape_metadata(shape: Any) -> dict[str, str]:
    """Return the metadata of a safetensors file that describe the network's shape."""
    return {SHAPE_KEY: json.dumps(asdict(shape), default=lambda member: member.value)}


def read_shape(kind: type[_Shape], text: str, *, ignore_unknown: bool = False) -> _Shape:
    """Return the shape in a file, each size within its Range. ValueError if it is missing or cannot
    be built.
    """
    if not text:
        raise ValueError("it does not say its shape")
    shape = build(kind, json_object(text), ignore_unknown=ignore_unknown)
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
    if not file.is_file():
        raise ModelError("{what} {file} is not there.", hint=hint, what=what, file=file)
    try:
        with safe_open(str(file), framework="pt") as handle:  # type: ignore[no-untyped-call]
            about: dict[str, str] = handle.metadata() or {}
            tensors = {name: read(handle, name) for name in names(handle)}
        with Unset():
            network = network_of(about.get(SHAPE_KEY, ""))
        network.load_state_dict(tensors, assign=True)
        check_finite(tensors.items())
    except (OSError, SafetensorError, ValueError, RuntimeError) as error:
        raise ModelError(
            "{what} {file} cannot be used: {error}",
            hint=hint,
            what=what,
            file=file,
            error=error,
        ) from error
    return network.eval().requires_grad_(requires_grad=False)


def check_shapes(expected: Mapping[str, Sequence[int]], found: Mapping[str, Sequence[int]]) -> None:
    """ValueError names the first tensor of a file that is missing, has another shape, or is not
    expected.
    """
    for key, shape in expected.items():
        if key not in found:
            raise ValueError(f"it lacks '{key}', expected {list(shape)}")
        if list(found[key]) != list(shape):
            raise ValueError(f"'{key}' has shape {list(found[key])}, expected {list(shape)}")
    for key in sorted(set(found) - set(expected)):
        raise ValueError(f"it holds '{key}', which is not expected")


def check_finite(tensors: Iterable[tuple[str, Tensor]]) -> None:
    """ValueError names the first tensor that contains NaN or infinity. One NaN in a file would turn
    all speech into silence or noise, without any error.
    """
    for name, tensor in tensors:
        if not tensor.is_floating_point() or not tensor.numel():
            continue
        # Both ends are NaN when one element is; thirty times faster than isfinite().
        if not torch.stack(tensor.aminmax()).isfinite().all():
            raise ValueError(f"'{name}' holds NaN or infinity")


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


# ---------------------------------------------------------------------- stored weights


def full(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors unchanged."""
    return {name: tensor.contiguous().clone() for name, tensor in tensors.items()}


def halved(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return floating numbers in half precision."""
    return full(
        {n: each.half() if each.is_floating_point() else each for n, each in tensors.items()}
    )


def in_int8(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return large tensors in int8 with their scales, the others in half precision."""
    entries = halved(tensors)
    for name, tensor in tensors.items():
        if rows := _row_dimensions(tensor):
            weight = tensor.float()
            scale = weight.abs().amax(rows, keepdim=True) / LARGEST
            # A row of zeros has none.
            codes = torch.round(weight / scale.clamp(min=torch.finfo(torch.float32).tiny))
            entries[name], entries[name + ROW_SCALE] = codes.to(torch.int8), scale
    return entries


def names(handle: Any) -> list[str]:
    """Return the names of the tensors in an open safetensors file, without their scales."""
    return [name for name in handle.keys() if not name.endswith(ROW_SCALE)]  # noqa: SIM118


def check(handle: Any, name: str) -> None:
    """ValueError for a tensor that is not of KINDS, or whose scales are wrong."""
    kind = handle.get_slice(name).get_dtype()
    if kind not in KINDS:
        raise ValueError(f"'{name}' holds {kind}, expected F32, BF16, F16 or I8")
    check_scales(handle, name)


def check_scales(handle: Any, name: str) -> None:
    """ValueError for an int8 tensor whose scales are missing or do not fit."""
    tensor, scales = handle.get_slice(name), name + ROW_SCALE
    if tensor.get_dtype() != "I8":
        return
    if scales not in handle.keys():  # noqa: SIM118
        raise ValueError(f"'{name}' holds I8 without its scales")
    shape, rows = tensor.get_shape(), handle.get_slice(scales).get_shape()
    if len(shape) != len(rows) or any(
        size not in (1, full) for size, full in zip(rows, shape, strict=True)
    ):
        raise ValueError(f"'{name}' does not fit its scales")


def read(handle: Any, name: str) -> Tensor:
    """Return a tensor in fp32. ValueError as check_scales()."""
    check_scales(handle, name)
    tensor: Tensor = handle.get_tensor(name)
    if tensor.dtype is not torch.int8:
        return tensor.float()
    scale: Tensor = handle.get_tensor(name + ROW_SCALE)
    return tensor.float() * scale.float()


def load(file: Path) -> dict[str, Tensor]:
    """Return all tensors of a file in fp32. OSError, SafetensorError, ValueError if damaged."""
    with safe_open(str(file), framework="pt") as handle:  # type: ignore[no-untyped-call]
        return {name: read(handle, name) for name in names(handle)}


def _row_dimensions(tensor: Tensor) -> tuple[int, ...]:
    """Return the dimensions that share a scale: the last one, or for a convolution, whose kernels
    are short, all but the first. Empty = the tensor is too small for int8.
    """
    if not tensor.is_floating_point() or tensor.dim() < 2 or tensor.numel() < SMALLEST:
        return ()
    if tensor.shape[-1] >= SHORTEST_ROW:
        return (tensor.dim() - 1,)
    short = tensor[0].numel() < SHORTEST_ROW
    return () if short else tuple(range(1, tensor.dim()))
