"""A model of two small files, as a hub and as a release has it, and a store for it."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.assets.catalogue import Asset, AssetFile, HubSource, ReleaseSource
from engine.assets.store import PINS, Progress, Store
from tests.engine.assets.hub import Hub

LARGE = np.random.default_rng(1).bytes(300_000)
SMALL = b'{"small": true}'
ASSET = Asset(
    "toy",
    "A toy model",
    "voice",
    HubSource("someone/toy", "main"),
    "MIT",
    "Someone",
    (AssetFile("config.json", 1), AssetFile("model.safetensors", 1)),
)
RELEASE = ReleaseSource("someone/toy", "latest")
RELEASED = AssetFile("weights+1.pt", 1)
PINNED = replace(RELEASED, sha256=hashlib.sha256(LARGE).hexdigest())


def ignore(progress: Progress) -> None:
    """Nobody watches."""


def never() -> bool:
    return False


def store_at(folder: Path, hub: Hub) -> Store:
    """A store that does not sleep where a server asks it to."""
    return Store(folder, endpoint=hub.endpoint, pause=lambda seconds: None)


def only(*files: AssetFile, source: HubSource | ReleaseSource = ASSET.source) -> Asset:
    return replace(ASSET, files=files, source=source)


def parts(folder: Path) -> list[str]:
    """What is there beside finished files."""
    known = {"config.json", "model.safetensors", "weights+1.pt", PINS}
    return sorted(path.name for path in folder.rglob("*") if path.name not in known)
