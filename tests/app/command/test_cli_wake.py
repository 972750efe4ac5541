"""`rubato wake`: which phrase is taught, and what is printed."""

import json
import sys
from pathlib import Path

import pytest

from app.__main__ import main
from engine.errors import InvalidInput
from engine.runtime.host import wake_training


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The phrases that were taught."""
    phrases: list[str] = []

    def learn(phrase: str, step) -> Path:
        phrases.append(phrase)
        step(0.5)
        return tmp_path / "phrase.safetensors"

    monkeypatch.setattr(wake_training, "learn", learn)
    return phrases


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "file"])
def test_a_phrase_is_taught_and_said_and_without_one_that_of_the_settings(
    taught, terminal, capsys, monkeypatch
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert main(["wake", "hey robin hood"]) == 0
    told = capsys.readouterr()
    assert "hey robin hood" in told.out
    assert ("50 %" in told.err) is terminal  # a file gets no line that is drawn over
    assert main(["wake", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["phrase"] == "hey rubato"
    assert json.loads(told.err) == {"part": 0.5}
    assert taught == ["hey robin hood", "hey rubato"]


def test_for_another_program_a_refusal_is_a_document_too(monkeypatch, capsys):
    def refuse(phrase: str, step) -> Path:
        raise InvalidInput("It will not do.", hint="Another.")

    monkeypatch.setattr(wake_training, "learn", refuse)
    assert main(["wake", "--json", "--", "computer"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told.pop("texts") == [["It will not do.", {}], ["Another.", {}]]
    assert told == {"phrase": "computer", "message": "It will not do.", "hint": "Another."}
