"""What importing the engine does, and what the program is made of."""

import os
import sys
from importlib.metadata import Distribution

import pytest

from engine.deferred import DEFERRED
from engine.doctor import licences
from engine.models import storage
from tests.engine.models.small_catalogue import small_hub
from tests.help.process.fresh_python import prints


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_numpy_gets_no_thread_that_would_spin(monkeypatch):
    for name in [each for each in os.environ if each.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(name)
    assert prints("import engine, numpy, os; print(len(os.listdir('/proc/self/task')))") == "1"


SWITCHES = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK")
# Ways into the engine, and what must not have been loaded when the switches are set. A module of
# the engine runs engine/__init__.py first, which sets them.
STARTS = ("app.__main__, app.command.cli", "engine.training.__main__", "tests.conftest")
TALKERS = ("onnxruntime", "huggingface_hub", "hf_xet", "faster_whisper", "moshi", "transformers")
WATCH = f"""
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name in {TALKERS!r} and os.environ.get("ORT_DISABLE_TELEMETRY") != "1":
            print("too early:", name)
sys.meta_path.insert(0, Watch())
"""


@pytest.mark.parametrize("start", STARTS)
def test_the_switches_are_set_before_a_library_is_loaded(start):
    shown = f"print(*[os.environ[name] for name in {SWITCHES!r}])"
    theirs = dict.fromkeys(SWITCHES, "0")
    assert prints(f"{WATCH}\nimport {start}\n{shown}", **theirs) == "1 1 1"


def test_what_is_loaded_too_early_would_be_noticed_and_the_model_hub_is_told_nothing():
    """The hub's library reads the switch once, and else asks for a list of agents to report."""
    script = f"{WATCH}\nimport importlib.util as u; u.find_spec('huggingface_hub')\n"
    script += "import engine, huggingface_hub.constants as c; print(c.HF_HUB_DISABLE_TELEMETRY)"
    found = prints(script, **dict.fromkeys(SWITCHES, "0")).splitlines()
    assert found == ["too early: huggingface_hub", "True"]


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


OLDER = """
from importlib import metadata
found = metadata.version
metadata.version = lambda name: "2.6.0+debian" if name == "torch" else found(name)
from engine.deferred import DEFERRED
print(*DEFERRED)
"""


def test_of_an_older_torch_nothing_is_left_unrun():
    left = ["torchgen.model", "moshi.models", "joblib", "livekit.rtc"]
    assert prints(OLDER).split() == left


def test_every_package_of_this_environment_is_there_with_terms_and_text_and_rubato_first():
    works = licences.works()
    first = works[0]
    assert (first.name, first.terms) == ("rubato", "GPL-3.0-or-later")
    assert first.text.lstrip().startswith("GNU GENERAL PUBLIC LICENSE")
    by_name = {work.name.lower(): work for work in works}
    assert {"torch", "numpy", "moshi", "espeakng-loader", "rubato sans (font)"} <= set(by_name)
    assert [work.name for work in works if work.terms == "not stated"] == []
    assert "Redistribution" in by_name["torch"].text
    font = by_name["rubato sans (font)"].text
    assert "SIL OPEN FONT LICENSE" in font.upper()
    lists = [work.text for work in works if work.name.endswith("(pronunciations)")]
    assert ["Apache License" in each or "Carnegie Mellon" in each for each in lists] == [True, True]


def test_a_fetched_model_is_named_with_terms_and_authors(tmp_path, monkeypatch):
    with small_hub(tmp_path, monkeypatch):
        assert not any("kokoro" in work.name for work in licences.works())
        storage.fetch("kokoro", lambda file, done, total: None)
        models = [work for work in licences.works() if "kokoro" in work.name]
        assert [work.name for work in models] == ["kokoro (model)", "kokoro-voices (model)"]
        assert {work.terms for work in models} == {"Apache-2.0"}
        assert all("Kokoro by hexgrad" in work.text for work in models)


def test_terms_are_told_by_their_name(tmp_path):
    classified = "Classifier: License :: OSI Approved :: MIT License\n"
    for metadata, terms in (
        (f"License: {'word ' * 40}\n{classified}", "MIT License"),  # a whole licence is no name
        ("License: UNKNOWN\n", "not stated"),
    ):
        (tmp_path / "METADATA").write_text(f"Metadata-Version: 2.1\nName: x\n{metadata}")
        assert licences._terms(Distribution.at(tmp_path).metadata) == terms
