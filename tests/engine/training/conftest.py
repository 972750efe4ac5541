"""The tiny recipe, and one run of all its stages that many tests look at."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

import engine.training
from engine.training.__main__ import STAGES, main
from engine.training.recipe import Recipe, read_recipe
from engine.training.run import Run

TINY = Path(engine.training.__file__).with_name("recipes") / "tiny.toml"


@dataclass(frozen=True)
class Whole:
    """A run whose stages up to `export` are done."""

    run: Run
    recipe_file: Path


@pytest.fixture(scope="session")
def tiny() -> Recipe:
    return read_recipe(TINY)


@pytest.fixture(scope="session")
def whole(tiny: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    if shutil.which("flite") is None:
        pytest.skip("flite is not installed")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("training")
    for stage in STAGES[: STAGES.index("export") + 1]:
        assert main([stage, str(TINY), "--work", str(folder), "--workers", "1"]) == 0
    return Whole(Run(tiny, folder), TINY)
