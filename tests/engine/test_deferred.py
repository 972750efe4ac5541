"""Modules that wait until something in them is asked for."""

from engine.deferred import DEFERRED
from tests.fresh_python import prints

NAMES = tuple(DEFERRED)
START = "import sys, engine\n"


def test_what_comes_along_is_not_run_and_all_of_it_can_be_had_by_who_asks():
    code = "import joblib, livekit.rtc, moshi, torch\n"
    code += f"print(*{{type(sys.modules[name]).__name__ for name in {NAMES}}})\n"
    code += "print('moshi.models.lm' in sys.modules, 'huggingface_hub' in sys.modules)\n"
    code += "from moshi.models.compression import MimiModel\n"
    code += "print(MimiModel.__name__, 'moshi.models.lm' in sys.modules)\n"
    code += "from moshi.models import loaders\nimport moshi.models\n"
    code += "print(loaders.get_mimi.__name__, moshi.models.LMGen.__name__)\n"
    code += "print(type(moshi.models).__name__, hasattr(moshi.models, 'nothing'))"
    unrun, part = ["_Unrun", "False", "False"], ["MimiModel", "False"]
    assert prints(START + code).split() == [*unrun, *part, "get_mimi", "LMGen", "module", "False"]


def test_torch_draws_and_makes_networks_without_it_and_functions_handed_out_before_work():
    code = "import torch\nearly = torch.vmap\n"
    code += "torch.Generator().manual_seed(1)\ntorch.nn.Linear(2, 3).to('cpu')\n"
    code += "print(type(sys.modules['torch.func']).__name__)\n"
    code += "with torch.device('meta'):\n    print(torch.nn.Linear(2, 3).weight.device)\n"
    code += "print(torch.distributions.Normal(0.0, 1.0).mean.item())\n"
    code += "print(early(lambda x: 2 * x)(torch.ones(1)).item())\n"
    code += "print(type(sys.modules['torch.func']).__name__)"
    assert prints(START + code).split() == ["_Unrun", "meta", "0.0", "2.0", "module"]


COMPILERS = """
import torch
import torch._prims.rng_prims
twice = torch.compile(lambda x: 2 * x, backend="eager")
print(twice(torch.ones(1)).item())
print(torch.vmap(lambda x: 2 * x)(torch.ones(1)).item())
print(torch.cond(torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (torch.ones(1),)).item())
from torch.utils.checkpoint import checkpoint
print(checkpoint(lambda x: 2 * x, torch.ones(1), use_reentrant=False).item())
print(torch.rand(1, generator=torch.Generator().manual_seed(1)).numel())
print(torch.compiler.is_compiling())
print(*{type(sys.modules[name]).__name__ for name in ("torch.func", "torch._meta_registrations")})
"""


def test_compilers_of_torch_find_it_whole_whatever_is_asked_for_first():
    assert prints(START + COMPILERS).split() == [*["2.0"] * 4, "1", "False", "module"]


OLDER = """
from importlib import metadata
found = metadata.version
metadata.version = lambda name: "2.6.0+debian" if name == "torch" else found(name)
import sys
import engine, torch
import moshi
print(*{type(sys.modules[name]).__name__ for name in ("torch.func", "torch.export")})
print(type(sys.modules["moshi.models"]).__name__)
torch.Generator().manual_seed(1)
print(torch.vmap(lambda x: 2 * x)(torch.ones(1)).item())
"""


def test_of_an_older_torch_nothing_is_left_unrun():
    assert prints(OLDER).split() == ["module", "_Unrun", "2.0"]
