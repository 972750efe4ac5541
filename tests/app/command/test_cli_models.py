"""`rubato models` tells what it did."""

from pathlib import Path

import pytest

from app.__main__ import main


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    return tmp_path


def test_removing_what_is_not_there_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "remove", "mimi"]) == 0
    assert capsys.readouterr().out == "Nothing of mimi is here.\n"


def test_removing_tells_what_was_freed(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data / "models" / "mimi").mkdir(parents=True)
    (data / "models" / "mimi" / "weights").write_bytes(bytes(2_500_000))
    assert main(["models", "remove", "mimi"]) == 0
    assert capsys.readouterr().out == "2.5 MB were freed.\n"
