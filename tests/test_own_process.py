"""Tests in processes of their own: what they report, and what is tried again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAD = """
import os
from pathlib import Path
import pytest
from engine.audio.devices import time_limit
pytestmark = pytest.mark.own_process

def hung(name) -> None:
    with Path(__file__).with_name(name).open("a") as tries:
        tries.write(".")
    time_limit._left_behind.append("a call")
"""


def outcome(folder: Path, body: str) -> str:
    """What pytest prints of a file of tests, and the exit code behind it."""
    file = folder / "test_elsewhere.py"
    file.write_text(HEAD + body)
    folder.joinpath("pytest.ini").write_text("[pytest]\nmarkers =\n    own_process\n")
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take most of a process's start
    environment["PYTEST_ADDOPTS"] = "-ra -p no:cacheprovider -p pytest_timeout -p tests.own_process"
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", str(file)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return f"{ended.stdout}\nexit {ended.returncode}"


@pytest.mark.slow
def test_reports_come_back_as_they_are(tmp_path: Path) -> None:
    printed = outcome(
        tmp_path,
        """
def test_passes():
    assert os.environ["RUBATO_TEST_REPORTS"]

def test_fails():
    assert 1 == 2, "told"

@pytest.mark.skip(reason="not today")
def test_skipped(): ...

def test_dies():
    os._exit(3)
""",
    )
    assert "2 failed, 1 passed, 1 skipped" in printed
    assert "assert 1 == 2" in printed
    assert "not today" in printed
    assert "its process ended with 3" in printed
    assert printed.endswith("exit 1")


@pytest.mark.slow
def test_what_met_a_hanging_sound_system_is_tried_again_but_not_for_ever(tmp_path: Path) -> None:
    printed = outcome(
        tmp_path,
        """
def test_works_the_second_time():
    if not Path(__file__).with_name("works").exists():
        hung("works")
        raise AssertionError("no sound")

def test_never_works():
    hung("never")
    assert False, "never"
""",
    )
    assert "1 failed, 1 passed" in printed
    assert "never" in printed
    assert (tmp_path / "works").read_text() == "."
    assert (tmp_path / "never").read_text() == "..."
