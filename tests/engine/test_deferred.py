"""Modules that wait until something in them is asked for."""

from engine.deferred import DEFERRED
from tests.fresh_python import prints

NAMES = tuple(DEFERRED)
COMES_ALONG = f"""
import sys, engine
import joblib, livekit.rtc, moshi, torch
early = torch.vmap
torch.Generator().manual_seed(1)
torch.nn.Linear(2, 3).to("cpu")
print(*{{type(sys.modules[name]).__name__ for name in {NAMES}}})
print("moshi.models.lm" in sys.modules, "huggingface_hub" in sys.modules)
with torch.device("meta"):
    print(torch.nn.Linear(2, 3).weight.device)
print(torch.distributions.Normal(0.0, 1.0).mean.item())
print(early(lambda x: 2 * x)(torch.ones(1)).item())
print(type(sys.modules["torch.func"]).__name__)
from moshi.models.compression import MimiModel
print(MimiModel.__name__, "moshi.models.lm" in sys.modules)
from moshi.models import loaders
import moshi.models
print(loaders.get_mimi.__name__, moshi.models.LMGen.__name__)
print(type(moshi.models).__name__, hasattr(moshi.models, "nothing"))
"""


def test_what_comes_along_is_not_run_and_all_of_it_can_be_had_by_who_asks():
    torch = ["meta", "0.0", "2.0", "module"]  # and networks are made and numbers drawn without it
    moshi = ["MimiModel", "False", "get_mimi", "LMGen", "module", "False"]
    assert prints(COMES_ALONG).split() == ["_Unrun", "False", "False", *torch, *moshi]


COMPILERS = """
import sys, engine
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
    assert prints(COMPILERS).split() == [*["2.0"] * 4, "1", "False", "module"]


OLDER = """
from importlib import metadata
found = metadata.version
metadata.version = lambda name: "2.6.0+debian" if name == "torch" else found(name)
from engine.deferred import DEFERRED
print(*DEFERRED)
"""


def test_of_an_older_torch_nothing_is_left_unrun():
    assert prints(OLDER).split() == ["moshi.models", "joblib", "livekit.rtc"]
