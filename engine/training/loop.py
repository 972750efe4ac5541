"""The loop that trains every network here: step, report, validate, checkpoint, stop when asked.

Invariant: a step depends only on the recipe's seed, the step's number and, in a schedule of
seconds, on the time spent, so a training that was stopped goes on as if it had not been. Between
two reports nothing waits for the device.
"""

import math
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim.swa_utils import get_ema_multi_avg_fn

from engine.errors import Cancelled, ModelError
from engine.nn.optimiser import AdamW
from engine.training import checkpoints
from engine.training.recipe import Schedule
from engine.training.run import Progress, Run, cancellable, fingerprint, write_json

BETAS = (0.9, 0.96)
VALIDATION_BATCHES = 4
ADVERSARIAL_BETAS = (0.8, 0.98)  # what was learnt against an earlier critic is soon forgotten
LENGTHS = 4  # how many lessons are drawn for one that is taken
LOOK_STEPS = 25  # between two looks at the losses on a graphics card, which each wait for it
BEST = "best.safetensors"  # in a stage's folder, where the schedule asks for the best weights
Losses = dict[str, Tensor]
_Batch = TypeVar("_Batch")
_Lesson = TypeVar("_Lesson")


@dataclass(frozen=True)
class StepContext:
    """One step of a training: its number, the share of the schedule before it, its random
    generator."""

    step: int
    share: float
    draw: random.Random


class Learner(ABC):
    """A network with its losses, on a device."""

    averaged: str  # the part whose weights are averaged over the steps
    exact: tuple[str, ...] = ()  # prefixes of its keys that are not averaged

    def __init__(self, schedule: Schedule, device: torch.device, **parts: nn.Module) -> None:
        """All parts learn together; who needs more optimisers replaces them."""
        self.schedule, self._device = schedule, device
        self._batch_size = schedule.batch
        every = nn.ModuleList(parts.values()).to(device)
        self.parts = parts
        name = self.averaged if len(parts) == 1 else "making"
        self.optimisers = {name: optimiser(every, schedule)}

    @abstractmethod
    def learn(self, context: StepContext) -> Losses:
        """One step; the losses to report, still on the device."""

    def validated(self, draw: random.Random) -> Mapping[str, Tensor]:
        """The losses of a batch that is never trained on; who has none replaces validate()."""
        raise NotImplementedError

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """The losses on data that is never trained on, in eval mode."""
        return mean_losses(self.validated, self.parts[self.averaged])

    def _optimise(self, losses: Mapping[str, Tensor], total: Tensor | None = None) -> Losses:
        """One step on a total of the losses, None = their sum; the losses to report."""
        if total is None:
            total = torch.stack(list(losses.values())).sum()
        (together,) = self.optimisers.values()
        optimiser_step(total, together, self.schedule.clip)
        return {name: loss.detach() for name, loss in losses.items()}


def train(
    run: Run, name: str, make: "Maker", device: torch.device, key: str = ""
) -> dict[str, Tensor]:
    """Train the learner that `make` returns until its schedule ends; return the averaged weights,
    on the CPU, or the best of them where they are asked for. `key` = fingerprint of the recipe and
    of its training data, which a checkpoint carries.

    Raises Cancelled, after saving, when the person stops it; ModelError when a loss is not finite;
    InvalidInput when there is a checkpoint with another key.
    """
    folder = run.stage(name)
    file = folder / "checkpoint.pt"
    with cancellable() as check:
        torch.manual_seed(run.recipe.seed)
        learner = make(device)
        schedule, averaged = learner.schedule, learner.parts[learner.averaged]
        mean = {key: value.clone() for key, value in averaged.state_dict().items()}
        before = checkpoints.load(file, learner.parts, learner.optimisers, mean, key)
        step, begun = before.step, time.monotonic() - before.seconds
        share = share_of(schedule, checkpoints.Reached(step, time.monotonic() - begun))
        progress = Progress(name, 1.0, share)
        while share < 1:
            losses = _step(run, learner, step, share)
            step += 1
            reached = checkpoints.Reached(step, time.monotonic() - begun)
            share = share_of(schedule, reached)
            kept = min(schedule.average, (step - 1) / (step + 9))
            _follow(mean, averaged, kept, learner.exact)
            if device.type == "cpu" or step % LOOK_STEPS == 0 or share >= 1:
                seen = _seen(losses, learner.averaged, step)
                progress.report(share, f"step {step} {seen}")
            stop = _is_asked_to_stop(check)
            _keep(file, reached, learner, mean, key, ends=stop or share >= 1)
            if stop:
                raise Cancelled(
                    "The training was stopped.", hint="The same command goes on from here."
                )
        weights = load_file(folder / BEST) if schedule.best else mean
        return {key: value.cpu() for key, value in weights.items()}


