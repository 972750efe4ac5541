"""Models of the catalogue that speak and judge here: those that the program itself fetches."""

import sys
from pathlib import Path

from engine.assets.catalogue import find
from engine.models import storage


def fetch(name: str) -> Path:
    """Return the model's folder, fetched with its needs unless it is complete. AssetError."""
    if folder := storage.default_store().complete_folder(name):
        return folder
    asset = find(name)
    sys.stderr.write(f"fetching {asset.title}, {asset.megabytes} MB\n")
    return storage.fetch(name, lambda file, done, total: None)[-1]
