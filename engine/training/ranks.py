"""Several processes that train one network: which one this is, and the mean of all gradients.

torchrun starts them and says to each its rank; without it there is one. Each learns from lessons of
its own, and the first one reports, validates and writes. Invariant: after `average` all hold the
same gradients, so their weights never diverge.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn

import torch
from torch import Tensor, distributed, nn


def rank() -> int:
    return int(os.environ.get("RANK", "0"))


def count() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this process reports and writes."""
    return rank() == 0


@contextmanager
def joined(device: str) -> Iterator[torch.device]:
    """Meets the other processes, if any; the device this one computes on. All leave together."""
    place = torch.device(device)
    if place.type == "cuda" and count() > 1:
        place = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(place)
    if count() == 1:
        yield place
        return
    distributed.init_process_group("nccl" if place.type == "cuda" else "gloo")
    try:
        yield place
        distributed.barrier()
    finally:
        distributed.destroy_process_group()


def average(parameters: Sequence[nn.Parameter]) -> None:
    """Replace gradients by their mean over all processes; a missing one counts as zero."""
    if count() == 1:
        return
    gradients = list[Tensor]()
    for parameter in parameters:
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad)
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    distributed.all_reduce(flat)
    flat /= count()
    sizes = [gradient.numel() for gradient in gradients]
    for gradient, mean in zip(gradients, torch.split(flat, sizes), strict=True):
        gradient.copy_(mean.view_as(gradient))


def agree(values: Mapping[str, float], device: torch.device) -> dict[str, float]:
    """Means of numbers over all processes."""
    if count() == 1:
        return dict(values)
    flat = torch.tensor([values[name] for name in sorted(values)], device=device)
    distributed.all_reduce(flat)
    return {name: float(flat[n]) / count() for n, name in enumerate(sorted(values))}


def leave(status: int) -> NoReturn:
    """End this process. Of several, skip the interpreter's own shutdown: threads of gloo that are
    still ending can abort it ("terminate called without an active exception", seen once on a loaded
    machine) although all work was done and saved.
    """
    if count() == 1:
        sys.exit(status)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
