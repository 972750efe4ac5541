"""A runtime folder of our own, short enough for a socket's path."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What XDG_RUNTIME_DIR and TMPDIR name in this test and its child processes."""
    with tempfile.TemporaryDirectory(prefix="rubato-test") as name:
        folder = Path(name, "runtime")
        folder.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.delenv("RUBATO_DATA", raising=False)
        yield folder
