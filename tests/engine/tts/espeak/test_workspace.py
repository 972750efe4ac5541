"""Folders of processes that were killed do not pile up; those of living ones stay."""

import os
import tempfile
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.tts.espeak.library import Espeak
from engine.tts.espeak.workspace import PREFIX, YOUNG_S, Workspace
from tests.fresh_python import prints


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The system's folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def age(folder: Path) -> None:
    for left in folder.glob(f"{PREFIX}*"):
        long_ago = left.stat().st_mtime - 2 * YOUNG_S
        os.utime(left, (long_ago, long_ago))


def test_what_a_killed_process_left_is_removed_at_the_next_start(folder):
    prints("import os; from engine.tts.espeak.library import Espeak; Espeak.claim(); os._exit(0)")
    assert len(list(folder.iterdir())) == 1
    age(folder)
    espeak = Espeak.claim()
    try:
        assert len(list(folder.iterdir())) == 1
        assert len(espeak.speak("hello", voice="alan", words_per_minute=170).pcm)
    finally:
        espeak.release()
    assert list(folder.iterdir()) == []


def test_what_an_older_version_left_without_a_lock_is_removed(folder):
    (folder / f"{PREFIX}old").mkdir()
    (folder / f"{PREFIX}old" / "phondata").touch()
    age(folder)
    Workspace().close()
    assert list(folder.iterdir()) == []


def test_a_folder_in_use_and_a_new_one_stay(folder):
    in_use = Workspace()
    age(folder)
    (folder / f"{PREFIX}new").mkdir()
    Workspace().close()
    assert in_use.path.is_dir()
    assert (folder / f"{PREFIX}new").is_dir()
    in_use.close()
    assert not in_use.path.exists()


def test_a_planted_link_is_not_followed(folder, tmp_path_factory):
    mine = tmp_path_factory.mktemp("mine")
    (mine / "letter.txt").touch()
    (folder / f"{PREFIX}link").symlink_to(mine)
    os.utime(folder / f"{PREFIX}link", (1.0, 1.0), follow_symlinks=False)
    Workspace().close()
    assert [entry.name for entry in mine.iterdir()] == ["letter.txt"]


def test_a_full_disk_is_told(folder, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(folder / "missing"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "missing"))
    with pytest.raises(ModelError, match="no place"):
        Workspace()
