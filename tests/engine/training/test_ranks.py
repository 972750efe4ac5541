"""Several processes train as one: same weights everywhere, one of them writes."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from engine.training.loop import learning_rate
from engine.training.ranks import Ranks, agree, average, joined
from engine.training.recipe import Schedule
from engine.training.run import Run
from tests.engine.training.conftest import TINY, Whole

SCRIPT = """
import sys
import torch
from torch import nn
from engine.training.ranks import agree, any_asks, average, joined, leave
with joined("cpu") as ranks:
    layer = nn.Linear(2, 1)
    layer.weight.grad = torch.full((1, 2), float(ranks.rank))
    average(layer.parameters(), ranks)
    assert torch.equal(layer.weight.grad, torch.full((1, 2), 0.5)), layer.weight.grad
    assert torch.equal(layer.bias.grad, torch.zeros(1))
    assert agree({"a": float(ranks.rank), "b": 2.0}, ranks) == {"a": 0.5, "b": 2.0}
    assert any_asks(ranks.rank == 1, ranks)
    assert not any_asks(False, ranks)
leave(0)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def together(*command: str) -> None:
    """Run a command in two processes that know of each other, as torchrun starts them."""
    shared = os.environ | {
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "OMP_NUM_THREADS": "1",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, *command],
            env=shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        for process in processes:
            _, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_alone_nothing_is_averaged() -> None:
    ranks = Ranks(0, 1, torch.device("cpu"))
    layer = nn.Linear(2, 1)
    average(layer.parameters(), ranks)
    assert layer.weight.grad is None
    assert agree({"a": 1.0}, ranks) == {"a": 1.0}
    with joined("cpu") as found:
        assert found == ranks
        assert found.first


@pytest.mark.slow
def test_two_processes_hold_the_mean_of_their_gradients() -> None:
    together("-c", SCRIPT)


@pytest.mark.long
@pytest.mark.parametrize("stage", ["codec", "voice"])
def test_two_processes_train_a_stage_together(whole: Whole, tmp_path: Path, stage: str) -> None:
    before = {"codec": ("corpus",), "voice": ("corpus", "codec", "speaker", "encode")}[stage]
    for name in before:
        shutil.copytree(whole.run.folder / name, tmp_path / name)
    together("-m", "engine.training", stage, str(TINY), "--work", str(tmp_path))
    run = Run(whole.run.recipe, tmp_path)
    assert run.is_done(stage)
    made = load_file(run.stage(stage) / f"{stage}.safetensors")
    alone = load_file(whole.run.stage(stage) / f"{stage}.safetensors")
    assert made.keys() == alone.keys()
    assert any(not torch.equal(made[key], alone[key]) for key in made)
    assert all(torch.isfinite(value).all() for value in made.values())


def test_the_learning_rate_warms_up_holds_and_falls() -> None:
    schedule = Schedule(steps=1000, batch=1, learning_rate=1.0, warmup=100)
    rates = [learning_rate(schedule, step, step / 1000) for step in range(1000)]
    assert rates[0] == 0.01
    assert rates[200] == 1.0
    assert rates[299:] == sorted(rates[299:], reverse=True)
    assert abs(rates[-1] - schedule.last_rate) < 1e-3
