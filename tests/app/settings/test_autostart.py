"""Starting at login, and the switch for it."""

from pathlib import Path

import pytest

from app.settings import autostart
from app.settings.autostart import LoginRow
from app.status.parts import Parts


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("system", "folder", "line"),
    [
        ("linux", "autostart", "Exec=/opt/rubato --start-hidden\n"),
        ("darwin", "Library/LaunchAgents", "<string>/opt/rubato</string>"),
    ],
)
def test_it_is_turned_on_and_off(tmp_path, monkeypatch, system, folder, line):
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert not autostart.is_on()
    autostart.turn(True, ["/opt/rubato"])
    assert autostart.is_on()
    assert autostart.path().parent == tmp_path / folder
    assert line in autostart.path().read_text()
    autostart.turn(False)
    autostart.turn(False)
    assert not autostart.is_on()


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled = false"])
def test_a_desktop_that_turned_it_off_is_believed(line):
    autostart.turn(True, ["/opt/rubato"])
    text = autostart.path().read_text().replace("X-GNOME-Autostart-enabled=true", line)
    autostart.path().write_text(text)
    assert not autostart.is_on()


def test_the_row_shows_what_is_so_and_why_it_could_not_be_turned(qtbot, theme, configuration):
    row = LoginRow(theme, Parts(), None)
    qtbot.addWidget(row)
    row.show()
    assert not row.editor.control.isChecked()
    row.editor.control.click()
    assert autostart.is_on()
    row.hide()
    autostart.path().unlink()  # as from a settings program of the desktop
    row.show()
    assert not row.editor.control.isChecked()
    autostart.path().parent.rmdir()
    (configuration / "autostart").write_text("a file where the folder should be")
    row.editor.control.click()
    assert row.fault.isVisible()
    assert not row.editor.control.isChecked()
