"""A hub on loopback and a data folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.assets.hub import Hub
from tests.engine.models.small_catalogue import small_hub


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def hub(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with small_hub(data, monkeypatch) as served:
        yield served
