"""Models of the catalogue that speak and judge here: those that the program itself fetches."""

import sys
from pathlib import Path

from engine.assets.catalogue import find
from engine.assets.store import State, Store
from engine.settings_file import data_folder


def fetch(name: str) -> Path:
    """The model's folder, downloaded with all that it needs unless it is there. AssetError."""
    asset, store = find(name), Store(data_folder() / "models")
    for needed in asset.needs:
        fetch(needed)
    if store.state(asset) is State.COMPLETE:
        return store.path(asset)
    sys.stderr.write(f"fetching {asset.title}, {asset.megabytes} MB\n")
    return store.fetch(asset, lambda progress: None, lambda: False)
