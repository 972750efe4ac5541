"""Libraries are silenced before they load, and what older versions left is removed once.

That nothing is really sent is shown by tests/end_to_end/test_stays_at_home.py.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.__main__ import main
from engine import telemetry

ROOT = Path(__file__).parents[2]
SWITCHES = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK")
# Every way into the engine, and what must not have been loaded when the switches are set.
STARTS = (
    "engine",
    "engine.api",
    "app.__main__, app.command.cli",
    "engine.training.__main__",
    "tests.conftest",
)
TALKERS = ("onnxruntime", "huggingface_hub", "hf_xet", "faster_whisper", "moshi", "transformers")
WATCH = f"""
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name in {TALKERS!r} and os.environ.get("ORT_DISABLE_TELEMETRY") != "1":
            print("too early:", name)
sys.meta_path.insert(0, Watch())
"""


def python(script: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("start", STARTS)
def test_the_switches_are_set_before_a_library_is_loaded_whatever_the_person_has_set(
    start: str,
) -> None:
    shown = f"print(*[os.environ[name] for name in {SWITCHES!r}])"
    theirs = dict.fromkeys(SWITCHES, "0")
    assert python(f"{WATCH}\nimport {start}\n{shown}", **theirs) == "1 1 1"


def test_the_model_hub_is_told_nothing_of_this_machine() -> None:
    """Its library reads the switch once, and else asks for a list of agents to report."""
    script = "import engine, huggingface_hub.constants as c; print(c.HF_HUB_DISABLE_TELEMETRY)"
    assert python(script, HF_HUB_DISABLE_TELEMETRY="0", DO_NOT_TRACK="0") == "True"


def test_what_is_loaded_too_early_would_be_noticed() -> None:
    script = f"{WATCH}\nimport huggingface_hub"
    assert python(script, ORT_DISABLE_TELEMETRY="0") == "too early: huggingface_hub"


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which ONNX Runtime of an older version kept what it would report."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(telemetry, "_place", lambda: tmp_path / "cache" / telemetry._FOLDER)
    folder = tmp_path / "cache" / telemetry._FOLDER
    folder.mkdir(parents=True)
    for name in ("deviceid", "deviceid.lock", "onnxruntime.db", "onnxruntime.db-wal"):
        (folder / name).write_text("me")
    return folder


def test_starting_the_program_removes_what_older_versions_left(left: Path, tmp_path: Path) -> None:
    interval = sys.getswitchinterval()
    main(["models", "list"])
    sys.setswitchinterval(interval)
    assert list((tmp_path / "cache").iterdir()) == []


def test_where_nothing_was_left_nothing_is_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(telemetry, "_place", lambda: tmp_path / "cache")
    telemetry.remove_traces(tmp_path / "data" / "mark")
    assert list(tmp_path.iterdir()) == []


def test_what_belongs_to_others_stays(left: Path, tmp_path: Path) -> None:
    (left / "onnxruntime-genai.db").write_text("theirs")
    telemetry.remove_traces(tmp_path / "mark")
    assert [file.name for file in left.iterdir()] == ["onnxruntime-genai.db"]


def test_it_is_removed_once_for_later_ones_are_another_program_s(
    left: Path, tmp_path: Path
) -> None:
    telemetry.remove_traces(tmp_path / "mark")
    left.mkdir(parents=True)
    (left / "deviceid").write_text("theirs")
    telemetry.remove_traces(tmp_path / "mark")
    assert (left / "deviceid").read_text() == "theirs"


def test_what_cannot_be_removed_is_tried_again_and_stops_nobody(left: Path, tmp_path: Path) -> None:
    (left / "onnxruntime.db-shm").mkdir()
    telemetry.remove_traces(tmp_path / "mark")
    (left / "onnxruntime.db-shm").rmdir()
    telemetry.remove_traces(tmp_path / "mark")
    assert not left.exists()


def test_it_is_looked_for_in_the_cache_folder(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("the place is another on other systems")
    script = "from engine import telemetry; print(telemetry._place())"
    found = python(script, XDG_CACHE_HOME=str(tmp_path))
    assert found == str(tmp_path / "Microsoft" / "DeveloperTools" / ".onnxruntime")
