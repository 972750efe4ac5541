"""Words that are planted in speech, replies, files, keys and the history, and looked for in all
that others may come to see: kept files, logs, crash notes, diagnostics and messages of errors.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from app.__main__ import main
from engine import api, settings_file
from engine.api import CrashNotes, Failed, Part, Settings
from engine.doctor import diagnostics, examine
from engine.runtime.factories import standard_factories
from engine.settings import HistorySettings, LanguageModelSettings
from tests.engine.llm.scripted_server import ScriptedServer, fails, hangs_up, says
from tests.faults.whole import Devices, Whole, whole
from tests.help.fakes.parts import FakeRecogniser

pytestmark = pytest.mark.slow

KEY, TYPED, HEARD, REPLY = "sk-echidna-4711", "quokka", "bilby", "wombat"
FILE, BROKEN = "platypus", "numbat"
SAID = (TYPED, HEARD, REPLY, FILE, BROKEN)
SECRETS = (KEY, *SAID)
OWN = ("app", "engine")


class Lines(logging.Handler):
    """Lines of the log as a terminal shows them, with the errors that go with them."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.split(".")[0] in OWN:  # libraries are quiet unless a person asks for debug
            self.lines.append(self.format(record))


@pytest.fixture
def log() -> Iterator[Lines]:
    lines, root = Lines(), logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    root.addHandler(lines)
    yield lines
    root.removeHandler(lines)
    root.setLevel(before)


@pytest.fixture
def notes() -> Iterator[CrashNotes]:
    made = CrashNotes(settings_file.data_folder() / "notes")
    made.begin()
    yield made
    made.end()


@pytest.fixture
def settings(server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    monkeypatch.setenv("PLANTED_KEY", KEY)
    monkeypatch.setenv("HOME", str(tmp_path))
    model = LanguageModelSettings("server", "m", server.address, key_variable="PLANTED_KEY")
    chosen = replace(Settings(), language_model=model)
    settings_file.save(chosen, settings_file.default_path())
    return chosen


def keeping(settings: Settings) -> AbstractContextManager[Whole]:
    recogniser = FakeRecogniser(f"who feeds the {HEARD}")
    factories = replace(
        Devices().in_place_of(standard_factories()),
        history=api.history_path(),
        recogniser=lambda settings, phrases: recogniser,
    )
    return whole(settings, factories=factories)


def converse(engine: Whole, server: ScriptedServer) -> None:
    """Questions, a file, and a server that fails in its ways and repeats what it was sent."""
    echo = f"The key {KEY} may not ask about the {BROKEN}."
    server.script = [
        says(f"A {REPLY} does."),
        says("Nobody."),
        *(fails(status, echo) for status in (400, 401, 403, 404, 422)),
        *[fails(500, echo)] * 4,
        *[hangs_up] * 4,
    ]
    assert REPLY in engine.ask(f"who eats the {TYPED}?").reply
    engine.post(api.PressTalk())
    engine.post(api.ReleaseTalk())
    assert engine.ended(2).reply == "Nobody."
    assert HEARD in str(server.requests[-1]["messages"])
    engine.post(api.Speak(f"The {FILE} swims.", private=True))
    assert FILE in engine.ended(3).heard
    for _ in range(6):
        engine.ask(f"and who hunts the {BROKEN}?")


def kept_files(*but: str) -> str:
    folders = (settings_file.data_folder(), settings_file.config_folder())
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    names = [path for path in files if not path.name.startswith(but) and path.suffix != ".txt"]
    assert names
    return "\n".join(f"{path} {path.read_bytes().decode('latin-1')}" for path in names)


def found(text: str, secrets: tuple[str, ...]) -> list[str]:
    return [secret for secret in secrets if secret in text]


@pytest.mark.parametrize("keep", ["forever", "never"])
def test_nothing_of_a_conversation_is_where_others_may_see_it(
    keep, settings, server, log, notes, capfd
):
    settings = replace(settings, history=HistorySettings(keep=keep))
    with keeping(settings) as engine:
        converse(engine, server)
        failed = engine.failed(Part.LANGUAGE_MODEL)
    assert found("\n".join(log.lines), SECRETS) == []
    error = RuntimeError(f"{TYPED} {KEY}")  # as nobody may catch
    notes.note("a test", error)
    logging.getLogger("engine.test").error("failed reason=%s", error)
    assert failed
    notes.end()
    history = ("conversations",) if keep == "forever" else ()
    assert found(kept_files(), (KEY,)) == []
    assert found(kept_files(*history), SAID) == []
    told = [*notes.log(), *notes.crashes()]
    assert any("RuntimeError" in line for line in told)
    assert found("\n".join(told), SECRETS) == []
    assert found(json.dumps(diagnostics(settings, examine(settings), notes)), SECRETS) == []
    assert found("".join(each.text + each.advice for each in examine(settings)), SECRETS) == []
    assert main(["doctor", "--json"]) in (0, 1)
    written = capfd.readouterr()
    assert found(written.out + written.err, SECRETS) == []


def test_no_message_of_an_error_holds_a_key(settings, server):
    with keeping(settings) as engine:
        converse(engine, server)
        failed = engine.of(Failed)
    assert len(failed) >= 6
    assert found("\n".join(f"{each.message} {each.hint}" for each in failed), (KEY,)) == []


def test_a_history_that_is_damaged_is_not_quoted(settings, server, capfd):
    settings = replace(settings, history=HistorySettings(keep="forever"))
    with keeping(settings) as engine:
        converse(engine, server)
    file = api.history_path()
    content = file.read_bytes()
    assert found(content.decode("latin-1"), SAID)
    file.write_bytes(content[:100] + b"\xff" * 4000 + content[4100:])
    assert main(["history", "list"]) == 1
    written = capfd.readouterr()
    assert found(written.out + written.err, SECRETS) == []
