"""Libraries are silenced before they load.

That nothing is really sent is shown by tests/end_to_end/test_stays_at_home.py.
"""

import pytest

from tests.fresh_python import prints

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
def test_the_switches_are_set_before_a_library_is_loaded_whatever_the_person_has_set(
    start: str,
) -> None:
    shown = f"print(*[os.environ[name] for name in {SWITCHES!r}])"
    theirs = dict.fromkeys(SWITCHES, "0")
    assert prints(f"{WATCH}\nimport {start}\n{shown}", **theirs) == "1 1 1"


def test_what_is_loaded_too_early_would_be_noticed_and_the_model_hub_is_told_nothing() -> None:
    """The hub's library reads the switch once, and else asks for a list of agents to report."""
    script = f"{WATCH}\nimport importlib.util as u; u.find_spec('huggingface_hub')\n"
    script += "import engine, huggingface_hub.constants as c; print(c.HF_HUB_DISABLE_TELEMETRY)"
    found = prints(script, **dict.fromkeys(SWITCHES, "0")).splitlines()
    assert found == ["too early: huggingface_hub", "True"]
