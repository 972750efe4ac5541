"""Checks of a voice's tensors before a network gets them.

Invariant: a tensor that does not fit is an InvalidInput with the voice's name and the fault.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.errors import InvalidInput
from engine.tts.base import Voice


def array_of(voice: Voice, name: str) -> npt.NDArray[Any]:
    """Return a tensor of the voice. InvalidInput when it is missing."""
    if name not in voice.tensors:
        raise unfit(voice, f"no '{name}'")
    return voice.tensors[name]


def whole_numbers(voice: Voice, name: str, below: int, dimensions: int = 1) -> Tensor:
    """Return a tensor of integers from 0 to `below` - 1, not empty, as int64."""
    values = array_of(voice, name)
    whole = np.issubdtype(values.dtype, np.integer) and values.ndim == dimensions
    if not whole or not values.size or values.min() < 0 or values.max() >= below:
        raise unfit(voice, f"'{name}' of shape {list(values.shape)}, not numbers below {below}")
    return torch.from_numpy(values.astype(np.int64))


def real_numbers(voice: Voice, name: str, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor of finite numbers with this shape as fp32."""
    values = array_of(voice, name)
    if values.shape != shape or not np.isfinite(values).all():
        found = f"'{name}' of shape {list(values.shape)}"
        raise unfit(voice, f"{found}, not finite numbers of shape {list(shape)}")
    return torch.from_numpy(values.astype(np.float32))


def prompt_codes(voice: Voice, codebooks: int, codes: int, longest: int) -> Tensor:
    """Return the voice's codes [K, P] of 2 to `longest` frames. Codebooks after the first K are
    left out.
    """
    found = whole_numbers(voice, "codes", codes, dimensions=2)
    rows, frames = found.shape
    if rows < codebooks or not 2 <= frames <= longest:
        raise unfit(voice, f"codes [{rows}, {frames}], not [{codebooks}, 2 to {longest}]")
    return found[:codebooks]


def unfit(voice: Voice, what: str) -> InvalidInput:
    """Return the error for a voice that a model cannot use."""
    return InvalidInput(
        "The voice '{name}' does not fit: it holds {what}.",
        hint="Make the voice again from its recording.",
        name=voice.name,
        what=what,
    )
