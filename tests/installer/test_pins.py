"""The pinned files follow pyproject.toml, give away nothing about a machine, and have wheels."""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from installer.macos.__main__ import OLDEST_MACOS
from installer.pin import CHOSEN_AT_INSTALL, merge_hashes, pins
from installer.plan import PINS, ROOT, TORCH

FILES = sorted(PINS.glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PLATFORMS = ("linux", "darwin", "win32")
PYTHONS = ("3.11", "3.12", "3.13")
SYSTEMS = ("x86_64-pc-windows-msvc", "aarch64-apple-darwin")  # in uv's words
# The two files for installations on Windows and macOS; on Linux, torch.txt is the CUDA build.
FILES_ELSEWHERE = (PINS / "run.txt", PINS / "torch.txt")


def wanted() -> Iterator[tuple[str, str]]:
    """Every requirement of pyproject.toml with the file that must pin it."""
    extras = PROJECT["project"]["optional-dependencies"]
    for line in PROJECT["project"]["dependencies"] + extras["aec"]:
        yield "run", line
    for line in extras["llm"]:
        yield "llm", line
    for line in PROJECT["dependency-groups"]["dev"]:
        yield "dev", line


@cache
def pinned(file: str) -> dict[str, list[Requirement]]:
    """Name -> its pins (several where the version depends on Python) in a file and in run.txt."""
    found: dict[str, list[Requirement]] = {}
    for name in {file, "run"}:
        for pin in pins((PINS / f"{name}.txt").read_text(encoding="utf-8")):
            requirement = Requirement(pin.line)
            found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


@pytest.mark.parametrize(("file", "line"), list(wanted()))
def test_every_requirement_is_pinned_within_its_bounds_for_every_python(file, line):
    requirement = Requirement(line)
    if CHOSEN_AT_INSTALL.match(requirement.name):
        assert Version(TORCH.partition("==")[2]) in requirement.specifier
        return
    pinned_as = pinned(file).get(canonicalize_name(requirement.name), [])
    for python, platform in product(PYTHONS, PLATFORMS):
        where = {"python_full_version": f"{python}.1", "python_version": python}
        where["sys_platform"] = platform
        if not requirement.marker or requirement.marker.evaluate(where):
            valid = [pin for pin in pinned_as if not pin.marker or pin.marker.evaluate(where)]
            assert len(valid) == 1, f"run `make requirements`: {line} on {python}, {platform}"
            version = next(iter(valid[0].specifier)).version
            assert requirement.specifier.contains(version, prereleases=True), "make requirements"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_pin_has_a_hash_and_none_names_an_address_or_a_path(file):
    text = file.read_text(encoding="utf-8")
    found = list(pins(text))
    assert found
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}\b", pin.text) for pin in found)
    of_torch = file.name.startswith("torch")  # and its CUDA libraries: files of their own
    wrong = [pin for pin in found if bool(CHOSEN_AT_INSTALL.match(pin.name)) is not of_torch]
    assert wrong == []
    lines = [line for line in text.splitlines() if line[:1] != "#"]
    pin = r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+( ; [^/:\\]+)? \\"
    hashed = r"    --hash=sha256:[0-9a-f]{64}( \\)?"
    assert [line for line in lines if not re.fullmatch(f"{pin}|{hashed}", line)] == []


def test_torch_is_pinned_to_the_version_that_setup_installs_with_what_it_needs():
    (torch,) = pinned("torch")["torch"]
    assert str(torch) == TORCH
    assert {"sympy", "jinja2", "filelock", "networkx", "fsspec"} <= set(pinned("run"))


def test_a_folder_of_wheels_adds_to_the_pinned_builds_and_a_new_version_replaces_them(tmp_path):
    file, first = tmp_path / "torch-linux-cpu.txt", "torch==2+cpu ; sys_platform == 'linux' \\"
    one, two = (f"    --hash=sha256:{letter * 64}" for letter in "ab")
    assert merge_hashes(file, first, [two]) == [two]
    file.write_text(f"# made\n{first}\n{one}\n")
    assert merge_hashes(file, first, [two]) == [one + " \\", two]
    assert merge_hashes(file, first.replace("2", "3"), [two]) == [two]


WINDOWS = {"sys_platform": "win32", "platform_machine": "AMD64", "os_name": "nt"}
MACOS = {"sys_platform": "darwin", "platform_machine": "arm64", "os_name": "posix"}


def needed(system: dict[str, str], python: str) -> list[str]:
    """The names of the pins that are installed on this system and Python."""
    where = {**system, "python_version": python, "python_full_version": f"{python}.1"}
    where["platform_system"] = {"win32": "Windows", "darwin": "Darwin"}[where["sys_platform"]]
    text = "".join(file.read_text(encoding="utf-8") for file in FILES_ELSEWHERE)
    found = [Requirement(pin.line) for pin in pins(text)]
    return [each.name for each in found if not each.marker or each.marker.evaluate(where)]


@pytest.mark.parametrize("python", PYTHONS)
def test_windows_gets_time_zones_and_one_torch_without_cuda_and_macos_nothing_of_others(python):
    found = needed(WINDOWS, python)
    assert {"tzdata", "torch", "pyside6-essentials"} <= set(found)
    assert len(found) == len(set(found))
    assert not [name for name in found if name.startswith(("nvidia", "cuda", "triton", "python-x"))]
    found = needed(MACOS, python)
    assert "torch" in found
    assert not {*found} & {"colorama", "python-xlib", "triton", "nvidia-cudnn-cu13"}


def missing_wheels(system: str, python: str, *files: Path) -> str:
    """Return "" if the index has a wheel with a pinned hash for each package, else uv's message.
    Nothing is built or resolved.
    """
    with tempfile.TemporaryDirectory() as folder:
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--dry-run", "--quiet"]
        where = ["--target", folder, "--python-platform", system, "--python-version", python]
        hashed = ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
        pins = [option for path in files or FILES_ELSEWHERE for option in ("-r", str(path))]
        done = subprocess.run(
            [*uv, *where, *hashed, *pins],
            env={**os.environ, "UV_NO_CONFIG": "1", "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS},
            capture_output=True,
            text=True,
        )
    return done.stderr.strip() if done.returncode else ""


@pytest.mark.long
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_package_has_a_wheel_with_a_pinned_hash(system, python):
    assert missing_wheels(system, python) == ""


@pytest.mark.long
def test_a_package_without_a_wheel_is_named(tmp_path):
    digest = "49b3a825280bd66b3aa83585ef59c4a8c82f2c8a522dbe754a8bc8d08c85c491"
    source = tmp_path / "source.txt"
    source.write_text(f"docopt==0.6.2 \\\n    --hash=sha256:{digest}\n")
    assert "docopt" in missing_wheels(SYSTEMS[0], "3.13", source)
