"""Check that all pinned packages have wheels for Windows, macOS and every supported Python: print
what is lacking, or nothing.

    python -m installer.targets

Invariant: nothing is built or resolved: only the pins decide, by hash.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from installer.plan import PINS

PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = ("x86_64-pc-windows-msvc", "aarch64-apple-darwin")  # in uv's words
OLDEST_MACOS = "14.0"
# The two files for installations on Windows and macOS; on Linux, torch.txt is the CUDA build.
FILES = (PINS / "run.txt", PINS / "torch.txt")


def missing_wheels(system: str, python: str, *files: Path) -> str:
    """Return "" if the index has a wheel with a pinned hash for each package of the files (by
    default FILES), else uv's message.
    """
    with tempfile.TemporaryDirectory() as folder:
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--dry-run", "--quiet"]
        where = ["--target", folder, "--python-platform", system, "--python-version", python]
        hashed = ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
        pins = [option for path in files or FILES for option in ("-r", str(path))]
        done = subprocess.run(
            [*uv, *where, *hashed, *pins],
            env={**os.environ, "UV_NO_CONFIG": "1", "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS},
            capture_output=True,
            text=True,
        )
    return done.stderr.strip() if done.returncode else ""


def main() -> int:
    faults = {
        f"{system}, Python {python}": fault
        for system in SYSTEMS
        for python in PYTHONS
        if (fault := missing_wheels(system, python))
    }
    for where, fault in faults.items():
        print(f"{where}:\n{fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
