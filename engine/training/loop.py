"""The loop that trains every network here: step, report, validate, save.

Invariants: a step depends only on the recipe's seed, the step's number and, in a schedule of
seconds, on the time spent, so a training that was stopped continues from its last checkpoint with
the same result (on one device and one thread). A checkpoint is complete or absent.

accelerate was tried and left out: it would replace in_bf16() and on_device(), but not the keys,
averages and times of a checkpoint, and it writes the state of the generators as a pickle.
"""

import math
import random
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from engine.assets.pickle_file import read_pickle
from engine.errors import InvalidInput, ModelError
from engine.nn.optimiser import AdamW
from engine.training.recipe import Schedule
from engine.training.run import Run, write_json
from engine.translatable import Translatable

BETAS = (0.9, 0.96)
LENGTHS = 4  # lessons drawn for each that is taken, see length_bucket
VALIDATION_BATCHES = 4
REPORT_SECONDS = 10.0
CHECKPOINT = "checkpoint.pt"  # in a stage's folder
Losses = dict[str, Tensor]
_Batch = TypeVar("_Batch")
_Lesson = TypeVar("_Lesson")


class Learner(ABC):
    """A network with its losses, on a device. A stage makes its learner from the run alone."""

    averaged: str  # the part whose weights are averaged over the steps
    exact: tuple[str, ...] = ()  # prefixes of its keys that are not averaged
    shape: Any = None  # a dataclass that the file of its weights carries

    def __init__(self, run: Run, schedule: Schedule, **parts: nn.Module) -> None:
        """Give all parts one optimiser; a learner that needs more replaces it."""
        self.schedule, self._device = schedule, torch.device(run.device)
        self._batch_size = schedule.batch
        self.parts = nn.ModuleDict(parts).to(run.device)
        self.optimisers = {"all": optimiser(self.parts, schedule)}

    @abstractmethod
    def learn(self, share: float, draw: random.Random) -> Losses:
        """Do one step at a finished share of the schedule; return the losses to report."""

    def validated(self, draw: random.Random) -> Losses:
        """Return the losses of a batch of validation data. Needed unless validate() is replaced."""
        raise NotImplementedError

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the mean losses of VALIDATION_BATCHES batches, always the same ones."""
        draw = random.Random(0)
        with self._eval_mode():
            found = [self.validated(draw) for _ in range(VALIDATION_BATCHES)]
        return {name: sum(float(each[name]) for each in found) / len(found) for name in found[0]}

    @contextmanager
    def _eval_mode(self) -> Iterator[None]:
        """Put the averaged part into eval mode during a validation."""
        model = self.parts[self.averaged].eval()
        yield
        model.train()
        for module in model.modules():  # moshi caches codebooks in eval mode; training moves them
            if "_embedding" in module._buffers:
                module._buffers["_embedding"] = None

    def select(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the part of the averaged weights that is saved."""
        return weights

    def _autocast(self) -> torch.autocast:
        return in_bf16(self._device, asked=self.schedule.bf16)

    def _optimise(self, losses: Losses, **weights: float) -> Losses:
        """Do one optimiser step on the losses' sum, weighted (0 = only reported). Return them."""
        factors = dict.fromkeys(losses, 1.0) | weights
        weighted = [factors[name] * loss for name, loss in losses.items() if factors[name]]
        optimiser_step(torch.stack(weighted).sum(), self.optimisers["all"], self.schedule.clip)
        return {name: loss.detach() for name, loss in losses.items()}


def optimiser(
    module: nn.Module, schedule: Schedule, *, betas: tuple[float, float] = BETAS, scale: float = 1.0
) -> torch.optim.Optimizer:
    """Return AdamW without weight decay for vectors. `scale`: factor on the learning rate."""
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": schedule.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    adam = AdamW(groups, schedule.learning_rate, betas=betas)
    for group in adam.param_groups:
        group["scale"] = scale
    return adam


def optimiser_step(loss: Tensor, optimiser: torch.optim.Optimizer, clip: float) -> None:
    """Do one optimiser step on a loss. Gradients that are not finite change nothing."""
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    parameters = chain.from_iterable(group["params"] for group in optimiser.param_groups)
    if torch.isfinite(nn.utils.clip_grad_norm_(parameters, clip)):
        optimiser.step()


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


def in_bf16(device: torch.device, *, asked: bool) -> torch.autocast:
    """Multiply in bfloat16 if asked and able: without instructions for it, 18 times as slow."""
    abilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    can = any(has for name, has in abilities.items() if name.endswith("bf16"))
    enabled = asked and (can or device.type != "cpu")
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)


def on_device(batch: _Batch, device: torch.device) -> _Batch:
    """Copy a dataclass of tensors to a device."""
    values: Any = batch
    moved = {each.name: getattr(values, each.name).to(device) for each in fields(values)}
    return cast(_Batch, replace(values, **moved))


def length_bucket(
    every: Sequence[_Lesson], draw: random.Random, count: int, longest: float = math.inf
) -> list[_Lesson]:
    """Draw `count` lessons with a similar number of `steps`, so that little is computed for padding
    (SMLLE's steps take two thirds of the time). A lesson may occur twice. Lessons of at most
    `longest` are equally likely. If all are longer, the shortest is drawn.
    """
    length = attrgetter("steps")
    fitting = [each for each in every if length(each) <= longest] or [min(every, key=length)]
    many = sorted(draw.choices(fitting, k=LENGTHS * count), key=length)
    first = count * draw.randrange(LENGTHS)
    return many[first : first + count]


