"""The parts of a training step: batches of similar length, devices, precision, the optimiser."""

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from engine.nn.optimiser import AdamW
from engine.training.recipe import Schedule

BETAS = (0.9, 0.96)
LENGTHS = 4  # lessons drawn for each that is taken, see length_bucket
_Batch = TypeVar("_Batch")
_Lesson = TypeVar("_Lesson")


def optimiser(
    module: nn.Module,
    schedule: Schedule,
    *,
    betas: tuple[float, float] = BETAS,
    scale: float = 1.0,
) -> torch.optim.Optimizer:
    """Return AdamW without weight decay for vectors (norms, biases). `scale`: factor on the
    schedule's learning rate.
    """
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": schedule.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    fused = all(parameter.is_cuda for parameter in parameters)
    adam = AdamW(groups, schedule.learning_rate, betas=betas, fused=fused)
    for group in adam.param_groups:
        group["scale"] = scale
    return adam


def in_bf16(device: torch.device | str, *, asked: bool) -> torch.autocast:
    """Multiply in bfloat16 where a recipe asks for it and the machine has the instructions for it:
    without them a processor takes 18 times as long for a step.
    """
    kind = torch.device(device).type
    abilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    can = kind != "cpu" or any(has for name, has in abilities.items() if name.endswith("bf16"))
    return torch.autocast(kind, torch.bfloat16, enabled=asked and can)


def optimiser_step(loss: Tensor, optimiser: torch.optim.Optimizer, clip: float) -> None:
    """Do one optimiser step on a loss. Gradients that are not finite change nothing."""
    parameters: list[nn.Parameter] = [
        parameter for group in optimiser.param_groups for parameter in group["params"]
    ]
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    norm = nn.utils.clip_grad_norm_(parameters, clip)
    if optimiser.defaults["fused"]:
        # As torch's gradient scaler does it: the device itself decides, and the host does not wait.
        scaled: Any = optimiser
        scaled.found_inf = (~torch.isfinite(norm)).float()
        optimiser.step()
    elif torch.isfinite(norm):
        optimiser.step()


def length_bucket(
    everything: Iterable[_Lesson],
    length: Callable[[_Lesson], float],
    draw: random.Random,
    count: int,
    *,
    longest: float = math.inf,
) -> list[_Lesson]:
    """Draw `count` lessons of similar length, so that little is computed for padding (SMLLE's steps
    take two thirds of the time). A lesson may occur twice. Lessons of at most `longest` are equally
    likely. If all are longer, the shortest is drawn.
    """
    every = list(everything)
    fitting = [each for each in every if length(each) <= longest] or [min(every, key=length)]
    many = sorted(draw.choices(fitting, k=LENGTHS * count), key=length)
    first = count * draw.randrange(LENGTHS)
    return many[first : first + count]


def on_device(batch: _Batch, device: torch.device) -> _Batch:
    """Copy a dataclass of tensors to a device."""
    values: Any = batch
    tensors = {each.name: getattr(values, each.name) for each in fields(values)}
    if device.type == "cuda":  # from pinned memory the host does not wait for the copy
        tensors = {name: tensor.pin_memory() for name, tensor in tensors.items()}
    moved = {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}
    together: _Batch = replace(values, **moved)
    return together


def learning_rate(schedule: Schedule, step: int, share: float) -> float:
    """Return the learning rate of a step: a linear warm-up, a constant part, then a half cosine
    down to the schedule's last rate. `share`: the finished share of the schedule.
    """
    warm = min(1.0, (step + 1) / max(1, schedule.warmup))
    if share < schedule.decay_from:
        return schedule.learning_rate * warm
    fallen = (share - schedule.decay_from) / max(1e-9, 1 - schedule.decay_from)
    left = 0.5 * (1 + math.cos(math.pi * min(1.0, fallen)))
    return schedule.learning_rate * warm * (schedule.last_rate + (1 - schedule.last_rate) * left)
