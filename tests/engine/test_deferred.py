"""Modules that wait until something in them is asked for."""

import subprocess
import sys
from pathlib import Path

from engine.deferred import DEFERRED

NAMES = tuple(DEFERRED)
ROOT = Path(__file__).parents[2]


def prints(code: str) -> str:
    """What a Python of its own prints, as this one has imported everything by now."""
    command = [sys.executable, "-c", f"import sys, engine\n{code}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_what_comes_along_is_not_run():
    code = f"import moshi, torch\nprint(*[sys.modules[n].__class__.__name__ for n in {NAMES}])\n"
    code += "print('moshi.models.lm' in sys.modules, 'huggingface_hub' in sys.modules)"
    assert prints(code).split() == ["_Unrun"] * len(NAMES) + ["False", "False"]


def test_torch_draws_and_makes_networks_without_it():
    code = "import torch\ntorch.Generator().manual_seed(1)\n"
    code += "with torch.device('meta'):\n    print(torch.nn.Linear(2, 3).weight.device)\n"
    code += "print(torch.distributions.Normal(0.0, 1.0).mean.item())"
    assert prints(code).split() == ["meta", "0.0"]


def test_a_part_of_it_can_be_had_without_the_rest():
    code = "from moshi.models.compression import MimiModel\n"
    code += "print(MimiModel.__name__, 'moshi.models.lm' in sys.modules)"
    assert prints(code).split() == ["MimiModel", "False"]


def test_it_is_whole_for_whoever_asks():
    code = "from moshi.models import loaders\nimport moshi.models\n"
    code += "print(loaders.get_mimi.__name__, moshi.models.LMGen.__name__)\n"
    code += "print(type(moshi.models).__name__, hasattr(moshi.models, 'nothing'))"
    assert prints(code).split() == ["get_mimi", "LMGen", "module", "False"]


def test_a_part_that_is_not_there_is_missed_as_ever():
    code = "import engine.deferred as deferred\n"
    code += "print(deferred._Finder().find_spec('moshi.models', ['/nowhere']))"
    assert prints(code).strip() == "None"
