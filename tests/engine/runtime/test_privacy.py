"""What was read from a person's files, and the language model on another computer."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from engine.llm.history import KEPT_BACK
from engine.llm.servers import server
from engine.llm.skills import Skills
from engine.messages.commands import PressTalk, ReleaseTalk, Speak, StopReply
from engine.messages.events import PhaseChanged
from engine.messages.words import Phase
from engine.settings import LanguageModelSettings
from tests.engine.llm.scripted_server import ScriptedServer, says
from tests.engine.runtime.test_conductor import Host, hosting
from tests.help.fakes.parts import FakeParts, FakeRecogniser

DIARY = "Aurora told Benedict about Casimir yesterday evening."
SECRETS = DIARY.rstrip(".").split()


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A server that is reached at its own address, and as the proxy for every other one."""
    scripted = ScriptedServer()
    scripted.script = [says("William.") for _ in range(5)]
    monkeypatch.setenv("http_proxy", scripted.address.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    yield scripted
    scripted.stop()


@contextmanager
def talking_to(address: str, documents: Path) -> Iterator[Host]:
    (documents / "diary.txt").write_text(DIARY)
    skills = Skills(now=lambda: datetime(2026, 1, 5), documents=documents)
    model = server.connect(LanguageModelSettings("server", "m", address), skills)
    with hosting(FakeParts(model=model, recogniser=FakeRecogniser("slower"))) as host:  # type: ignore[arg-type]
        yield host


def begin_reading(host: Host) -> None:
    host.ask("what time is it")
    host.hear_two_words(Speak(DIARY, private=True))
    host.wait(lambda: host.of(PhaseChanged)[-1].phase is Phase.SPEAKING)


def read_the_clipboard(host: Host) -> None:
    begin_reading(host)
    assert host.ended(2).heard == DIARY


def read_and_repeat(host: Host) -> None:
    read_the_clipboard(host)
    assert host.ask("say that again").heard == DIARY


def cut_by_escape(host: Host) -> None:
    begin_reading(host)
    host.post(StopReply(by_escape=True))
    assert host.ended(2, playing=0).heard == "Aurora told"


def slow_down_by_voice(host: Host) -> None:
    begin_reading(host)
    host.post(PressTalk())
    host.post(ReleaseTalk())
    assert host.ended(3).heard.endswith("Casimir yesterday evening.")


def ask_for_a_file(host: Host) -> None:
    host.ask("what time is it")
    host.ask("read the file diary")


TALKS = [read_the_clipboard, read_and_repeat, cut_by_escape, slow_down_by_voice, ask_for_a_file]


@pytest.mark.parametrize("talk", TALKS)
def test_a_text_read_aloud_does_not_go_to_another_computer(scripted, tmp_path, talk):
    with talking_to("http://models.example/v1", tmp_path) as host:
        talk(host)
        host.ask("who wrote Hamlet")
    (request,) = scripted.requests
    told = json.dumps(request["messages"])
    assert [secret for secret in SECRETS if secret in told] == []
    assert str(tmp_path) not in told
    assert KEPT_BACK in told


def test_why_a_file_was_not_read_names_no_folder_to_another_computer_and_what_follows_goes_there(
    scripted, tmp_path
):
    with talking_to("http://models.example/v1", tmp_path) as host:
        assert str(tmp_path) in host.ask("read the file letter").heard
        host.ask("who wrote Hamlet")
        host.ask("and who wrote Faust")
    assert str(tmp_path) not in json.dumps(scripted.requests)
    told = [message["content"] for message in scripted.requests[-1]["messages"][1:]]
    assert told[0::2] == [KEPT_BACK, "who wrote Hamlet", "and who wrote Faust"]
    assert told[1::2] == [KEPT_BACK, "William."]


def test_the_name_of_the_person_does_not_go_to_another_computer(scripted, tmp_path):
    with talking_to("http://models.example/v1", tmp_path) as host:
        assert "Casimir" in host.ask("my name is Casimir").heard
        host.ask("who wrote Hamlet")
    (request,) = scripted.requests
    assert "casimir" not in json.dumps(request).casefold()


def test_a_server_on_this_computer_knows_what_was_read(scripted, tmp_path):
    with talking_to(scripted.address, tmp_path) as host:
        read_the_clipboard(host)
        host.ask("who wrote Hamlet")
    assert DIARY in json.dumps(scripted.requests)
