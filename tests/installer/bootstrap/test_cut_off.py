"""Killed anywhere, or on a full disk: a program that starts, and the next run completes it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from installer.bootstrap import desktop, installation
from installer.bootstrap.installation import install
from installer.bootstrap.paths import Home
from installer.bootstrap.payload import Payload
from installer.commands import SetupError
from tests.help.machine.small_disk import small_disk

# Each change, in minutes, or one in 25.
EVERY = [
    pytest.param(1, marks=[pytest.mark.long, pytest.mark.timeout(900)], id="each"),
    pytest.param(25, id="some"),
]

# Runs the installation and ends itself, as by SIGKILL, before the event of that number that could
# change the disk. With number 0 it only says how many there were.
DRIVER = """
import os, signal, sys
from pathlib import Path
from installer.bootstrap import paths, payload
from installer.bootstrap.installation import install
from installer.bootstrap.payload import Variant
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "subprocess.Popen", "os.symlink")
last, seen = int(sys.argv[1]), 0
def on_event(event, arguments):
    global seen
    writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    if writes or event in CHANGES:
        seen += 1
        if seen == last:
            os.kill(os.getpid(), signal.SIGKILL)
home = paths.Home(paths.default_folder())
sys.addaudithook(on_event)
install(home, payload.read(Path(sys.argv[2])), Variant.CPU)
print(seen)
"""


def drive(last: int, release: Payload) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DRIVER, str(last), str(release.folder)]
    root = str(Path(__file__).resolve().parents[3])
    env = {**os.environ, "PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, cwd="/")


def said_by(home: Home) -> str:
    done = subprocess.run([str(desktop.launcher(home)), "x"], stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


@pytest.mark.parametrize("every", EVERY)
def test_an_update_killed_anywhere_leaves_a_program_that_starts(every, home, release, tmp_path):
    old, new = release("1.0"), release("2.0")
    desktop.put(home, install(home, old))
    before = tmp_path / "before"
    shutil.copytree(home.folder, before, symlinks=True)
    steps = int(drive(0, new).stdout.splitlines()[-1])
    assert steps > 50  # else the events are not seen any more
    for last in range(every // 2 + 1, steps + 1, every):
        shutil.rmtree(home.folder)
        shutil.copytree(before, home.folder, symlinks=True)
        assert drive(last, new).returncode == -signal.SIGKILL, last
        found, _ = home.versions()
        assert home.is_complete(found), last
        assert said_by(home) == f"rubato {found.split('-')[1]} x", last
        assert drive(0, new).returncode == 0, last
        assert said_by(home) == "rubato 2.0 x", last
        assert home.versions()[1] == "env-1.0-cpu", last
        assert home.environments() == ["env-1.0-cpu", "env-2.0-cpu"], last
        assert not list(home.folder.glob("*.new")), last


@pytest.mark.parametrize("every", EVERY)
def test_a_first_installation_killed_anywhere_is_completed_by_the_next(every, home, release):
    new = release("2.0")
    steps = int(drive(0, new).stdout.splitlines()[-1])
    for last in range(every // 2 + 1, steps + 1, every):
        shutil.rmtree(home.folder)
        assert drive(last, new).returncode == -signal.SIGKILL, last
        found, _ = home.versions()
        assert not found or home.is_complete(found), last
        assert drive(0, new).returncode == 0, last
        assert home.is_complete(home.versions()[0]), last
        assert not list(home.folder.glob("gone-*")), last


BLOCK = 4096  # bytes that a tmpfs gives at a time
ROOMS = [0, 2, 5, 13, 34, 55, 89, 144]  # blocks that are left on it


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """An empty disk of a few megabytes."""
    with small_disk(tmp_path / "disk", "4m") as place:
        yield place


def leave(disk: Path, blocks: int) -> None:
    """Fill the disk but for so many blocks."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        while shutil.disk_usage(disk).free:
            file.write(b"\0" * BLOCK)
        file.truncate(max(0, file.tell() - blocks * BLOCK))


def refusal(home: Home, release: Payload, disk: Path, blocks: int) -> str:
    """Why it could not be installed with so many blocks left; empty where it was."""
    leave(disk, blocks)
    try:
        install(home, release)
    except SetupError as error:
        return str(error)
    return ""


@pytest.mark.slow
def test_on_a_full_disk_an_installation_or_update_is_whole_or_none(
    disk, home, release, monkeypatch
):
    """Nothing is refused before it begins, as when something else fills the disk meanwhile; Python
    keeps byte code, as it does for a person.
    """
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setattr(installation, "check_room", lambda home, needed_gb: None)
    home, stopped = Home(disk / "program"), {"1.0": 0, "2.0": 0}
    for blocks in ROOMS:
        reason = refusal(home, release("1.0"), disk, blocks)
        stopped["1.0"] += bool(reason)
        assert "disk is full" in reason or not reason, blocks
        assert home.is_complete(home.versions()[0]) is not bool(reason), blocks
        (disk / "filler").unlink()
        shutil.rmtree(home.folder, ignore_errors=True)
    desktop.put(home, install(home, release("1.0")))
    for blocks in ROOMS:
        reason = refusal(home, release("2.0"), disk, blocks)
        if reason:
            stopped["2.0"] += 1
            assert "disk is full" in reason, blocks
            assert home.environments() == ["env-1.0-cpu"], blocks
        found = home.versions()[0]
        assert home.is_complete(found), blocks
        assert said_by(home) == f"rubato {found.split('-')[1]} x", blocks
        (disk / "filler").unlink()
    assert all(0 < each < len(ROOMS) for each in stopped.values())  # else no room is near enough
    install(home, release("2.0"))
    assert said_by(home) == "rubato 2.0 x"
