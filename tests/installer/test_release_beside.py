"""A newer release is installed beside the one that runs, as a person has it: cut off in the middle,
taken, kept beside the old one, rolled back and taken again. Minutes, and as much disk as two
installations.

Two releases are made of this checkout, the second under the next version, with real packages; all
that is called are the program's own commands.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from installer.commands import say
from installer.plan import ROOT
from installer.release import version

OURS = ("app", "engine", "installer", "resources")
FILES = ("pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md")
PATIENCE_S = 300.0


class Copy:
    """An installation of its own: no file of the person who tries it is touched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "Jürgen" / "program"
        self.home.parent.mkdir()
        self.env = {name: value for name, value in os.environ.items() if "VIRTUAL_ENV" not in name}
        own = {"HOME": self.home.parent, "RUBATO_PROGRAM": self.home}
        own |= {"RUBATO_DATA": folder / "data", "RUBATO_CONFIG": folder / "data"}
        own |= {"QT_QPA_PLATFORM": Path("offscreen")}
        self.env |= {name: str(path) for name, path in own.items()}

    def do(self, *command: str | Path, cwd: Path | None = None) -> str:
        """What a command printed; it has to end well."""
        words = [str(word) for word in command]
        done = subprocess.run(
            words, env=self.env, cwd=cwd, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-500:]}{done.stderr[-1500:]}"
        return done.stdout


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_a_release_is_installed_beside_another_rolled_back_and_installed_again():
    with tempfile.TemporaryDirectory() as folder:  # pytest would keep its gigabytes for three runs
        trial(Copy(Path(folder)))


def trial(copy: Copy) -> None:
    old = version()
    major, minor, _ = old.split(".")
    new = f"{major}.{int(minor) + 1}.0"
    first, second = copy.folder / f"rubato-{old}", copy.folder / f"rubato-{new}"
    bundle = (sys.executable, "-m", "installer.bundle")
    step("A release", lambda: copy.do(*bundle, first, cwd=ROOT))
    step("And the next", lambda: copy.do(*bundle, second, cwd=under(new, copy)))
    step("Install", lambda: copy.do(first / "rubato-setup", "install"))
    speaks(copy)
    step("Cut off in the middle", lambda: cut_off(copy, second))
    assert status(copy, first)["current"] == f"env-{old}-cpu"
    speaks(copy)
    step("Install beside it", lambda: copy.do(second / "rubato-setup", "install"))
    assert status(copy, first)["current"] == f"env-{new}-cpu"
    step("The first start", lambda: starts(copy))
    assert status(copy, first)["previous"] == f"env-{old}-cpu"
    step("Roll back", lambda: copy.do(second / "rubato-setup", "roll-back"))
    assert status(copy, first)["current"] == f"env-{old}-cpu"
    speaks(copy)
    step("Install again", lambda: copy.do(second / "rubato-setup", "install"))
    step("A start more", lambda: starts(copy))
    speaks(copy)


def step(name: str, action: Callable[[], object]) -> None:
    began = time.monotonic()
    action()
    say(f"  {name}: {time.monotonic() - began:.0f} s")


def speaks(copy: Copy) -> None:
    wav = copy.folder / "said.wav"
    copy.do(copy.home / "rubato", "say", "It works.", "--out", wav)
    assert wav.stat().st_size > 10_000
    wav.unlink()


def starts(copy: Copy) -> None:
    """The program comes up, and ends when it is asked to."""
    words = [str(copy.home / "rubato"), "--start-hidden", "--no-tray"]
    with subprocess.Popen(words, env=copy.env, stderr=subprocess.DEVNULL) as program:
        asked = [words[0], "status"]
        end = time.monotonic() + PATIENCE_S
        while subprocess.run(asked, env=copy.env, capture_output=True, check=False).returncode:
            assert time.monotonic() < end, "the program does not start"
            assert program.poll() is None
            time.sleep(0.5)
        program.send_signal(signal.SIGINT)
        assert program.wait() == 0


def cut_off(copy: Copy, release: Path) -> None:
    """By Ctrl+C while packages are put in: it leaves nothing. What a shell runs in its background
    ignores that, and so would what these tests start there.
    """
    words = ["env", "--default-signal=INT", str(release / "rubato-setup"), "install"]
    with subprocess.Popen(
        words, env=copy.env, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as installation:
        assert installation.stdout is not None
        for line in installation.stdout:
            if (step := re.match(r" *(\d+)%  ", line)) and int(step[1]) > 20:
                break
        os.killpg(installation.pid, signal.SIGINT)
        installation.stdout.read()
        assert installation.wait() != 0, "it was over too soon"
    assert len(list(copy.home.glob("env-*"))) == 1


def status(copy: Copy, release: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(copy.do(release / "rubato-setup", "status"))
    return told


def under(number: str, copy: Copy) -> Path:
    """This checkout under another version."""
    tree = copy.folder / "checkout"
    tree.mkdir()
    for name in OURS:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copyfile(ROOT / name, tree / name)
    project = tree / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    fresh = re.sub(r'^version = ".*"$', f'version = "{number}"', text, count=1, flags=re.MULTILINE)
    project.write_text(fresh, encoding="utf-8")
    return tree
