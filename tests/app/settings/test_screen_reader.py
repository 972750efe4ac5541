"""The row in the settings that lets the screen reader use the voices."""

from pathlib import Path

import pytest

from app.settings.server import ScreenReaderRow
from engine.serve.doors.speech_dispatcher import installation


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(installation, "_SYSTEM", tmp_path / "none")
    monkeypatch.setattr(installation.shutil, "which", lambda name: f"/usr/bin/{name}")
    return tmp_path / ".local/libexec/speech-dispatcher-modules/sd_rubato"


def test_the_button_adds_the_voice_and_then_removes_it(module, window):
    row = ScreenReaderRow(window)
    assert "can speak with these voices" in row.words.text()
    row.change.click()
    assert module.is_file()
    assert "rubato" in row.words.text()
    assert "Remove" in row.change.text()
    row.change.click()
    assert not module.exists()
    assert "Add" in row.change.text()


def test_a_failure_is_shown(module, window, monkeypatch):
    monkeypatch.setattr(installation.shutil, "which", lambda name: None)
    row = ScreenReaderRow(window)
    row.change.click()
    assert "is not installed" in row.words.text()
    assert "apt install" in row.words.text()
