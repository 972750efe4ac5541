"""The first lines a person meets: the right Python is found, or the missing one is named."""

import subprocess
import sys
from pathlib import Path

import pytest

from installer import setup
from installer.plan import ROOT


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Commands that would have replaced the process."""
    commands: list[list[str]] = []
    monkeypatch.setattr(setup, "start", lambda command: commands.append(command) or 0)
    return commands


@pytest.mark.parametrize("version", [(3, 9, 2), (3, 10, 0), (3, 14, 1)])
def test_an_unfit_python_hands_over_or_says_which_to_install(version, started, monkeypatch, capsys):
    monkeypatch.setattr(setup.sys, "version_info", version)
    monkeypatch.setattr(setup.shutil, "which", lambda name: f"/x/{name}")
    # 3.13 is there but does not run, as under a version manager
    monkeypatch.setattr(setup.subprocess, "call", lambda command, **_: "3.13" in command[0])
    assert setup.main(["run"]) == 0
    assert started == [["/x/python3.12", setup.HERE, "run"]]
    monkeypatch.setattr(setup.shutil, "which", lambda name: None)
    assert setup.main(["run"]) == 1
    assert "Rubato needs Python 3.11, 3.12 or 3.13; this is Python 3" in capsys.readouterr().out


def test_an_unknown_goal_is_answered_with_the_known_ones():
    done = subprocess.run(
        [sys.executable, str(ROOT / "installer" / "setup.py"), "fly"],
        capture_output=True,
        text=True,
        cwd=Path("/"),
    )
    assert done.returncode == 2
    assert "run | demo | llm | test" in done.stdout
