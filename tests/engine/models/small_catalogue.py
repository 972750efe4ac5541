"""The shipped catalogue with small files, served by a hub on loopback: names, kinds and needs are
the real ones.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from engine.assets import catalogue
from engine.assets.catalogue import Asset, AssetFile
from engine.models import storage
from tests.engine.assets.hub import Hub, serving

FILE_BYTES = 300_000


@cache
def content(name: str) -> bytes:
    """What stands for a file; a language model at least begins like one."""
    begin = b"GGUF" if name.endswith(".gguf") else b""
    return begin + hashlib.shake_128(name.encode()).digest(FILE_BYTES - len(begin))


@cache
def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def shrunk(asset: Asset, files: Mapping[str, bytes]) -> Asset:
    """Pinned by what the hub has; the sizes that are told stay, for they decide what fits."""
    found = tuple(
        AssetFile(
            file.path, file.likely_bytes / 1e6, len(files[file.path]), _hash(files[file.path])
        )
        for file in asset.files
    )
    return replace(asset, files=found)


@contextmanager
def small_catalogue(
    data: Path, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, bytes] | None = None
) -> Iterator[dict[str, bytes]]:
    """Every file of the catalogue, small, for the stores of `data`; a hub has to serve them."""
    shipped = catalogue.parse(catalogue.resource("models.toml").read_text(encoding="utf-8"))
    names = {file.path for asset in shipped.values() for file in asset.files}
    served = {name: content(name) for name in names} | dict(files or {})
    small = {name: shrunk(asset, served) for name, asset in shipped.items()}
    monkeypatch.setattr(catalogue, "parse", lambda text: small)
    monkeypatch.setenv("RUBATO_DATA", str(data))
    monkeypatch.setenv("RUBATO_CONFIG", str(data / "config"))
    catalogue.catalogue.cache_clear()
    yield served
    catalogue.catalogue.cache_clear()


@contextmanager
def small_hub(
    data: Path, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, bytes] | None = None
) -> Iterator[Hub]:
    """A hub with every file of the catalogue, which the stores of `data` fetch from."""
    with (
        small_catalogue(data, monkeypatch, files) as served,
        serving(Hub(served, dict.fromkeys(("latest", "model-files-v1.0"), served))) as hub,
    ):
        monkeypatch.setenv(storage.HUB, hub.endpoint)
        yield hub
