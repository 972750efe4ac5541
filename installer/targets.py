"""Check that all pinned packages have wheels for every supported system and Python, and fetch them
into a folder for a machine without a network.

    python -m installer.targets                          # what is lacking, or nothing
    python -m installer.targets windows 3.13 FOLDER      # all wheels of one system and Python

Invariant: nothing is built or resolved: only the pins decide what is fetched, by hash.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from installer.pin import pins
from installer.plan import PINS

PYTHONS = ("3.11", "3.12", "3.13")
# The two files for installations on Windows and macOS; on Linux, torch.txt is the CUDA build.
FILES = ("run.txt", "torch.txt")


@dataclass(frozen=True)
class Target:
    """A system: its names in uv and pip, and the values of Python's environment markers."""

    name: str
    uv: str
    pip: tuple[str, ...]
    markers: Mapping[str, str]


WINDOWS = Target(
    "windows",
    "x86_64-pc-windows-msvc",
    ("win_amd64",),
    {
        "sys_platform": "win32",
        "platform_machine": "AMD64",
        "platform_system": "Windows",
        "os_name": "nt",
    },
)
MACOS = Target(
    "macos",
    "aarch64-apple-darwin",
    # pip needs every version listed; 14 is the oldest for which all packages have a build
    (
        *(f"macosx_{version}_0_arm64" for version in (14, 13, 12, 11)),
        *(f"macosx_{version}_universal2" for version in ("13_0", "11_0", "10_13", "10_9")),
    ),
    {
        "sys_platform": "darwin",
        "platform_machine": "arm64",
        "platform_system": "Darwin",
        "os_name": "posix",
    },
)
TARGETS = (WINDOWS, MACOS)
OLDEST_MACOS = "14.0"


def needed(text: str, target: Target, python: str) -> str:
    """Return the pins that are installed on this system and Python (e.g. '3.13')."""
    own = {
        **target.markers,
        "python_version": python,
        "python_full_version": f"{python}.1",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    found = []
    for pin in pins(text):
        marker = Requirement(pin.line).marker
        if marker is None or marker.evaluate(own):
            # without its marker, which pip would evaluate for the machine it runs on
            found.append(pin.text.replace(pin.line, pin.line.partition(" ;")[0], 1))
    return "".join(found)


def missing_wheels(target: Target, python: str, text: str) -> str:
    """Return "" if the index has a wheel with a pinned hash for each package, else uv's message."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "wanted.txt")
        wanted.write_text(needed(text, target, python), encoding="utf-8")
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--dry-run", "--quiet"]
        where = ["--target", str(Path(folder, "none")), "--python-platform", target.uv]
        hashed = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(wanted)]
        done = subprocess.run(
            [*uv, *where, "--python-version", python, *hashed],
            env={**os.environ, "UV_NO_CONFIG": "1", "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS},
            capture_output=True,
            text=True,
        )
    return done.stderr.strip() if done.returncode else ""


def fetch(target: Target, python: str, text: str, folder: Path) -> None:
    """Fetch all wheels into a folder that the bootstrapper accepts as `--wheels`."""
    with tempfile.TemporaryDirectory() as temporary:
        wanted = Path(temporary, "wanted.txt")
        wanted.write_text(needed(text, target, python), encoding="utf-8")
        hashed = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(wanted)]
        platforms = [option for each in target.pip for option in ("--platform", each)]
        pip = [sys.executable, "-P", "-m", "pip", "download", "--dest", str(folder), *platforms]
        subprocess.run([*pip, "--python-version", python, *hashed], check=True)


def text_of(files: Sequence[str] = FILES) -> str:
    return "".join((PINS / name).read_text(encoding="utf-8") for name in files)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", nargs="?", choices=[each.name for each in TARGETS])
    parser.add_argument("python", nargs="?", choices=PYTHONS, default="3.13")
    parser.add_argument("folder", nargs="?", type=Path)
    options = parser.parse_args(arguments)
    chosen = [each for each in TARGETS if options.system in (None, each.name)]
    if options.folder:
        fetch(chosen[0], options.python, text_of(), options.folder)
        return 0
    faults = {
        f"{target.name}, Python {python}": fault
        for target in chosen
        for python in PYTHONS
        if (fault := missing_wheels(target, python, text_of()))
    }
    for where, fault in faults.items():
        print(f"{where}:\n{fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
