"""What the tests of fetching share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

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
def hub() -> Iterator[Hub]:
    with serving(Hub({"config.json": SMALL, "model.safetensors": LARGE})) as hub:
        yield hub


@pytest.fixture
def store(hub: Hub, tmp_path: Path) -> Store:
    return store_at(tmp_path / "models", hub)
