"""However weights are stored, the network that reads them computes the same."""

import math
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.errors import ModelError
from engine.nn import weights_file
from engine.nn.weights_file import (
    ROW_SCALE,
    Unset,
    check_finite,
    full,
    halved,
    in_int8,
    load_network,
)
from engine.translatable import Translatable


def tensors() -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(1)
    shapes = {
        "product": (96, 128),
        "heads": (3, 64, 128),
        "kernels": (64, 48, 5),
        "depthwise": (900, 1, 7),
        "small": (8, 64),
        "norm": (512,),
    }
    made = {name: torch.randn(shape, generator=draw) for name, shape in shapes.items()}
    made["product"][5] = 0  # a row that nobody reads
    made["product"][6] *= 1e-6
    made["kernels"][7] *= 40
    return made | {"count": torch.tensor(3)}


def written(file: Path, entries: Mapping[str, Tensor]) -> Path:
    save_file(dict(entries), file)
    return file


@pytest.mark.parametrize(("store", "error"), [(full, 0), (halved, 1e-3), (in_int8, 4.1e-3)])
def test_what_is_stored_is_read_in_full_precision(store, error, tmp_path):
    given = tensors()
    read = weights_file.load(written(tmp_path / "file", store(given)))
    assert list(read) == sorted(given)
    for name, tensor in read.items():
        expected = given[name].float()
        assert tensor.dtype is torch.float32
        size = expected.flatten(1).abs().amax(1) if expected.dim() > 1 else expected.abs()
        off = (tensor - expected).abs()
        off = off.flatten(1).amax(1) if expected.dim() > 1 else off
        assert (off <= error * size + 1e-7 * (error > 0)).all(), name


def test_int8_takes_half_the_room_and_leaves_what_is_small(tmp_path):
    stored = in_int8(tensors())
    small = {name for name, each in stored.items() if each.dtype is torch.int8}
    assert small == {"product", "heads", "kernels"}
    large = {name: each for name, each in tensors().items() if name in ("product", "heads")}
    sizes = [
        written(tmp_path / store.__name__, store(large)).stat().st_size
        for store in (halved, in_int8)
    ]
    assert sizes[1] < 0.53 * sizes[0]
    assert torch.equal(stored["norm"], tensors()["norm"].half())


def test_what_was_stored_in_int8_can_be_stored_so_again(tmp_path):
    once = weights_file.load(written(tmp_path / "once", in_int8(tensors())))
    twice = weights_file.load(written(tmp_path / "twice", in_int8(once)))
    for name, tensor in once.items():
        assert torch.allclose(twice[name], tensor, rtol=1e-5, atol=0), name


def damaged() -> dict[str, Mapping[str, Tensor]]:
    good = in_int8({"weight": tensors()["product"]})
    scale = good["weight" + ROW_SCALE]
    return {
        "without its scales": {"weight": good["weight"]},
        "does not fit its scales": good | {"weight" + ROW_SCALE: scale[:5].clone()},
        "holds NaN": good | {"weight" + ROW_SCALE: scale * float("nan")},
    }


@pytest.mark.parametrize("fault", damaged())
def test_scales_that_are_wrong_are_refused(fault, tmp_path):
    file = written(tmp_path / "voice.safetensors", damaged()[fault])

    def network(_: str) -> torch.nn.Module:
        return torch.nn.Linear(128, 96, bias=False)

    with pytest.raises(ModelError, match=fault):
        load_network(file, network, Translatable("The voice file"), "")


# ---------------------------------------------------------------------------- the weights file


def test_nothing_is_drawn_inside_and_again_outside():
    state = torch.get_rng_state()
    with Unset():
        torch.nn.Linear(3, 5)
        torch.nn.Conv1d(3, 5, 2)
        assert torch.arange(3).cumsum(0).tolist() == [0, 1, 3]  # what is computed stays
    assert torch.equal(torch.get_rng_state(), state)
    torch.nn.Linear(3, 5)
    assert not torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("place", [0, 500, 999])
def test_one_element_is_enough(value, dtype, place):
    weights = {"count": torch.tensor(7), "empty": torch.zeros(0), "lone": torch.tensor(1.5)}
    weights |= {name: torch.randn(1000, dtype=dtype) for name in ("whole", "broken")}
    check_finite(weights.items())
    weights["broken"][place] = value
    with pytest.raises(ValueError, match="'broken'"):
        check_finite(weights.items())
