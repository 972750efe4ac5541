"""A repository of releases on loopback, and a copy of the program that trusts it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.updates.source import Source
from tests.engine.updates.served import Copy, Keys, Server, installed, publish, repository


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
def server(tmp_path: Path, keys: Keys) -> Iterator[Server]:
    """With 0.2.0 on offer."""
    made = repository(tmp_path / "repository", keys)
    publish(made, keys, "0.2.0")
    with Server(made.folder) as serving:
        yield serving


@pytest.fixture
def copy(tmp_path: Path, server: Server) -> Copy:
    root = (server.folder / "metadata" / "1.root.json").read_bytes()
    return installed(tmp_path, Source(root, server.address))
