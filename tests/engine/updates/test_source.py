"""Where updates come from: nowhere, until a root and an address are configured."""

import sys
from pathlib import Path

import pytest

from engine import upkeep
from engine.errors import UpdateError
from engine.updates import source
from engine.updates.source import Installation


def test_a_copy_as_it_is_made_asks_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """No production root is part of the program; the release that adds one deletes this test."""
    monkeypatch.delenv(source.VARIABLE, raising=False)
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    assert source.find_source() is None
    assert not upkeep.updates().is_on


def test_a_root_and_an_address_switch_it_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv(source.VARIABLE, str(tmp_path))
    (tmp_path / source.ROOT).write_bytes(b"{}")
    (tmp_path / source.ADDRESS).write_text("https://updates.example/rubato/\n")
    assert source.find_source() == source.Source(b"{}", "https://updates.example/rubato")


@pytest.mark.parametrize("address", [None, "", "ftp://x", "https://a b", "/srv/updates"])
def test_what_is_configured_wrongly_is_told(
    address: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv(source.VARIABLE, str(tmp_path))
    (tmp_path / source.ROOT).write_bytes(b"{}")
    if address is not None:
        (tmp_path / source.ADDRESS).write_text(address)
    with pytest.raises(UpdateError) as caught:
        source.find_source()
    assert source.ADDRESS in caught.value.hint + caught.value.message


def test_only_what_the_bootstrapper_made_is_an_installation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    environment = tmp_path / "env-0.1.0-cpu"
    (environment / "bootstrapper").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(environment))
    assert source.find_installation() is None
    (environment / "bootstrapper" / "__main__.py").touch()
    (environment / "made").touch()
    assert source.find_installation() == Installation(tmp_path, "env-0.1.0-cpu")
