"""Fetch the catalogue's models that serve as synthesisers or judges in training."""

import sys
from pathlib import Path

from engine.assets.catalogue import find
from engine.models import storage


def fetch(name: str) -> Path:
    """Return a model's folder; fetch it and the models that it needs if it is incomplete."""
    if folder := storage.default_store().complete_folder(name):
        return folder
    asset = find(name)
    sys.stderr.write(f"fetching {asset.title}, {asset.megabytes} MB\n")
    return storage.fetch(name, lambda file, done, total: None)[-1]
