"""`rubato history` on a file of three conversations."""

import json
from pathlib import Path

import pytest

from app.__main__ import main
from engine.history.store import NAME, Store
from tests.engine.history.turns import talk


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    with Store(tmp_path / NAME) as store:
        talk(store, "Where is the Café?", now=1000.0)
        talk(store, "does it rain?", "and \x1b[31mtomorrow?", now=2000.0)
        talk(store, "my secret", now=3000.0)
    return tmp_path / NAME


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["history", *words]) == 0
    return capsys.readouterr().out


def test_the_list_is_newest_first_and_a_search_takes_words(kept, capsys):
    listed = printed(capsys)
    assert listed.index("my secret") < listed.index("does it rain?") < listed.index("Café")
    found = json.loads(printed(capsys, "list", "--json"))["conversations"]
    assert [(each["id"], each["turns"]) for each in found] == [(3, 1), (2, 2), (1, 1)]
    (found,) = json.loads(printed(capsys, "search", "cafe", "rains", "--json"))["conversations"]
    assert (found["id"], found["excerpt"]) == (1, "Where is the Café?")
    assert main(["history", "search", "zebra"]) == 0
    assert "Nothing was found" in capsys.readouterr().err


def test_one_is_shown_whole_and_steers_no_terminal(kept, capsys):
    shown = printed(capsys, "show", "2")
    assert "You: does it rain?" in shown
    assert "\x1b" not in shown
    whole = json.loads(printed(capsys, "show", "2", "--json"))
    assert whole["turns"][1]["words"][0]["text"] == "It"


def test_what_is_removed_is_gone(kept, capsys):
    assert json.loads(printed(capsys, "remove", "3", "1", "--json")) == {"removed": 2}
    assert "my secret" not in printed(capsys)
    assert main(["history", "remove", "3"]) == 1
    assert main(["history", "remove"]) == 1
    assert "Which conversations?" in capsys.readouterr().err
    assert "1 deleted" in printed(capsys, "remove", "--all")
    assert main(["history", "show", "2"]) == 1
    assert "no conversation 2" in capsys.readouterr().err


def test_looking_makes_no_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "data"))
    assert json.loads(printed(capsys, "list", "--json")) == {"conversations": []}
    assert main(["history", "show", "1"]) == 1
    assert not (tmp_path / "data").exists() or not list((tmp_path / "data").glob("conv*"))
