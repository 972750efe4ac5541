"""`make run` puts Rubato into the person's menu, and goes on where it cannot."""

from pathlib import Path

import pytest

from installer import steps
from installer.environment import Environment


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setattr(steps.sys, "platform", "linux")
    return tmp_path / "share"


def test_the_entry_starts_the_program_of_this_environment(home, tmp_path, capsys):
    environment = Environment(tmp_path / "my venv")
    steps.show_in_desktop(environment)
    (entry,) = home.glob("applications/*.desktop")
    assert f'Exec="{environment.program("rubato")}"' in entry.read_text()
    assert (home / "icons/hicolor/scalable/apps" / entry.name).with_suffix(".svg").exists()
    assert "menu" in capsys.readouterr().out
    steps.show_in_desktop(environment)
    assert capsys.readouterr().out == ""  # there is nothing new


def test_where_it_cannot_be_written_setup_goes_on(home, tmp_path, capsys):
    home.write_text("a file where the folder should be")
    steps.show_in_desktop(Environment(tmp_path))
    assert "could not be put into the menu" in capsys.readouterr().out
