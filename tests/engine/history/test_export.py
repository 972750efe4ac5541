"""All conversations in one file."""

import json

import pytest

from engine.errors import InvalidInput
from engine.history.store import NAME, Store, write_all
from tests.engine.history.turns import talk


def test_every_conversation_is_in_the_file_under_its_name(tmp_path):
    with Store(tmp_path / NAME) as store:
        talk(store, "does it rain?")
        store.rename(talk(store, "and tomorrow?"), "Later # on")
        for suffix in (".txt", ".md"):
            assert write_all(store, tmp_path / f"all{suffix}") == 2
            text = (tmp_path / f"all{suffix}").read_text(encoding="utf-8")
            assert text.index("does it rain?") < text.index("Later") < text.index("and tomorrow?")
        write_all(store, tmp_path / "all.JSON")
        whole = json.loads((tmp_path / "all.JSON").read_text(encoding="utf-8"))
        assert [each["title"] for each in whole["conversations"]] == ["does it rain?", "Later # on"]
        assert whole["conversations"][0]["turns"][0]["words"][1]["text"] == "rains"
        assert whole["conversations"][0]["turns"][0]["voice"] == "Ada"


def test_what_cannot_be_written_is_told_and_leaves_no_file(tmp_path):
    with Store(tmp_path / NAME) as store:
        with pytest.raises(InvalidInput, match="No conversation"):
            write_all(store, tmp_path / "all.txt")
        talk(store, "does it rain?")
        with pytest.raises(InvalidInput, match=r"written as '\.srt'"):
            write_all(store, tmp_path / "all.srt")
        with pytest.raises(InvalidInput, match="cannot be written"):
            write_all(store, tmp_path / "nowhere" / "all.txt")
    assert not list(tmp_path.glob("*all*"))
    assert not list(tmp_path.glob(".rubato*"))
