"""Storage of a network's weights in a safetensors file: fp32, half precision, or int8 with one
scale per row.

    name             int8 [..., n], or a floating tensor as it is
    name.row_scale   fp32 [..., 1], only where name is int8: the weight is their product

Invariant: reading gives fp32, whatever the stored type.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

ROW_SCALE: Final = ".row_scale"
SMALLEST: Final = 4096  # elements; below, int8 saves nothing that counts
SHORTEST_ROW: Final = 32  # elements; below, the scales take too much
LARGEST: Final = 127  # of int8; -128 is not used
KINDS: Final = ("F32", "BF16", "F16", "I8")  # that may hold weights, as safetensors calls them


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
    from safetensors import safe_open

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