def train_and_save(
    run: Run,
    file: Path,
    make: "Maker",
    inputs: dict[str, str],
    *,
    shape: dict[str, str] | None = None,
    kept: Callable[[dict[str, Tensor]], dict[str, Tensor]] = lambda weights: weights,
    **about: object,
) -> None:
    """Train the stage whose folder the file lies in, write what is `kept` of the averaged weights
    into the file with its `shape`, and finish the stage.
    """
    stage = file.parent.name
    key = fingerprint(run.key(stage), sorted(inputs.items()))
    weights = train(run, stage, make, torch.device(run.device), key)
    save_file(kept(weights), file, shape)
    run.finish(stage, inputs, **about)


Maker = Callable[[torch.device], Learner]
"""Makes a learner on a device."""


def optimiser(
    module: nn.Module,
    schedule: Schedule,
    *,
    betas: tuple[float, float] = BETAS,
    scale: float = 1.0,
) -> torch.optim.Optimizer:
    """AdamW; vectors (norms, biases) do not decay. `scale`: factor on the schedule's learning
    rate."""
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
    """Multiplies in bfloat16 where a recipe asks for it and the machine has the instructions for
    it: without them a processor takes 18 times as long for a step.
    """
    kind = torch.device(device).type
    abilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    can = kind != "cpu" or any(has for name, has in abilities.items() if name.endswith("bf16"))
    return torch.autocast(kind, torch.bfloat16, enabled=asked and can)


def optimiser_step(loss: Tensor, optimiser: torch.optim.Optimizer, clip: float) -> None:
    """One optimiser step on a loss. Gradients that are not finite change nothing."""
    parameters: list[nn.Parameter] = [
        parameter for group in optimiser.param_groups for parameter in group["params"]
    ]
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    norm = nn.utils.clip_grad_norm_(parameters, clip)
    if optimiser.defaults["fused"]:
        # As torch's scaler of gradients tells it: the device itself decides, nobody waits for it.
        scaled: Any = optimiser
        scaled.found_inf = (~torch.isfinite(norm)).float()
        optimiser.step()
    elif torch.isfinite(norm):
        optimiser.step()


