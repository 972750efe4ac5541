"""Everything a training run needs to continue, in one file.

Invariant: a checkpoint is complete or absent, and a run continued from it gives the same result as
one without a break (on one device and one thread).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from engine.assets.pickle_file import read_pickle
from engine.errors import InvalidInput, ModelError
from engine.translatable import Translatable


@dataclass(frozen=True)
class Reached:
    """How far a training is: steps done, and the seconds they took."""

    step: int
    seconds: float = 0.0


def save(
    file: Path,
    reached: Reached,
    parts: Mapping[str, nn.Module],
    optimisers: Mapping[str, torch.optim.Optimizer],
    mean: Mapping[str, Tensor],
    key: str = "",
) -> None:
    """Write weights, optimisers and averaged weights; `key` = fingerprint of the recipe and the
    corpus."""
    content = {
        "key": key,
        "step": reached.step,
        "seconds": reached.seconds,
        "parts": {name: part.state_dict() for name, part in parts.items()},
        "optimisers": {name: each.state_dict() for name, each in optimisers.items()},
        "mean": dict(mean),
    }
    partial = file.with_suffix(".partial")
    torch.save(content, partial)
    partial.replace(file)


def load(
    file: Path,
    parts: Mapping[str, nn.Module],
    optimisers: Mapping[str, torch.optim.Optimizer],
    mean: Mapping[str, Tensor],
    key: str = "",
) -> Reached:
    """Restore a checkpoint and return how far the training was when it was saved, 0 when there is
    none. InvalidInput when it was saved with another `key`, ModelError when it cannot be read.
    """
    if not file.is_file():
        return Reached(0)
    hint = "Delete it to begin again."
    found = read_pickle(file, Translatable("The checkpoint"), hint)
    if found.get("key") != key:
        raise InvalidInput(
            "The checkpoint {file} was trained with another recipe or corpus.",
            hint="Restore the recipe, or begin anew with --again.",
            file=file,
        )
    try:
        for name, part in parts.items():
            part.load_state_dict(found["parts"][name])
        for name, optimiser in optimisers.items():
            optimiser.load_state_dict(found["optimisers"][name])
        for name, value in mean.items():
            value.copy_(found["mean"][name])
        return Reached(found["step"], found["seconds"])
    except (KeyError, ValueError, RuntimeError) as error:
        raise ModelError(
            "The checkpoint {file} does not fit this recipe: {error}",
            hint=hint,
            file=file,
            error=error,
        ) from error


def metadata(file: Path) -> dict[str, str]:
    """The metadata of a safetensors file. ModelError when it cannot be read."""
    try:
        with safe_open(str(file), framework="pt") as handle:  # type: ignore[no-untyped-call]
            entries: dict[str, str] = handle.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise ModelError(
            "{file} cannot be read: {error}.", hint="Make it again.", file=file, error=error
        ) from error
    return entries