class _Training:
    """A learner, the average of its weights, and the progress of its schedule."""

    def __init__(self, learner: Learner, folder: Path, key: str) -> None:
        """Restore the checkpoint if there is one. InvalidInput for another `key`, ModelError."""
        self.learner, self.schedule = learner, learner.schedule
        self._folder, self._key = folder, key
        self.averaged = learner.parts[learner.averaged]
        self.mean = _copied(self.averaged.state_dict())
        self.best: dict[str, Any] = {"loss": math.inf, "weights": {}}
        self.step = 0
        self._begun = time.monotonic()
        if (folder / CHECKPOINT).is_file():
            self._restore(folder / CHECKPOINT)

    @property
    def share(self) -> float:
        """The finished share of the schedule's steps or seconds."""
        schedule, spent = self.schedule, time.monotonic() - self._begun
        timed = spent / schedule.seconds if schedule.seconds else 0.0
        return max(self.step / schedule.steps, timed)

    def advance(self, run: Run, share: float) -> Losses:
        """Do the next step, and move the averaged weights towards the current ones."""
        draw = random.Random(f"{run.recipe.seed} {self.learner.averaged} {self.step}")
        torch.manual_seed(draw.getrandbits(31))
        for each in self.learner.optimisers.values():
            for group in each.param_groups:
                group["lr"] = learning_rate(self.schedule, self.step, share) * group["scale"]
        # On a CPU, torch's plain attention: in short windows the backward pass of its fused one is
        # slower (without it, a step of the voice takes 0.82 to 0.91 of the time, one of the codec
        # 0.91 to 0.93).
        with sdpa_kernel(SDPBackend.MATH) if run.device == "cpu" else nullcontext():
            losses = self.learner.learn(share, draw)
        share = min(self.schedule.average, self.step / (self.step + 10))  # of the old average
        for name, value in self.averaged.state_dict().items():
            if value.is_floating_point() and not name.startswith(self.learner.exact):
                self.mean[name].lerp_(value, 1 - share)
            else:
                self.mean[name].copy_(value)
        self.step += 1
        return losses

    def validate_and_save(self, *, ends: bool) -> None:
        """Validate the averaged weights and save a checkpoint, at intervals and at the end."""
        step, schedule = self.step, self.schedule
        if step % schedule.validate_every == 0 or ends:
            current = _copied(self.averaged.state_dict())
            self.averaged.load_state_dict(self.mean)  # what the stage saves
            found = {"step": step, **self.learner.validate()}
            self.averaged.load_state_dict(current)
            write_json(self._folder / f"validation-{step:06d}.json", found)
            if schedule.best and found[schedule.best] < self.best["loss"]:
                self.best = {"loss": found[schedule.best], "weights": _copied(self.mean)}
        if step % schedule.checkpoint_every == 0 or ends:
            optimisers = self.learner.optimisers.items()
            content = {
                "key": self._key,
                "step": step,
                "seconds": time.monotonic() - self._begun,
                "parts": self.learner.parts.state_dict(),
                "optimisers": {name: each.state_dict() for name, each in optimisers},
                "mean": self.mean,
                "best": self.best,
            }
            partial = self._folder / "checkpoint.partial"
            torch.save(content, partial)
            partial.replace(self._folder / CHECKPOINT)

    def _restore(self, file: Path) -> None:
        found = read_pickle(file, Translatable("The checkpoint"), "Delete it to begin again.")
        if found.get("key") != self._key:
            raise InvalidInput(
                f"The checkpoint {file} was trained with another recipe or corpus.",
                hint="Restore the recipe, or begin anew with --again.",
            )
        self.learner.parts.load_state_dict(found["parts"])
        for name, optimiser in self.learner.optimisers.items():
            optimiser.load_state_dict(found["optimisers"][name])
        for name, value in self.mean.items():
            value.copy_(found["mean"][name])
        self.best, self.step = found["best"], found["step"]
        self._begun = time.monotonic() - found["seconds"]


def _copied(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in weights.items()}


def train(run: Run, stage: str, learner: Learner, key: str) -> dict[str, Tensor]:
    """Train a learner until its schedule ends; return its averaged weights. `key` = fingerprint of
    the recipe and of its training data, which a checkpoint carries. ModelError when a loss is not
    finite; InvalidInput when there is a checkpoint with another key.
    """
    training, reported = _Training(learner, run.stage(stage), key), -math.inf
    share = training.share
    while share < 1:
        losses = {name: float(loss) for name, loss in training.advance(run, share).items()}
        if not all(map(math.isfinite, losses.values())):
            hint = "Lower the learning rate; the last checkpoint is from before."
            raise ModelError(f"The training of '{stage}' diverged: {losses}.", hint=hint)
        share = training.share
        if time.monotonic() - reported >= REPORT_SECONDS or share >= 1:
            reported = time.monotonic()
            shown = " ".join(f"{name} {value:.3f}" for name, value in losses.items())
            sys.stderr.write(f"{stage} {share:6.1%} step {training.step} {shown}\n")
        training.validate_and_save(ends=share >= 1)
    weights = training.best["weights"] if learner.schedule.best else training.mean
    return {name: value.cpu() for name, value in weights.items()}
