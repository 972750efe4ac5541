"""A file is complete or not there."""

from pathlib import Path

import pytest

from engine.errors import InvalidInput
from engine.export.documents import WRITERS, write
from tests.engine.export.conversations import conversation, turn

TALK = conversation(turn(1, "What time is it?", "It is ten."))


@pytest.mark.parametrize("suffix", WRITERS)
def test_the_suffix_chooses_the_format(suffix, tmp_path):
    path = tmp_path / f"talk{suffix.upper()}"
    write(TALK, path)
    assert path.read_text(encoding="utf-8") == WRITERS[suffix](TALK)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", WRITERS)
def test_half_a_character_does_not_keep_a_conversation_from_being_written(suffix, tmp_path):
    path = tmp_path / f"talk{suffix}"
    write(conversation(turn(1, "Ten\ud83c?", "Great\udf89 news.")), path)
    assert "Great\ufffd" in path.read_text(encoding="utf-8")


def test_an_unknown_suffix_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(InvalidInput, match=r"'\.docx'") as refused:
        write(TALK, tmp_path / "talk.docx")
    assert ".srt" in refused.value.hint


def test_an_empty_conversation_is_not_written(tmp_path):
    with pytest.raises(InvalidInput, match="no conversation yet"):
        write(conversation(), tmp_path / "talk.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"):
        write(TALK, tmp_path / "nowhere" / "talk.txt")


def test_a_disk_that_is_full_leaves_the_older_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "talk.txt"
    write(TALK, path)
    before = path.read_text(encoding="utf-8")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InvalidInput, match="No space left"):
        write(conversation(turn(1, "More", "Yes.")), path)
    assert path.read_text(encoding="utf-8") == before
    assert list(tmp_path.iterdir()) == [path]
