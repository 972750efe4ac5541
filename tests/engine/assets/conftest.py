"""What the tests of fetching share."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.assets import packages
from engine.assets.catalogue import Package, Registry
from engine.assets.store import Store
from tests.engine.assets.hub import Hub, serving
from tests.engine.assets.toy import LARGE, SMALL, store_at


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place pip looks in."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


@pytest.fixture
def at_hand(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shelf's packages are copied: other tests ask pip, which thinks for a second, and npm."""
    copy = "import shutil, sys; shutil.copy(*sys.argv[1:])"

    def command(package: Package, archive: Path) -> list[str]:
        suffix = ".tgz" if package.registry is Registry.NPM else "-py3-none-any.whl"
        there = shelf / f"{package.name}-{package.version}{suffix}"
        return [sys.executable, "-I", "-S", "-c", copy, str(there), str(archive)]

    monkeypatch.setattr(packages, "_command", command)


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(Hub({"config.json": SMALL, "model.safetensors": LARGE})) as hub:
        yield hub


@pytest.fixture
def store(hub: Hub, tmp_path: Path) -> Store:
    return store_at(tmp_path / "models", hub)
