"""The note in .venv: what is done is not done again, what was cut off is not trusted."""

import json
from pathlib import Path

import pytest

from installer import environment
from installer.commands import Cause, SetupError
from installer.environment import NOTE, Environment, key_of, prepare, read


@pytest.fixture
def fresh(tmp_path: Path) -> Environment:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    return Environment(tmp_path / ".venv")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders that would have been made afresh."""
    folders: list[Path] = []

    def make(folder: Path) -> Environment:
        folders.append(folder)
        return Environment(folder)

    monkeypatch.setattr(environment, "make", make)
    return folders


@pytest.mark.parametrize(
    ("fault", "doing"),
    [
        (KeyboardInterrupt(), "run"),
        (SetupError("no network", Cause.NETWORK), None),
        (SetupError("full", Cause.DISK), "run"),
    ],
    ids=["cut off", "a failed download is trusted", "a full disk is in doubt"],
)
def test_a_step_is_remembered_as_it_ended_and_anew_does_not_count_meanwhile(fresh, fault, doing):
    with fresh.step("run", "k1"):
        pass
    assert (read(fresh.folder).done, read(fresh.folder).doing) == ({"run": "k1"}, None)
    with pytest.raises(type(fault)), fresh.step("run", "k2"):
        raise fault
    assert (read(fresh.folder).done, read(fresh.folder).doing) == ({}, doing)


def test_a_complete_environment_is_taken_as_it_is_and_a_moved_one_made_afresh(fresh, made):
    with fresh.step("run", "k1"):
        pass
    assert prepare(fresh.folder).done == {"run": "k1"}
    assert made == []
    moved = fresh.folder.rename(fresh.folder.with_name("elsewhere"))
    prepare(moved)
    assert made == [moved]


def test_one_that_is_missing_cut_off_or_has_lost_its_python_is_made_afresh(tmp_path, fresh, made):
    prepare(tmp_path / "none")
    python = fresh.folder / "bin" / "python"
    python.rename(tmp_path / "python3.11")
    python.symlink_to(tmp_path / "python3.11")
    with fresh.step("run", "k1"):
        pass
    python.rename(tmp_path / "another")
    python.symlink_to((tmp_path / "python3.11").rename(tmp_path / "python3.12"))
    prepare(fresh.folder)
    with pytest.raises(KeyboardInterrupt), fresh.step("run", "k1"):
        raise KeyboardInterrupt
    prepare(fresh.folder)
    assert made == [tmp_path / "none", fresh.folder, fresh.folder]


def test_an_environment_made_by_hand_is_adopted_when_it_runs(fresh, made, monkeypatch):
    for runs in (True, False):
        monkeypatch.setattr(environment, "succeeds", lambda command, runs=runs: runs)
        prepare(fresh.folder)
    assert made == [fresh.folder]


def test_an_unreadable_note_counts_as_nothing_done_and_is_written_whole(fresh):
    for note in ("", "{", "[]", '{"done": 3}', "\0"):
        (fresh.folder / NOTE).write_text(note)
        assert (read(fresh.folder).done, read(fresh.folder).doing) == ({}, None)
    fresh.write()
    assert json.loads((fresh.folder / NOTE).read_text())["done"] == {}
    assert not (fresh.folder / (NOTE + ".new")).exists()


def test_a_key_changes_with_every_part(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="Delete the folder"):
        environment.make(tmp_path / "file" / ".venv")
    file = tmp_path / "pins.txt"
    file.write_text("a==1")
    keys = [key_of("3.11", file), key_of("3.12", file), key_of("3.11", file, "")]
    file.write_text("a==2")
    keys.append(key_of("3.11", file))
    assert len(set(keys)) == len(keys)
