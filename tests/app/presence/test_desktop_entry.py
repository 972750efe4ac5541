"""The desktop's files: what stands in them, and starting at login."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.devices import Devices
from app.presence import autostart, desktop_entry
from app.presence.desktop_entry import APP_ID, install, quoted
from app.settings.other_rows import LoginRow

ROOT = Path(__file__).parents[3]
ICON = ROOT / "resources" / "icons" / "rubato.svg"


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("/opt/rubato/bin/rubato", "/opt/rubato/bin/rubato"),
        ("/home/ann b/rubato", '"/home/ann b/rubato"'),
        *(("100%", "100%%"), ("a$b", '"a\\\\$b"'), ('a"b', '"a\\\\"b"'), ("", '""')),
        ("a\\b", '"a\\\\\\\\b"'),
    ],
)
def test_a_word_of_exec_is_quoted_as_the_specification_says(word, written):
    assert quoted(word) == written


def test_entry_and_icon_are_installed_once(tmp_path):
    written = install(["/opt/rubato"], ICON, tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        f"applications/{APP_ID}.desktop",
        f"icons/hicolor/scalable/apps/{APP_ID}.svg",
    ]
    assert install(["/opt/rubato"], ICON, tmp_path) == ()
    assert install(["/opt/other"], ICON, tmp_path) == written[:1]
    assert "Exec=/opt/other" in written[0].read_text()
    assert not list(tmp_path.rglob("*.new"))


def test_the_persons_folder_is_where_the_desktop_looks(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert desktop_entry.data_home() == tmp_path
    monkeypatch.setenv("XDG_DATA_HOME", "relative")  # to be ignored, says the specification
    assert desktop_entry.data_home() == Path.home() / ".local" / "share"
    script = "import sys; sys.path.insert(0, '.'); import app.presence.desktop_entry"
    # it needs the standard library only
    subprocess.run([sys.executable, "-S", "-I", "-c", script], cwd=ROOT, check=True)


@pytest.fixture(autouse=True)
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


def test_it_is_turned_on_and_off():
    assert not autostart.is_on()
    autostart.turn(True, ["/opt/rubato"])
    assert autostart.is_on()
    assert "Exec=/opt/rubato --start-hidden\n" in autostart.path().read_text()
    autostart.turn(False)
    autostart.turn(False)
    assert not autostart.is_on()


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled = false"])
def test_a_desktop_that_turned_it_off_is_believed(line):
    autostart.turn(True, ["/opt/rubato"])
    text = autostart.path().read_text().replace("X-GNOME-Autostart-enabled=true", line)
    autostart.path().write_text(text)
    assert not autostart.is_on()


def test_on_macos_it_is_a_launch_agent(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    autostart.turn(True, ["/Applications/Rubato"])
    assert autostart.is_on()
    assert autostart.path().parent == tmp_path / "Library" / "LaunchAgents"
    assert "<string>/Applications/Rubato</string>" in autostart.path().read_text()
    autostart.turn(False)
    assert not autostart.is_on()


def test_the_row_shows_what_is_so_and_why_it_could_not_be_turned(qtbot, theme, configuration):
    row = LoginRow(theme, Devices(lambda command: None), None)
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


def test_at_login_the_launcher_is_started_which_outlives_updates(tmp_path, monkeypatch):
    launcher = tmp_path / "rubato"
    launcher.touch()
    monkeypatch.setenv("RUBATO_LAUNCHER", str(launcher))
    assert autostart.own_command() == [str(launcher)]
    launcher.unlink()
    assert autostart.own_command() != [str(launcher)]
