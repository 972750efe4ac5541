"""Pin every package the project installs, with hashes: `make requirements` writes the files in
installer/pins/ from pyproject.toml.

Invariant: the files contain names, versions, markers and hashes for Linux, macOS and Windows and
every supported Python; never an address or a path. torch itself is only in torch.txt, because the
right build depends on the machine (installer/setup.py picks it); its dependencies are in the
others. torch.txt has the builds of the package index: for the CPU on Windows, for Apple's
processors on macOS, and with CUDA and its libraries on Linux; torch-linux-cpu.txt and
torch-windows-cuda.txt have the builds that are only on PyTorch's own index.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from installer.plan import PINS, ROOT, TORCH, VENV

HEADER = "# Made by `make requirements` from pyproject.toml; change that, not this.\n"
# Installed in a separate step: torch and the CUDA libraries that its Linux wheel requires.
CHOSEN_AT_INSTALL = re.compile(r"^(torch|triton|nvidia-.*|cuda-.*)$")
# The marker of packages that pyproject.toml removes by an override.
NEVER = "sys_platform == 'never'"
UV = "uv==0.13.8"  # installs the rest; pip alone cannot override moshi's pins
BUILD = [  # needed to build the project itself and llama-cpp-python
    "hatchling",
    "editables",
    "setuptools",
    "scikit-build-core>=0.11",
    "cmake>=3.21",
    "ninja>=1.11",
]


@dataclass(frozen=True)
class Pin:
    """One pinned package: its first line 'name==version ; marker', and all lines with hashes."""

    name: str
    line: str
    text: str


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="move to the newest versions")
    parser.add_argument(
        "wheels", nargs="*", type=Path, help="folders that stand in for PyTorch's index"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        everything = Path(folder, "everything.txt")
        if not options.upgrade:  # uv keeps the versions that it finds in its output file
            old = [PINS / name for name in ("run.txt", "dev.txt", "llm.txt", "torch.txt")]
            everything.write_text("".join(file.read_text() for file in old))
        # all parts together, so that they agree
        compile_pins("pyproject.toml", "--all-extras", "--group", "dev", "-o", str(everything))
        pin_all("--generate-hashes", "-c", str(everything))
    pin_own_builds(options.wheels)
    return 0


def pin_all(*options: str) -> None:
    run = write("run.txt", compile_pins("pyproject.toml", "--extra", "aec", *options))
    write("llm.txt", compile_pins("pyproject.toml", "--extra", "llm", *options), run)
    write("dev.txt", compile_pins("--group", "dev", *options), run)
    write("torch.txt", compile_pins("-", *options, given=TORCH), run, torch=True)
    write("setup.txt", compile_pins("-", "--generate-hashes", given=UV))
    write("build.txt", compile_pins("-", "--generate-hashes", given="\n".join(BUILD)))


def compile_pins(*arguments: str, given: str = "", check: bool = True) -> str:
    """Return the output of `uv pip compile`; its messages go to the terminal. If it fails, end with
    its status, or without `check` return what there is.
    """
    command = ["uv", "pip", "compile", "--universal", "--no-header", "--no-annotate", "--quiet"]
    # A separate cache: to get hashes, uv fetches llama-cpp-python's source again, and in the usual
    # cache it would then forget the wheel that it compiled.
    options = ["--python-version", "3.11", "--cache-dir", str(VENV / "pin-cache")]
    done = subprocess.run(
        [*command, *options, *arguments], cwd=ROOT, input=given, stdout=subprocess.PIPE, text=True
    )
    if done.returncode and check:
        sys.exit(done.returncode)
    return done.stdout


def pins(text: str) -> Iterator[Pin]:
    """Yield the packages of a requirements file, each with its continuation lines."""
    for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE):
        if match := re.match(r"([A-Za-z0-9._-]+)==[^\\\n]+", block):
            yield Pin(match[1].lower(), match[0].strip(), block.rstrip() + "\n")


def write(name: str, text: str, already: Container[str] = (), *, torch: bool = False) -> set[str]:
    """Write one file, either of `torch` and its libraries or of everything else, without packages
    in `already` or never installed; return the packages' first lines.
    """
    kept = [
        pin
        for pin in pins(text)
        if bool(CHOSEN_AT_INSTALL.match(pin.name)) is torch
        and pin.line not in already
        and NEVER not in pin.line
    ]
    body = HEADER + "".join(pin.text for pin in kept)
    (PINS / name).write_text(body, encoding="utf-8", newline="\n")
    return {pin.line for pin in kept}


# file -> its system, uv's name of the index, and the mark in the version of its builds
BUILDS = {
    "torch-linux-cpu.txt": ("linux", "cpu", "+cpu"),
    "torch-windows-cuda.txt": ("win32", "cu130", "+cu130"),
}


def pin_own_builds(folders: Sequence[Path]) -> None:
    """Write the builds of torch that only PyTorch's own index has. A written file lists every build
    that was found there, or in the folders of wheels; if none can be found, that is printed and the
    old file stays.
    """
    for file, (system, backend, mark) in BUILDS.items():
        asking = ("--generate-hashes", "--no-deps", "--torch-backend", backend)
        text = compile_pins("-", *asking, given=TORCH + mark, check=False)
        hashes = re.findall(r"--hash=sha256:\w+", text)
        if not hashes:
            pattern = TORCH.replace("==", "-") + mark + "-*.whl"
            wheels = [path.read_bytes() for folder in folders for path in folder.glob(pattern)]
            hashes = [f"--hash=sha256:{hashlib.sha256(wheel).hexdigest()}" for wheel in wheels]
        if not hashes:
            print(f"{file} is unchanged: no {TORCH}{mark} can be reached")
            continue
        first = f"{TORCH}{mark} ; sys_platform == '{system}' \\"
        lines = merge_hashes(PINS / file, first, hashes)
        (PINS / file).write_text(HEADER + "\n".join([first, *lines]) + "\n", encoding="utf-8")
        print(f"{file}: {len(lines)} builds")


def merge_hashes(file: Path, first: str, hashes: Sequence[str]) -> list[str]:
    """Add the file's hash lines for the same version: a folder of wheels lacks other Pythons."""
    old = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    known = [line for line in old if "--hash=" in line] if first in old else []
    lines = sorted({line.strip(" \\") for line in (*hashes, *known)})
    return [f"    {line} \\" for line in lines[:-1]] + [f"    {line}" for line in lines[-1:]]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
