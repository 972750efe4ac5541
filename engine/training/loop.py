"""The loop that trains every network here: step, report, validate, save, stop when asked.

Invariants: a step depends only on the recipe's seed, the step's number and, in a schedule of
seconds, on the time spent, so a stopped training continues with the same result (on one device and
one thread). A checkpoint is complete or absent. Between two reports nothing waits for the device.

accelerate was tried and left out: it would replace in_bf16() and on_device(), which ask what a
processor can do and pin memory, but not the keys, averages and times of a checkpoint, and it writes
the state of the generators as a pickle.
"""

import math
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim.swa_utils import get_ema_multi_avg_fn

from engine.assets.pickle_file import read_pickle
from engine.errors import InvalidInput, ModelError
from engine.nn.weights_file import shape_metadata
from engine.training.recipe import Schedule
from engine.training.run import (
    Run,
    StageProgress,
    fingerprint,
    metadata,
    stop_signal,
    stopped,
    write_json,
)
from engine.training.steps import (
    in_bf16,
    learning_rate,
    length_bucket,
    on_device,
    optimiser,
    optimiser_step,
)
from engine.translatable import Translatable

VALIDATION_BATCHES = 4
LOOK_STEPS = 25  # between two reports of losses on a graphics card, which each wait for it
CHECKPOINT, BEST = "checkpoint.pt", "best.safetensors"  # in a stage's folder
Losses = dict[str, Tensor]
_Batch = TypeVar("_Batch")
_Lesson = TypeVar("_Lesson")


@dataclass(frozen=True)
class StepContext:
    """The state at a step of a training: number, finished share of the schedule, random
    generator.
    """

    step: int
    share: float
    draw: random.Random


class Learner(ABC):
    """A network with its losses, on a device."""

    averaged: str  # the part whose weights are averaged over the steps
    exact: tuple[str, ...] = ()  # prefixes of its keys that are not averaged
    shape: Any = None  # a dataclass that the file of its weights carries

    def __init__(self, schedule: Schedule, device: torch.device, **parts: nn.Module) -> None:
        """Give all parts one optimiser; a learner that needs more replaces it."""
        self.schedule, self._device = schedule, device
        self._batch_size = schedule.batch
        every = nn.ModuleList(parts.values()).to(device)
        self.parts = parts
        self.optimisers = {"all": optimiser(every, schedule)}

    @abstractmethod
    def learn(self, context: StepContext) -> Losses:
        """Do one step; return the losses to report, still on the device."""

    def validated(self, draw: random.Random) -> Mapping[str, Tensor]:
        """Return the losses of a batch of validation data. Needed unless validate() is replaced."""
        raise NotImplementedError

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Return the mean losses on validation data, in eval mode."""
        return mean_losses(self.validated, self.parts[self.averaged])

    def select(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the part of the averaged weights that is saved."""
        return weights

    def _autocast(self) -> torch.autocast:
        return in_bf16(self._device, asked=self.schedule.bf16)

    def _move(self, batch: _Batch) -> _Batch:
        """Copy a dataclass of tensors to the device."""
        return on_device(batch, self._device)

    def _bucket(
        self,
        people: Mapping[int, Iterable[_Lesson]],
        length: Callable[[_Lesson], float],
        draw: random.Random,
        longest: float = math.inf,
    ) -> list[_Lesson]:
        """Draw a batch of lessons of similar length, at most `longest`."""
        every = chain.from_iterable(people.values())
        return length_bucket(every, length, draw, self._batch_size, longest=longest)

    def _optimise(self, losses: Mapping[str, Tensor], total: Tensor | None = None) -> Losses:
        """Do one optimiser step on `total` (None = the sum of the losses). Return the losses to
        report.
        """
        if total is None:
            total = torch.stack(list(losses.values())).sum()
        optimiser_step(total, self.optimisers["all"], self.schedule.clip)
        return {name: loss.detach() for name, loss in losses.items()}


Maker = Callable[[torch.device], Learner]
"""Makes a learner on a device."""


