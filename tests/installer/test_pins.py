"""The pinned files: they follow pyproject.toml, and they give away nothing about a machine."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from installer.pin import CHOSEN_AT_INSTALL, pins
from installer.plan import PINS, ROOT, TORCH

FILES = sorted(PINS.glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("linux", "darwin", "win32")


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
