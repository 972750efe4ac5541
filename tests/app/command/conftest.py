"""Folders of a person who keeps nothing yet."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    return tmp_path
