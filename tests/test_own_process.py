"""Tests in processes of their own: what they report, and what is tried again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = """
import os
from pathlib import Path
import pytest
pytestmark = pytest.mark.own_process

def hung(name) -> None:
    from engine.audio.devices import time_limit
    with Path(__file__).with_name(name).open("a") as tries:
        tries.write(".")
    time_limit._left_behind.append("a call")

def test_works_the_second_time():
    assert os.environ["RUBATO_TEST_REPORTS"]
    if not Path(__file__).with_name("works").exists():
        hung("works")
        raise AssertionError("no sound")

def test_never_works():
    hung("never")
    assert 1 == 2, "told"

@pytest.mark.skip(reason="not today")
def test_skipped(): ...

def test_dies():
    os._exit(3)
"""


@pytest.mark.slow
def test_reports_come_back_and_a_hanging_sound_system_is_tried_again(tmp_path):
    file = tmp_path / "test_elsewhere.py"
    file.write_text(TESTS)
    tmp_path.joinpath("pytest.ini").write_text("[pytest]\nmarkers =\n    own_process\n")
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take most of a process's start
    environment["PYTEST_ADDOPTS"] = (
        "-ra -p no:cacheprovider -p pytest_timeout -p tests.help.process.own_process"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", str(file)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    printed = ended.stdout
    assert ended.returncode == 1
    assert "2 failed, 1 passed, 1 skipped" in printed
    for reason in ("told\nE       assert 1 == 2", "not today", "its process ended with 3"):
        assert reason in printed
    assert (tmp_path / "works").read_text() == "."
    assert (tmp_path / "never").read_text() == "..."