def mean_losses(
    losses: Callable[[random.Random], Mapping[str, Tensor]], model: nn.Module | None = None
) -> dict[str, float]:
    """The mean losses of VALIDATION_BATCHES batches, always the same ones; `model` is in eval mode
    meanwhile (None = it makes no difference).
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
        _forget_codebooks(model)
    return sums


def _forget_codebooks(model: nn.Module) -> None:
    """Drop the codebooks that moshi caches in eval mode; training moves them."""
    for module in model.modules():
        if "_embedding" in module._buffers:
            module._buffers["_embedding"] = None


def of_like_length(
    everything: Sequence[_Lesson], length: Callable[[_Lesson], int], draw: random.Random, count: int
) -> list[_Lesson]:
    """`count` lessons, some of them maybe twice, that are about as long as each other, so that
    little is computed for padding (SMLLE's steps take two thirds of the time); each comes as often
    as any other.
    """
    many = sorted(draw.choices(everything, k=LENGTHS * count), key=length)
    first = count * draw.randrange(LENGTHS)
    return many[first : first + count]


def on_device(batch: _Batch, device: torch.device) -> _Batch:
    """A dataclass of tensors with all of them on a device."""
    values: Any = batch
    tensors = {each.name: getattr(values, each.name) for each in fields(values)}
    if device.type == "cuda":  # from pinned memory nobody waits for the copy
        tensors = {name: tensor.pin_memory() for name, tensor in tensors.items()}
    moved = {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}
    together: _Batch = replace(values, **moved)
    return together


def learning_rate(schedule: Schedule, step: int, share: float) -> float:
    """Warm up over the first steps, hold, then fall to the schedule's end in a half cosine."""
    warm = min(1.0, (step + 1) / max(1, schedule.warmup))
    if share < schedule.decay_from:
        return schedule.learning_rate * warm
    fallen = (share - schedule.decay_from) / max(1e-9, 1 - schedule.decay_from)
    left = 0.5 * (1 + math.cos(math.pi * min(1.0, fallen)))
    return schedule.learning_rate * warm * (schedule.last_rate + (1 - schedule.last_rate) * left)


def share_of(schedule: Schedule, reached: checkpoints.Reached) -> float:
    """How much of a schedule is over: of its steps or, where it has them, of its seconds."""
    timed = reached.seconds / schedule.seconds if schedule.seconds else 0.0
    return max(reached.step / schedule.steps, timed) if schedule.steps else 1.0


def _step(run: Run, learner: Learner, step: int, share: float) -> Losses:
    draw = random.Random(f"{run.recipe.seed} {learner.averaged} {step}")
    torch.manual_seed(draw.getrandbits(31))
    for each in learner.optimisers.values():
        for group in each.param_groups:
            group["lr"] = learning_rate(learner.schedule, step, share) * group["scale"]
    # On a CPU, torch's plain attention: in short windows the backward pass of its fused one is
    # slower (without it, a step of the voice takes 0.82 to 0.91 of the time, one of the codec 0.91
    # to 0.93).
    with sdpa_kernel(SDPBackend.MATH) if run.device == "cpu" else nullcontext():
        return learner.learn(StepContext(step, share, draw))


def _seen(losses: Losses, name: str, step: int) -> str:
    """The losses for people, after a look at whether they are numbers."""
    values = {key: float(loss) for key, loss in losses.items()}
    if not all(map(math.isfinite, values.values())):
        raise ModelError(
            "The training of '{name}' left the numbers at step {step}: {losses}.",
            hint="Lower the learning rate; the last checkpoint is from before.",
            name=name,
            step=step,
            losses=values,
        )
    return " ".join(f"{key} {value:.3f}" for key, value in values.items())


def _follow(
    mean: dict[str, Tensor], module: nn.Module, share: float, exact: tuple[str, ...]
) -> None:
    """Move the averaged weights towards the current ones, all in one go."""
    followers, leaders = list[Tensor](), list[Tensor]()
    for key, value in module.state_dict().items():
        if value.is_floating_point() and not key.startswith(exact):
            followers.append(mean[key])
            leaders.append(value)
        else:
            mean[key].copy_(value)
    if followers:
        follow = get_ema_multi_avg_fn(share)  # type: ignore[no-untyped-call]
        follow(followers, leaders, share)


def _keep(
    file: Path,
    reached: checkpoints.Reached,
    learner: Learner,
    mean: dict[str, Tensor],
    key: str,
    *,
    ends: bool,
) -> None:
    """Validate the averaged weights and save when it is time to; always at the end."""
    step, schedule = reached.step, learner.schedule
    if step % schedule.validate_every == 0 or ends:
        with _averaged(learner.parts[learner.averaged], mean):
            found = {"step": step, **learner.validate()}
        write_json(file.with_name(f"validation-{step:06d}.json"), found)
        if schedule.best:
            _keep_best(file.with_name(BEST), mean, schedule.best, found[schedule.best])
    if step % schedule.checkpoint_every == 0 or ends:
        checkpoints.save(file, reached, learner.parts, learner.optimisers, mean, key)


@contextmanager
def _averaged(module: nn.Module, mean: Mapping[str, Tensor]) -> Iterator[None]:
    """Give a module the averaged weights, which are what a stage saves, for a validation."""
    current = {key: value.clone() for key, value in module.state_dict().items()}
    module.load_state_dict(mean)
    try:
        yield
    finally:
        module.load_state_dict(current)


def _keep_best(file: Path, mean: dict[str, Tensor], name: str, loss: float) -> None:
    """Write the averaged weights if the loss of this name was never lower."""
    if file.is_file() and loss >= float(checkpoints.metadata(file)[name]):
        return
    partial = file.with_suffix(".partial")
    save_file({key: value.cpu() for key, value in mean.items()}, partial, {name: str(loss)})
    partial.replace(file)


def _is_asked_to_stop(check: Callable[[], None]) -> bool:
    """Whether the person asked to stop."""
    try:
        check()
    except Cancelled:
        return True
    return False
