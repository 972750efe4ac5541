"""What a started program tells the bootstrapper, and what it learns from it."""

import pytest

from app.presence import autostart


def test_a_start_is_noted_once(tmp_path, monkeypatch):
    noted = tmp_path / "started"
    monkeypatch.setenv("RUBATO_STARTED", str(noted))
    autostart.note_start()
    autostart.note_start()
    assert noted.read_text() == "up\n"


@pytest.mark.parametrize("place", ["", "/nowhere/started"])
def test_without_a_place_nothing_is_noted(place, monkeypatch):
    monkeypatch.setenv("RUBATO_STARTED", place)
    autostart.note_start()


def test_at_login_the_launcher_is_started_which_outlives_updates(tmp_path, monkeypatch):
    launcher = tmp_path / "rubato"
    launcher.touch()
    monkeypatch.setenv("RUBATO_LAUNCHER", str(launcher))
    assert autostart.own_command() == [str(launcher)]
    launcher.unlink()
    assert autostart.own_command() != [str(launcher)]
