"""The installer for Windows, run silently under Wine: files, registry, menu, command, removal."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from installer.windows import __main__ as windows

KEY = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\Rubato"
RUN = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run"
FOLDER = "Rübe Ordner"  # a blank and a letter that is not ASCII
pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(
        not (shutil.which("makensis") and shutil.which("wine")), reason="needs nsis and wine"
    ),
]


class Wine:
    """A Windows of its own in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.drive = folder / "prefix" / "drive_c"
        self._env = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(folder),
            "WINEPREFIX": str(folder / "prefix"),
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=",
        }
        assert self("wineboot", "--init").returncode == 0
        version = ("add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10")
        assert self("reg", *version).returncode == 0

    def __call__(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["wine", *words],
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="cp437",  # what the commands of Windows write
            errors="replace",
            timeout=300,
        )

    def value(self, key: str, name: str) -> str:
        """A value of the registry; empty where there is none."""
        lines = self("reg", "query", key, "/v", name).stdout.splitlines()
        found = [line.split(None, 2) for line in lines if line.strip().startswith(name)]
        return found[0][2] if found else ""

    def uninstall(self, folder: str, *options: str) -> None:
        """The uninstaller works in a copy of itself, so its own end is not the end of it."""
        assert self(rf"{folder}\uninstall.exe", "/S", *options).returncode == 0
        subprocess.run(["wineserver", "--wait"], env=self._env, check=True, timeout=300)

    def end(self) -> None:
        subprocess.run(["wineserver", "--kill"], env=self._env, check=False)

    def local(self) -> Path:
        (found,) = self.drive.glob("users/*/AppData/Local")
        return found

    def menu(self) -> list[Path]:
        return list(self.drive.glob("users/*/AppData/Roaming/**/Programs/Rubato.lnk"))


@pytest.fixture(scope="module")
def installer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return windows.make(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    machine = Wine(tmp_path_factory.mktemp("wine"))
    yield machine
    machine.end()


def test_it_installs_starts_a_command_upgrades_and_removes_itself(installer, wine):
    place = wine.drive / FOLDER / "Rubato"
    there = rf"C:\{FOLDER}\Rubato"
    # /D= would do the same, but takes no quotes, and Wine puts some round a blank
    wine("reg", "add", KEY, "/v", "InstallLocation", "/d", there)
    assert wine(str(installer), "/S").returncode == 0
    assert wine.value(KEY, "InstallLocation") == there
    assert wine.value(KEY, "QuietUninstallString") == rf'"{there}\uninstall.exe" /S'
    assert len(wine.menu()) == 1
    assert (place / "release" / "uv.exe").is_file()

    status = wine(rf"{there}\bin\rubato.exe", "status")
    assert json.loads(status.stdout)["whole"] is False, status.stderr
    told = wine(rf"{there}\bin\rubato.exe", "doctor")
    assert told.returncode == 1
    assert "not installed completely" in told.stderr

    (place / "release" / "older").touch()
    (place / "own.txt").write_text("the person's")
    program, own = wine.local() / "rubato-program", wine.local() / "rubato"
    for folder in (program, own):
        folder.mkdir(exist_ok=True)
        (folder / ("installing.lock" if folder is program else "voice")).touch()
    assert wine(str(installer), "/S").returncode == 0  # where it was before
    assert not (place / "release" / "older").exists()

    wine("reg", "add", RUN, "/v", "org.rubato.Rubato", "/d", "something")
    wine.uninstall(there)
    assert wine.value(KEY, "DisplayName") == ""
    assert wine.value(RUN, "org.rubato.Rubato") == ""
    assert wine.menu() == []
    assert not program.exists()
    assert (own / "voice").exists()
    assert sorted(each.name for each in place.iterdir()) == ["own.txt"]


def test_what_the_person_made_goes_only_when_asked_for(installer, wine):
    own = wine.local() / "rubato"
    own.mkdir(exist_ok=True)
    (own / "voice").touch()
    assert wine(str(installer), "/S").returncode == 0
    folder = wine.value(KEY, "InstallLocation")
    assert folder.endswith(r"AppData\Local\Programs\Rubato")
    wine.uninstall(folder, "/REMOVE_OWN_FILES")
    assert not own.exists()
    assert not (wine.local() / "Programs" / "Rubato").exists()
