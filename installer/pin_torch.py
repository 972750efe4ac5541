"""Pins the builds of torch that only PyTorch's own index has: torch-linux-cpu.txt and
torch-windows-cuda.txt. `make requirements` does it if that index can be reached.

    python -m installer.pin_torch [WHEELS]    # WHEELS: folders whose wheels stand in for the index

Invariant: a written file lists every build that was found, with its hash and without an address. If
none can be found, that is printed and the old file stays.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from installer.pin import HEADER, pins
from installer.plan import PINS, TORCH, VENV

# file -> uv's name of the index, and the mark in the version of its builds
BUILDS = {"torch-linux-cpu.txt": ("cpu", "+cpu"), "torch-windows-cuda.txt": ("cu130", "+cu130")}
_SYSTEMS = {"torch-linux-cpu.txt": "linux", "torch-windows-cuda.txt": "win32"}


def main(folders: Sequence[str]) -> int:
    for file, (backend, mark) in BUILDS.items():
        found = from_index(backend, mark) or from_wheels(map(Path, folders), mark)
        if not found:
            print(f"{file} is left as it is: no {TORCH}{mark} can be reached")
            continue
        where = f" ; sys_platform == '{_SYSTEMS[file]}'"
        head, *hashes = found.splitlines()
        first = head.rstrip(" \\").partition(" ;")[0] + where + " \\"
        (PINS / file).write_text(HEADER + "\n".join([first, *hashes]) + "\n", encoding="utf-8")
        print(f"{file}: {len(hashes)} builds")
    return 0


def from_index(backend: str, mark: str) -> str:
    """The pin with the hashes from the index, or "" if the index cannot be reached."""
    command = [str(VENV / "bin" / "uv"), "pip", "compile", "-", "--universal", "--no-header"]
    command += ["--no-annotate", "--generate-hashes", "--no-deps", "--python-version", "3.11"]
    env = os.environ | {"UV_HTTP_RETRIES": "0", "UV_HTTP_TIMEOUT": "20"}
    done = subprocess.run(
        [*command, "--torch-backend", backend],
        input=TORCH + mark,
        env=env,
        capture_output=True,
        text=True,
    )
    return next((pin.text.rstrip() for pin in pins(done.stdout)), "")


def from_wheels(folders: Iterable[Path], mark: str) -> str:
    """The pin with the hashes of the wheels in these folders, or ""."""
    pattern = TORCH.replace("==", "-") + mark + "-*.whl"
    wheels = sorted(path for folder in folders for path in folder.glob(pattern))
    if not wheels:
        return ""
    hashes = sorted({hashlib.sha256(path.read_bytes()).hexdigest() for path in wheels})
    lines = " \\\n".join(f"    --hash=sha256:{each}" for each in hashes)
    return f"{TORCH}{mark} \\\n{lines}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
