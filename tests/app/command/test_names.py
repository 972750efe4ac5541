"""`rubato names`: the list, changed from a terminal."""

import json
from pathlib import Path

from app.__main__ import main


def names(capsys, *arguments: str) -> list[list[str]]:
    assert main(["names", *arguments]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def test_names_are_added_changed_listed_and_removed(capsys):
    assert names(capsys) == []
    assert names(capsys, "add", "Siobhan", "shi-VAWN") == [["Siobhan", "shi-VAWN"]]
    assert names(capsys, "add", "siobhan", "shuh-VAWN") == [["siobhan", "shuh-VAWN"]]
    names(capsys, "add", "Paris", "pah-REE", "--language", "fr")
    assert names(capsys) == [["siobhan", "shuh-VAWN"], ["Paris", "pah-REE", "fr"]]
    assert main(["names", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["names"]
    assert found[1] == {"written": "Paris", "said": "pah-REE", "language": "fr"}
    assert names(capsys, "remove", "Siobhan") == [["siobhan", "shuh-VAWN"]]
    assert main(["names", "remove", "Siobhan"]) == 1
    assert "not in the list" in capsys.readouterr().err
    assert main(["names", "add", "Xi", "/3/"]) == 1


def test_what_is_exported_can_be_imported_and_a_bad_file_changes_nothing(capsys, tmp_path: Path):
    file = tmp_path / "out.tsv"
    names(capsys, "add", "José", "ho-ZAY")
    names(capsys, "export", str(file))
    written = names(capsys, "export", "-")
    assert [line for line in written if not line[0].startswith("#")] == [["José", "ho-ZAY"]]
    names(capsys, "remove", "José")
    assert names(capsys, "import", str(file)) == [["Names imported: 1."]]
    assert names(capsys) == [["José", "ho-ZAY"]]
    bad = tmp_path / "bad.csv"
    bad.write_text("Anna,AH-na\nBea,bee,xx\n", encoding="utf-8")
    for each in (bad, tmp_path / "none.csv"):
        assert main(["names", "import", str(each)]) == 1
    assert "Line 2" in capsys.readouterr().err
    assert names(capsys) == [["José", "ho-ZAY"]]
