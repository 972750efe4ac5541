"""`rubato bench`, `converse`, `doctor` and `say`: what they print, and what they ask for."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.__main__ import main
from engine import api, doctor
from engine.api import Ending, Event, Manner, Settings, TurnEnded
from engine.bench.machine import Row
from engine.doctor.finding import fault, ok
from engine.messages.events import TurnMetrics

ROWS = (
    Row("synthesiser", "voxtream2 int8", "cpu", 2.0, 300.0, 1.3, 1200.0, profile="int8"),
    Row("synthesiser", "voxtream2 int4", "cpu", 1.0, 200.0, 0.74, 900.0, profile="int4"),
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
        "Profile of the neural voice: int4. int4 keeps RTF at 0.74; int8 would need 1.30.",
        "Recogniser 'auto': sphinx. Whisper is not fetched (rubato models get whisper-base).",
        "Synthesiser 'auto': starter. The built-in voice: Kokoro is not fetched (rubato models get "
        "kokoro).",
    ]
    assert err == "Measuring ...\n"
    assert main(["bench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["profile"] for row in found["rows"]] == ["int8", "int4", ""]
    assert found["pick"]["profile"] == "int4"
    assert found["synthesiser"]["synthesiser"] == "kokoro"


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

    def say(text: str, settings: Settings, manner: Manner, show: Callable[[float], None]) -> None:
        asked.append(manner.voice)
        raise KeyboardInterrupt

    chosen = '[speech]\nengine = "espeak"\nvoice = "Belinda"\n'
    (tmp_path / "settings.toml").write_text(chosen, encoding="utf-8")
    monkeypatch.setattr(api, "say", say)
    assert main(["say", "hello", *words]) == 130
    assert asked == [voice]
