"""Several processes train as one: same weights everywhere, one of them writes."""

import os
import shutil
import socket
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from engine.training.run import Run
from tests.engine.training.conftest import TINY

SCRIPT = """
import torch
from torch import nn
from engine.training.ranks import agree, average, joined, leave, rank
with joined("cpu") as device:
    layer = nn.Linear(2, 1)
    layer.weight.grad = torch.full((1, 2), float(rank()))
    average(list(layer.parameters()))
    assert torch.equal(layer.weight.grad, torch.full((1, 2), 0.5)), layer.weight.grad
    assert torch.equal(layer.bias.grad, torch.zeros(1))
    assert agree({"a": float(rank()), "b": 2.0}, device) == {"a": 0.5, "b": 2.0}
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
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@pytest.mark.long
def test_two_processes_hold_the_mean_of_their_gradients():
    together("-c", SCRIPT)


@pytest.mark.long
@pytest.mark.parametrize("stage", ["codec", "voice"])
def test_two_processes_train_a_stage_together(whole, tmp_path, stage):
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
