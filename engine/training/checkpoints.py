"""Everything a training run needs to continue, in one safetensors file.

Invariant: a checkpoint is complete or absent, and a run continued from it gives the same result as
one without a break (on one device and one thread).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from engine.errors import InvalidInput, ModelError


@dataclass(frozen=True)
class Reached:
    """How far a training is: steps done, and the seconds they took."""

    step: int
    seconds: float = 0.0


def save(
    file: Path,
    reached: Reached,
    parts: dict[str, nn.Module],
    optimisers: dict[str, torch.optim.Optimizer],
    mean: dict[str, Tensor],
    key: str = "",
) -> None:
    """Write weights, optimisers and averaged weights; `key` = fingerprint of the recipe and the
    corpus."""
    tensors = {f"mean/{key}": value for key, value in mean.items()}
    for name, part in parts.items():
        tensors |= {f"part/{name}/{key}": value for key, value in part.state_dict().items()}
    for name, optimiser in optimisers.items():
        for number, state in optimiser.state_dict()["state"].items():
            tensors |= {
                f"optimiser/{name}/{number}/{key}": torch.as_tensor(value)
                for key, value in state.items()
            }
    partial = file.with_suffix(".partial")
    plain = {key: value.detach().cpu().contiguous().clone() for key, value in tensors.items()}
    about = {"step": str(reached.step), "seconds": str(reached.seconds), "key": key}
    save_file(plain, partial, about)
    partial.replace(file)


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


def load(
    file: Path,
    parts: dict[str, nn.Module],
    optimisers: dict[str, torch.optim.Optimizer],
    mean: dict[str, Tensor],
    key: str = "",
) -> Reached:
    """Restore a checkpoint and return how far the training was when it was saved, 0 when there is
    none. InvalidInput when it was saved with another `key`, ModelError when it cannot be read.
    """
    if not file.is_file():
        return Reached(0)
    if metadata(file).get("key") != key:
        raise InvalidInput(
            "The checkpoint {file} was trained with another recipe or corpus.",
            hint="Restore the recipe, or begin anew with --again.",
            file=file,
        )
    try:
        with safe_open(str(file), framework="pt") as handle:  # type: ignore[no-untyped-call]
            about = handle.metadata()
            reached = Reached(int(about["step"]), float(about.get("seconds", 0)))
            tensors = {key: handle.get_tensor(key) for key in handle.keys()}  # noqa: SIM118
        for name, part in parts.items():
            part.load_state_dict(_below(tensors, f"part/{name}/"))
        for name, optimiser in optimisers.items():
            _load_optimiser(optimiser, _below(tensors, f"optimiser/{name}/"))
    except (OSError, SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise ModelError(
            "The checkpoint {file} does not fit this recipe: {error}",
            hint="Delete it to begin again.",
            file=file,
            error=error,
        ) from error
    for key, value in _below(tensors, "mean/").items():
        mean[key].copy_(value)
    return reached


def _below(tensors: dict[str, Tensor], start: str) -> dict[str, Tensor]:
    return {key[len(start) :]: value for key, value in tensors.items() if key.startswith(start)}


def _load_optimiser(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    content = optimiser.state_dict()
    state: dict[int, dict[str, Any]] = {}
    for key, value in tensors.items():
        number, name = key.split("/")
        state.setdefault(int(number), {})[name] = value
    content["state"] = state
    optimiser.load_state_dict(content)
