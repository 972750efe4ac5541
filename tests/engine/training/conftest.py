"""The tiny recipes, and runs of all their stages that many tests look at."""

import random
import shutil
import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import engine.training
from engine.text.phonemes import Espeak
from engine.training.__main__ import main
from engine.training.evaluation.parts import Result
from engine.training.loop import Learner, Losses
from engine.training.run import SYSTEMS, Run, read_recipe

needs_flite = pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
STAGES = tuple(SYSTEMS["voxtream2"].stages)
CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))
TINY = Path(engine.training.__file__).with_name("recipes") / "tiny.toml"


@pytest.fixture(scope="session")
def tiny() -> Any:
    return read_recipe(TINY)


@pytest.fixture(scope="session")
def espeak() -> Espeak:
    return Espeak()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    """The finished corpus, which all tiny recipes share."""
    if shutil.which("flite") is None:
        pytest.skip("flite is not installed")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("corpus")
    assert main(["corpus", str(TINY), "--work", str(folder), "--workers", "1"]) == 0
    return folder / "corpus"


@pytest.fixture(scope="session")
def whole(tiny, corpus, tmp_path_factory) -> Run:
    """All its stages are done."""
    folder = tmp_path_factory.mktemp("training")
    finish(TINY, STAGES, corpus, folder)
    return Run(tiny, folder)


@pytest.fixture(scope="session")
def run_of(corpus, tmp_path_factory) -> Callable[[str], Run]:
    """A run of a system's tiny recipe whose every stage is done; made once."""

    @cache
    def run(system: str) -> Run:
        file, folder = TINY.with_name(f"tiny-{system}.toml"), tmp_path_factory.mktemp(system)
        finish(file, SYSTEMS[system].stages, corpus, folder)
        return Run(read_recipe(file), folder)

    return run


def finish(recipe: Path, stages: Iterable[str], corpus: Path, folder: Path) -> None:
    """Do all stages of a recipe, with the corpus as it is."""
    shutil.copytree(corpus, folder / "corpus")
    for stage in stages:
        assert main([stage, str(recipe), "--work", str(folder), "--workers", "1"]) == 0


def copied(whole: Run, folder: Path, *stages: str) -> Run:
    """A run with these stages of another one."""
    for stage in stages:
        shutil.copytree(whole.folder / stage, folder / stage)
    return Run(whole.recipe, folder)


def by_heart(learner: Learner) -> list[Losses]:
    """Losses of quick steps on the same lesson every time."""
    for group in learner.optimisers["all"].param_groups:
        group["lr"] = 5e-3
    return [learner.learn(0.0, random.Random(1)) for _ in range(60)]


def last(losses: list[Losses], name: str) -> float:
    """How large a loss still is, as a share of what it was."""
    return float(np.mean([each[name] for each in losses[-5:]]) / losses[0][name])


def judged(**changed: Any) -> Result:
    """Two words said perfectly by Ada in a second."""
    plain: dict[str, Any] = {
        "voice": "Ada", "text": "Good morning.", "rate": 4.0, "ended": True, "wrong": 0,
        "transcript": "Good morning.", "naturalness": None,
        "onsets": (), "starts": (),
    }  # fmt: skip
    return Result(**{**plain, **changed})
