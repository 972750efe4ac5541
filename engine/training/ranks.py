"""Several processes that train one network: who am I, and the mean of everybody's gradients.

torchrun tells each process its rank; without it there is one. Gradients are averaged here and not
by a wrapper, so that a network is the same object in one process and in several. Invariant: after
`average` all processes hold the same gradients, so their weights never diverge.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

import torch
from torch import Tensor, distributed, nn


@dataclass(frozen=True)
class Ranks:
    """This process among `count`, and the device it computes on."""

    rank: int
    count: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this process reports and saves."""
        return self.rank == 0

    def part(self, batch: int) -> int:
        """This process's part of a batch."""
        return max(1, batch // self.count)


def is_first() -> bool:
    """Whether this process writes the common results; true when it is alone."""
    return int(os.environ.get("RANK", "0")) == 0


@contextmanager
def joined(device: str) -> Iterator[Ranks]:
    """Meet the other processes that torchrun started, if any."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    rank = int(os.environ.get("RANK", "0"))
    place = torch.device(device)
    if place.type == "cuda":
        place = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(place)
    if count == 1:
        yield Ranks(0, 1, place)
        return
    distributed.init_process_group("nccl" if place.type == "cuda" else "gloo")
    try:
        yield Ranks(rank, count, place)
        distributed.barrier()  # no process disconnects while another is still sending
    finally:
        distributed.destroy_process_group()


def leave(status: int) -> NoReturn:
    """End this process. With several processes, skip the interpreter's own shutdown: threads of
    gloo that are still ending can abort it ("terminate called without an active exception", seen
    once on a loaded machine) although all work was done and saved.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        sys.exit(status)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def average(parameters: Iterable[nn.Parameter], ranks: Ranks) -> None:
    """Replace gradients by their mean over all processes; a missing one counts as zero."""
    if ranks.count == 1:
        return
    listed = [parameter for parameter in parameters if parameter.requires_grad]
    for parameter in listed:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    gradients = [parameter.grad for parameter in listed if parameter.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    distributed.all_reduce(flat)
    flat /= ranks.count
    sizes = [gradient.numel() for gradient in gradients]
    for gradient, mean in zip(gradients, torch.split(flat, sizes), strict=True):
        gradient.copy_(mean.view_as(gradient))


def agree(values: dict[str, float], ranks: Ranks) -> dict[str, float]:
    """Means of numbers over all processes."""
    if ranks.count == 1:
        return values
    flat: Tensor = torch.tensor([values[name] for name in sorted(values)], device=ranks.device)
    distributed.all_reduce(flat)
    return {name: float(flat[n]) / ranks.count for n, name in enumerate(sorted(values))}


def any_asks(ask: bool, ranks: Ranks) -> bool:
    """Whether any process was asked to stop, so that all stop at the same step."""
    if ranks.count == 1:
        return ask
    flag = torch.tensor(float(ask), device=ranks.device)
    distributed.all_reduce(flag)
    return bool(flag > 0)
