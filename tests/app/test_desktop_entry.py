"""The desktop's files and their content."""

import subprocess
import sys
from pathlib import Path

import pytest

from app import desktop_entry
from app.desktop_entry import APP_ID, install, quoted

ROOT = Path(__file__).parents[2]
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
    script = "import sys; sys.path.insert(0, '.'); import app.desktop_entry"
    # it needs the standard library only
    subprocess.run([sys.executable, "-S", "-I", "-c", script], cwd=ROOT, check=True)
