"""A disk that is really full: whatever room it has, an installation or update leaves a program that
starts, and says why it stopped.
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from installer.bootstrap import current_version, desktop, installation, starting
from installer.bootstrap.installation import install
from installer.bootstrap.paths import Home
from installer.bootstrap.payload import Payload
from installer.commands import SetupError

BLOCK = 4096  # bytes that a tmpfs gives at a time
DISK = 4 * 1024 * 1024
ROOMS = [0, 2, 5, 13, 34, 55, 89, 144]  # blocks that are left on it

pytestmark = pytest.mark.slow


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """An empty disk of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"a small disk cannot be mounted here: {error}")
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture(autouse=True)
def unforeseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is refused before it begins, as when something else fills the disk meanwhile; Python
    keeps byte code, as it does for a person.
    """
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setattr(installation, "check_room", lambda home, needed_gb: None)


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
    finally:
        (disk / "filler").unlink()
    return ""


def said_by(home: Home) -> str:
    done = subprocess.run([str(desktop.launcher(home)), "x"], stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def test_on_a_full_disk_an_installation_is_whole_or_none_and_an_update_leaves_what_was_there(
    disk, home, release
):
    home, stopped = Home(disk / "program"), {"1.0": 0, "2.0": 0}
    for blocks in ROOMS:
        reason = refusal(home, release("1.0"), disk, blocks)
        stopped["1.0"] += bool(reason)
        assert "disk is full" in reason or not reason, blocks
        assert home.is_whole(current_version.read(home).current) is not bool(reason), blocks
        shutil.rmtree(home.folder, ignore_errors=True)
    desktop.put(home, install(home, release("1.0")))
    for blocks in ROOMS:
        reason = refusal(home, release("2.0"), disk, blocks)
        if reason:
            stopped["2.0"] += 1
            assert "disk is full" in reason, blocks
            assert home.environments() == ["env-1.0-cpu"], blocks
            assert starting.environment_to_start(home)[0] == "env-1.0-cpu", blocks
        found = current_version.read(home).current
        assert home.is_whole(found), blocks
        assert said_by(home) == f"rubato {found.split('-')[1]} x", blocks
    assert all(0 < each < len(ROOMS) for each in stopped.values())  # else no room is near enough
    install(home, release("2.0"))
    assert said_by(home) == "rubato 2.0 x"
