"""`rubato update`: what it prints for the person and as JSON, and that it asks nobody by itself."""

import json
from pathlib import Path

import pytest

from app.__main__ import main
from app.command import update
from app.presence import remote
from engine import upkeep
from engine.errors import UpdateError
from engine.updates import Look, Offer, State, Updates

OFFER = Offer("0.2.0", "- Better.", "0.2.0/linux", ("a",))


class FakeUpdates(Updates):
    """Answers with a look, or refuses."""

    def __init__(self, look: Look, error: UpdateError | None = None) -> None:
        self.answer, self.error, self.calls = look, error, list[str]()

    def _told(self, call: str) -> Look:
        self.calls.append(call)
        if self.error is not None:
            raise self.error
        return self.answer

    def look(self) -> Look:
        return self._told("look")

    def install(self, show=lambda share: None, await_quiet=lambda: None) -> Look:
        show(0.25)
        await_quiet()
        return self._told("install")

    def roll_back(self) -> None:
        self._told("back")


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch):
    def answer(look: Look, error: UpdateError | None = None) -> FakeUpdates:
        fake = FakeUpdates(look, error)
        monkeypatch.setattr(upkeep, "updates", lambda: fake)
        return fake

    return answer


OFFERED = Look(State.OFFERED, "0.1.0", OFFER, can_install=True)


def test_a_look_says_what_changes_and_takes_nothing(answer, capsys: pytest.CaptureFixture[str]):
    fake = answer(OFFERED)
    assert main(["update", "--check"]) == 0
    assert fake.calls == ["look"]
    told = capsys.readouterr().out
    assert "0.2.0 is there" in told
    assert "- Better." in told


def test_taking_it_says_from_when_on(answer, capsys: pytest.CaptureFixture[str]):
    fake = answer(OFFERED)
    assert main(["update"]) == 0
    assert fake.calls == ["install"]
    assert "from the next start" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "look", "document"),
    [
        (["--check"], Look(State.OFF, "0.1.0"), {"state": "off", "can_install": False}),
        (["--check"], Look(State.CURRENT, "0.1.0"), {"state": "current", "version": ""}),
        (["--check"], OFFERED, {"state": "offered", "version": "0.2.0", "can_install": True}),
        ([], OFFERED, {"state": "installed", "changes": "- Better."}),
        ([], Look(State.CURRENT, "0.1.0"), {"state": "current"}),
        (["--back"], OFFERED, {"state": "back"}),
    ],
)
def test_json_says_the_same(
    words: list[str], look: Look, document: dict, answer, capsys: pytest.CaptureFixture[str]
):
    answer(look)
    assert main(["update", *words, "--json"]) == 0
    assert document.items() <= json.loads(capsys.readouterr().out).items()


def test_progress_is_lines_of_json_beside_the_document(answer, capsys: pytest.CaptureFixture[str]):
    answer(OFFERED)
    assert main(["update", "--json"]) == 0
    assert capsys.readouterr().err == '{"part": 0.25}\n'


def test_an_update_waits_while_a_reply_is_spoken(answer, monkeypatch: pytest.MonkeyPatch):
    fake = answer(OFFERED)
    states = [remote.State.SPEAKING, remote.State.LISTENING, remote.State.IDLE]
    waited: list[int] = []

    def state() -> remote.State:
        waited.append(len(fake.calls))
        return states[len(waited) - 1]

    monkeypatch.setattr(remote, "state", state)
    monkeypatch.setattr(update, "_LOOK_S", 0.0)
    assert main(["update"]) == 0
    assert waited == [0, 0, 0]
    assert fake.calls == ["install"]


def test_a_refusal_is_told_either_way(answer, capsys: pytest.CaptureFixture[str]):
    answer(OFFERED, UpdateError("It is forged.", hint="Nothing was changed."))
    assert main(["update", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "state": "failed",
        "message": "It is forged.",
        "hint": "Nothing was changed.",
    }
    assert main(["update"]) == 1
    assert "It is forged." in capsys.readouterr().err


def test_without_a_root_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.delenv("RUBATO_UPDATES", raising=False)
    assert main(["update", "--check"]) == 0
    assert "nobody was asked" in capsys.readouterr().err
    assert not (tmp_path / "updates").exists()
