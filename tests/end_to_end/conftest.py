"""Where pictures of the stories are kept: in $RUBATO_PICTURES when that is set."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = Path(os.environ.get("RUBATO_PICTURES") or tmp_path_factory.mktemp("pictures"))
    place.mkdir(parents=True, exist_ok=True)
    return place