class _Training:
    """A learner, the average of its weights, and the progress of its schedule."""

    def __init__(self, learner: Learner, folder: Path, key: str) -> None:
        """Restore the checkpoint in a stage's folder, if there is one. InvalidInput when it was
        saved with another `key`, ModelError when it cannot be read.
        """
        self.learner, self.schedule = learner, learner.schedule
        self._folder, self._key = folder, key
        self.averaged = learner.parts[learner.averaged]
        self.mean = {name: value.clone() for name, value in self.averaged.state_dict().items()}
        self.step = 0
        self._begun = time.monotonic()
        if (folder / CHECKPOINT).is_file():
            self._restore(folder / CHECKPOINT)

    @property
    def seconds(self) -> float:
        """The time spent on all steps, including those before an interruption."""
        return time.monotonic() - self._begun

    @property
    def share(self) -> float:
        """The finished share of the schedule's steps or seconds."""
        schedule = self.schedule
        timed = self.seconds / schedule.seconds if schedule.seconds else 0.0
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
            losses = self.learner.learn(StepContext(self.step, share, draw))
        self._average(min(self.schedule.average, self.step / (self.step + 10)))
        self.step += 1
        return losses

    def validate_and_save(self, *, ends: bool) -> None:
        """Validate the averaged weights and save a checkpoint, each at its own interval. At the end
        of the training (`ends`) do both.
        """
        step, schedule = self.step, self.schedule
        if step % schedule.validate_every == 0 or ends:
            with self._averaged_weights():
                found = {"step": step, **self.learner.validate()}
            write_json(self._folder / f"validation-{step:06d}.json", found)
            if schedule.best:
                self._save_best(schedule.best, found[schedule.best])
        if step % schedule.checkpoint_every == 0 or ends:
            self._save()

    def result(self) -> dict[str, Tensor]:
        """Return the averaged weights on the CPU: the last ones, or the best if the schedule says
        so.
        """
        weights = load_file(self._folder / BEST) if self.schedule.best else self.mean
        return {name: value.cpu() for name, value in weights.items()}

    def _average(self, share: float) -> None:
        """Move the averaged weights towards the current ones; `share` of the old average stays."""
        followers, leaders = list[Tensor](), list[Tensor]()
        for name, value in self.averaged.state_dict().items():
            if value.is_floating_point() and not name.startswith(self.learner.exact):
                followers.append(self.mean[name])
                leaders.append(value)
            else:
                self.mean[name].copy_(value)
        if followers:
            follow = get_ema_multi_avg_fn(share)  # type: ignore[no-untyped-call]
            follow(followers, leaders, share)

    @contextmanager
    def _averaged_weights(self) -> Iterator[None]:
        """Give the network the averaged weights during a validation, because those are the ones
        that a stage saves.
        """
        current = {name: value.clone() for name, value in self.averaged.state_dict().items()}
        self.averaged.load_state_dict(self.mean)
        try:
            yield
        finally:
            self.averaged.load_state_dict(current)

    def _save_best(self, name: str, loss: float) -> None:
        """Save the averaged weights if the loss `name` is lower than ever before."""
        file = self._folder / BEST
        if file.is_file() and loss >= float(metadata(file)[name]):
            return
        partial = file.with_suffix(".partial")
        save_file(
            {key: value.cpu() for key, value in self.mean.items()}, partial, {name: str(loss)}
        )
        partial.replace(file)

    def _save(self) -> None:
        parts, optimisers = self.learner.parts, self.learner.optimisers
        content = {
            "key": self._key,
            "step": self.step,
            "seconds": self.seconds,
            "parts": {name: part.state_dict() for name, part in parts.items()},
            "optimisers": {name: each.state_dict() for name, each in optimisers.items()},
            "mean": self.mean,
        }
        partial = self._folder / "checkpoint.partial"
        torch.save(content, partial)
        partial.replace(self._folder / CHECKPOINT)

    def _restore(self, file: Path) -> None:
        hint = "Delete it to begin again."
        found = read_pickle(file, Translatable("The checkpoint"), hint)
        if found.get("key") != self._key:
            raise InvalidInput(
                "The checkpoint {file} was trained with another recipe or corpus.",
                hint="Restore the recipe, or begin anew with --again.",
                file=file,
            )
        try:
            for name, part in self.learner.parts.items():
                part.load_state_dict(found["parts"][name])
            for name, optimiser in self.learner.optimisers.items():
                optimiser.load_state_dict(found["optimisers"][name])
            for name, value in self.mean.items():
                value.copy_(found["mean"][name])
            self.step, self._begun = found["step"], time.monotonic() - found["seconds"]
        except (KeyError, ValueError, RuntimeError) as error:
            raise ModelError(
                "The checkpoint {file} does not fit this recipe: {error}",
                hint=hint,
                file=file,
                error=error,
            ) from error


def train(run: Run, name: str, make: Maker, key: str = "") -> tuple[Learner, dict[str, Tensor]]:
    """Train the learner that `make` returns until its schedule ends; return it and its averaged
    weights. `key` = fingerprint of the recipe and of its training data, which a checkpoint carries.

    Raises Cancelled, after saving, when the person stops it; ModelError when a loss is not finite;
    InvalidInput when there is a checkpoint with another key.
    """
    with stop_signal() as is_asked_to_stop:
        torch.manual_seed(run.recipe.seed)
        training = _Training(make(torch.device(run.device)), run.stage(name), key)
        share = training.share
        progress = StageProgress(name, 1.0, share)
        while share < 1:
            losses = training.advance(run, share)
            share = training.share
            if run.device == "cpu" or training.step % LOOK_STEPS == 0 or share >= 1:
                progress.report(share, f"step {training.step} {_shown(losses, name)}")
            stop = is_asked_to_stop()
            training.validate_and_save(ends=stop or share >= 1)
            if stop:
                raise stopped()
        return training.learner, training.result()


def train_and_save(run: Run, stage: str, make: Maker, inputs: Mapping[str, str]) -> None:
    """Train a stage and write its file."""
    key = fingerprint(run.key(stage), sorted(inputs.items()))
    learner, weights = train(run, stage, make, key)
    about = shape_metadata(learner.shape) if learner.shape else None
    save_file(learner.select(weights), run.weights(stage), about)


def mean_losses(
    losses: Callable[[random.Random], Mapping[str, Tensor]], model: nn.Module | None = None
) -> dict[str, float]:
    """Return the mean losses of VALIDATION_BATCHES batches, always the same ones; `model` is in
    eval mode meanwhile (None = its mode makes no difference).
    """
    draw = random.Random(0)
    sums: dict[str, float] = {}
    if model is not None:
        model.eval()
    for _ in range(VALIDATION_BATCHES):
        for name, loss in losses(draw).items():
            sums[name] = sums.get(name, 0.0) + float(loss) / VALIDATION_BATCHES
    if model is not None:
        model.train()
        for module in model.modules():  # moshi caches codebooks in eval mode; training moves them
            if "_embedding" in module._buffers:
                module._buffers["_embedding"] = None
    return sums


def _shown(losses: Losses, name: str) -> str:
    """Format the losses. ModelError if one is not finite."""
    values = {key: float(loss) for key, loss in losses.items()}
    if not all(map(math.isfinite, values.values())):
        raise ModelError(
            "The training of '{name}' diverged: {losses}.",
            hint="Lower the learning rate; the last checkpoint is from before.",
            name=name,
            losses=values,
        )
    return " ".join(f"{key} {value:.3f}" for key, value in values.items())
