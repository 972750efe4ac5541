"""Make the installer for Windows; needs `makensis` (Debian: apt-get install nsis)."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from installer import icons
from installer.bundle import bundle
from installer.commands import SetupError
from installer.plan import ROOT
from installer.windows import parts

HERE = Path(__file__).parent
ROOM_KB = 2_600_000  # the size of an installation, as shown by Windows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m installer.windows", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", type=Path, help="python.org's embeddable package, unpacked")
    options = parser.parse_args(arguments)
    try:
        print(make(options.folder, options.python))
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def make(folder: Path, python: Path | None = None) -> Path:
    """Make the installer in `folder`; its final name appears when it is complete. SetupError."""
    if shutil.which("makensis") is None:
        raise SetupError("makensis is missing. Debian, Ubuntu: sudo apt-get install nsis.")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        files = Path(place, "files")
        version = put_files(files, python)
        made = Path(place, "rubato.exe")
        compile_installer(files, version, made)
        target = folder / f"rubato-{version}-windows.exe"
        return made.replace(target)


def put_files(folder: Path, python: Path | None = None) -> str:
    """Copy everything that the installer installs into a new folder; return the version."""
    folder.mkdir(parents=True)
    release = bundle(folder / "release", "windows")
    parts.put_python(folder / "python", python)
    put_launchers(folder, *parts.stubs())
    icons.write_ico(folder / "rubato.ico")
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE.txt")
    made_at = int(os.environ.get("SOURCE_DATE_EPOCH", "1577836800"))  # otherwise 2020
    for path in folder.rglob("*"):  # makensis packs the dates too
        os.utime(path, (made_at, made_at))
    return release.version


def put_launchers(folder: Path, window: bytes, terminal: bytes) -> None:
    program = (HERE / "launch.py").read_text(encoding="utf-8")
    (folder / "Rubato.exe").write_bytes(parts.launcher(window, r"python\pythonw.exe", program))
    (folder / "bin").mkdir()
    of_terminal = parts.launcher(terminal, r"..\python\python.exe", program)
    (folder / "bin" / "rubato.exe").write_bytes(of_terminal)


def compile_installer(files: Path, version: str, target: Path) -> None:
    """Run makensis, with absolute paths as it changes the folder. SetupError with its message."""
    numbers = [part if part.isdecimal() else "0" for part in (*version.split("."), "0", "0", "0")]
    settings = {
        "FILES": files.absolute(),
        "TARGET": target.absolute(),
        "VERSION": version,
        "NUMBERS": ".".join(numbers[:4]),
        "ROOM_KB": ROOM_KB,
    }
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    command = ["makensis", "-V2", "-WX", "-INPUTCHARSET", "UTF8", *defined]
    done = subprocess.run([*command, str(HERE / "rubato.nsi")], capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"makensis failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
