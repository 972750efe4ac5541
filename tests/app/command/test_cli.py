"""What the command line prints, asks for and keeps."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.__main__ import main
from engine import api, doctor
from engine.api import Ending, Event, SayOptions, Settings, TurnEnded
from engine.bench import Row
from engine.doctor.finding import fault, ok
from engine.errors import InvalidInput, ModelError
from engine.history.store import NAME, Store
from engine.messages.comparison import Compared
from engine.messages.conversations import TurnMetrics
from engine.runtime.headless import comparison
from engine.runtime.host import wake_training
from engine.settings import SpeechSettings
from engine.translatable import Progress
from engine.tts.base import TtsModel
from tests.engine.history.turns import talk
from tests.help.fakes.parts import FakeParts
from tests.help.fakes.tts import FakeTts

ROWS = (
    Row("synthesiser", "voxtream2 full", "cpu", 2.0, 300.0, 1.3, 1200.0, profile="full"),
    Row("synthesiser", "voxtream2 int8", "cpu", 1.0, 200.0, 0.74, 900.0, profile="int8"),
    Row("synthesiser", "kokoro", "cpu", 1.0, 150.0, 0.25, 300.0),
)


def test_bench_prints_the_pick_with_its_reason_and_as_json_one_document(monkeypatch, capsys):
    def measured(settings: Any, *, quick: bool, tell: Callable[[str], None]) -> tuple[Row, ...]:
        tell("Measuring ...")
        return ROWS

    monkeypatch.setattr(api, "bench", measured)
    assert main(["bench"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-3:] == [
        "Precision of VoXtream2: int8. int8 keeps RTF at 0.74; full would need 1.30.",
        "Recogniser 'auto': sphinx. Whisper is not fetched (rubato models get whisper-base).",
        "Synthesiser 'auto': starter. The built-in voice: Kokoro is not fetched (rubato models get "
        "kokoro).",
    ]
    assert err == "Measuring ...\n"
    assert main(["bench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["profile"] for row in found["rows"]] == ["full", "int8", ""]
    assert found["pick"]["profile"] == "int8"
    assert found["synthesiser"]["synthesiser"] == "kokoro"


@pytest.mark.parametrize(("words", "ahead"), [([], True), (["--json"], False)])
def test_only_a_server_without_a_window_loads_its_recogniser_ahead(monkeypatch, words, ahead):
    asked = []
    monkeypatch.setattr(api, "serve", lambda *given, **options: asked.append(options))
    assert main(["serve", *words]) == 0
    assert asked == [{"ahead": ahead}]


@pytest.mark.parametrize("replicas", [[], ["--replicas", "2"]])
def test_a_server_names_what_it_serves(monkeypatch, capsys, replicas):
    def serve(settings: Any, address: Any, *given: Any, **options: Any) -> None:
        given[-1].started("http://127.0.0.1:1", "secret")

    monkeypatch.setattr(api, "serve", serve)
    monkeypatch.setattr(api, "serve_cluster", serve)
    assert main(["serve", *replicas]) == 0
    shown = capsys.readouterr().err
    assert "http://127.0.0.1:1/v1" in shown
    assert ("/mcp" in shown) is not bool(replicas)
    assert "secret" not in shown


def test_a_turn_is_printed_when_it_ends_however_the_conversation_does(monkeypatch, capsys):
    said, reply = "what time is it", "It's noon."

    def converse(settings: Any, *, show: Callable[[Event], None], **options: Any) -> None:
        show(TurnEnded(1, Ending.SUPERSEDED, "", "", "", ""))  # part of the next one
        show(TurnEnded(2, Ending.COMPLETE, said, reply, reply, reply, TurnMetrics(heard_ms=310)))
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "converse", converse)
    assert main(["converse"]) == 130
    assert capsys.readouterr().out.splitlines() == [
        "you:    what time is it",
        "rubato: It's noon.",
        "        ms after the end of speech: heard 310",
    ]


def test_doctor_tells_the_person_where_things_are_and_others_not(monkeypatch, capsys):
    found = [ok("disk", "room in /srv/petunia", "/srv/petunia"), fault("sound", "None.", "Plug.")]
    monkeypatch.setattr(doctor, "examine", lambda settings: found)
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "ok       disk: room in /srv/petunia",
        "fault    sound: None.",
        "         Plug.",
    ]
    assert main(["doctor", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert list(told) == ["version", "system", "findings", "settings", "crashes", "log"]
    assert [each["text"] for each in told["findings"]] == ["room in …", "None."]
    del found[1]
    assert main(["doctor", "--json"]) == 0
    assert api.crash_notes().crashes() == []


@pytest.mark.parametrize(
    ("words", "voice"),
    [
        ((), None),  # the chosen one
        (("--engine", "espeak"), None),
        (("--engine", "starter"), ""),  # which has no Belinda
        (("--engine", "starter", "--voice", "Anton"), "Anton"),
    ],
)
def test_another_synthesiser_is_not_asked_for_the_voice_of_the_chosen_one(
    words, voice, tmp_path, monkeypatch
):
    asked: list[str | None] = []

    def say(
        text: str, settings: Settings, options: SayOptions, show: Callable[[float], None]
    ) -> None:
        asked.append(options.voice)
        raise KeyboardInterrupt

    chosen = '[speech]\nengine = "espeak"\nvoice = "Belinda"\n'
    (tmp_path / "settings.toml").write_text(chosen, encoding="utf-8")
    monkeypatch.setattr(api, "say", say)
    assert main(["say", "hello", *words]) == 130
    assert asked == [voice]


@pytest.fixture
def espeak_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def synthesiser(settings: SpeechSettings, progress: Progress) -> TtsModel:
        if settings.engine != "espeak":
            raise ModelError("{name} is not here.", name=settings.engine)
        return FakeTts()

    parts = replace(FakeParts().factories(), synthesiser=synthesiser)
    monkeypatch.setattr(comparison, "standard_factories", lambda: parts)


@pytest.mark.usefixtures("espeak_alone")
def test_the_table_is_printed_and_written_and_it_fails_where_nobody_speaks(tmp_path, capsys):
    file = tmp_path / "table.csv"
    assert main(["compare", "Go on.", "--only", "espeak,kokoro", "--csv", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "eSpeak NG  Tone" in shown
    assert "Kokoro: kokoro is not here." in shown
    assert file.read_text(encoding="utf-8").count("\n") == 3
    assert main(["compare", "Go on.", "--only", "kokoro"]) == 1


@pytest.mark.usefixtures("espeak_alone")
def test_with_json_rows_are_lines_while_they_grow_and_a_document_in_the_end(capsys):
    assert main(["compare", "--json", "--only", "espeak", "--", "-Go on."]) == 0
    out, err = capsys.readouterr()
    (row,) = (Compared.of(each) for each in json.loads(out)["rows"])
    lines = [Compared.of(json.loads(line)["row"]) for line in err.splitlines()]
    assert [line.state.value for line in lines][:2] == ["waiting", "loading"]
    assert lines[-1] == row


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "file"])
def test_a_phrase_is_taught_and_said_and_without_one_that_of_the_settings(
    terminal, capsys, monkeypatch
):
    taught: list[str] = []

    def learn(phrase: str, step) -> Path:
        taught.append(phrase)
        step(0.5)
        return Path("phrase.safetensors")

    monkeypatch.setattr(wake_training, "learn", learn)
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
    assert listed.index("Secret") < listed.index("Rain") < listed.index("Café")
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


LONG_NAME = "n" * 260


@pytest.mark.parametrize(
    "words",
    [
        ["models", "add", LONG_NAME],
        ["say", "hello", "--voice", LONG_NAME],
        ["say", "hello", "--out", f"{LONG_NAME}.wav"],
        ["converse", "--mic", LONG_NAME],
        ["converse", "--export", f"{LONG_NAME}.txt"],
        ["compare", "hello", "--csv", f"{LONG_NAME}.csv"],
        ["voices", "import", LONG_NAME],
        ["names", "import", LONG_NAME],
        ["names", "export", LONG_NAME],
    ],
    ids=" ".join,
)
def test_a_name_that_no_file_can_have_is_told_in_a_sentence(words, capsys):
    assert main(words) == 1
    first, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith("rubato: ")
    assert LONG_NAME in first


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_pipe_is_no_model_and_is_not_waited_for(tmp_path, capsys):
    os.mkfifo(tmp_path / "model.gguf")
    assert main(["models", "add", str(tmp_path / "model.gguf")]) == 1
    assert "is not a GGUF model file" in capsys.readouterr().err
