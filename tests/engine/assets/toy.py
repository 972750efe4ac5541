"""A model of two small files, as a hub, a release and packages have it, and a store for it."""

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from engine.assets.catalogue import Asset, AssetFile, Package, Registry
from engine.assets.store import PINS, Store
from tests.engine.assets.hub import Hub

LARGE = np.random.default_rng(1).bytes(300_000)
SMALL = b'{"small": true}'
ASSET = Asset(
    "toy",
    "A toy model",
    "voice",
    "main",
    "MIT",
    "Someone",
    (AssetFile("config.json", 1), AssetFile("model.safetensors", 1)),
    "someone/toy",
)
RELEASE = {"repository": "", "release": "someone/toy", "revision": "latest"}
RELEASED = AssetFile("weights+1.pt", 1, sha256=hashlib.sha256(LARGE).hexdigest())


def ignore(file: str, done: int, total: int) -> None:
    """Nobody watches."""


def never() -> bool:
    return False


def store_at(folder: Path, hub: Hub) -> Store:
    """A store that does not sleep where a server asks it to."""
    return Store(folder, endpoint=hub.endpoint, pause=lambda seconds: None)


def only(*files: AssetFile, source: Mapping[str, Any] = MappingProxyType({})) -> Asset:
    """The model with these files; `source` replaces where it comes from."""
    return replace(ASSET, files=files, **source)


def parts(folder: Path) -> list[str]:
    """What is there beside finished files."""
    known = {"config.json", "model.safetensors", "weights+1.pt", PINS}
    return sorted(path.name for path in folder.rglob("*") if path.name not in known)


def put_wheel(shelf: Path, name: str, content: bytes) -> Package:
    """A package whose code would be noticed if anything ran it."""
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(shelf / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('it was run')")
        wheel.writestr(f"{name}/data.bin", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return Package(name, "1.0")


def put_tarball(shelf: Path, name: str, path: str, content: bytes) -> Package:
    with tarfile.open(shelf / f"{name}-1.0.tgz", "w:gz") as archive:
        info = tarfile.TarInfo(path)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return Package(name, "1.0", Registry.NPM)


def member(package: Package, path: str) -> str:
    """A file of a package as models.toml names it."""
    prefix = "npm:" if package.registry is Registry.NPM else ""
    return f"{prefix}{package.name}=={package.version}/{path}"
