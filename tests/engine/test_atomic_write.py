"""Replacing a small file: whole, private, and unchanged where the disk refuses."""

import os
import sys
from pathlib import Path

import pytest

from engine.atomic_write import replace_file


def test_a_file_gets_its_new_content_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    replace_file(path, "old")
    replace_file(path, "grün")
    assert path.read_bytes() == "grün".encode()
    assert list(tmp_path.iterdir()) == [path]
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600


def test_where_the_disk_is_full_the_old_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "notes.json"
    replace_file(path, b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
