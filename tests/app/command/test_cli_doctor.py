"""`rubato doctor`: all of it for the person, and with --json what may be shown to others."""

import json

import pytest

from app.__main__ import main
from engine import api, doctor
from engine.doctor.finding import Finding, State, fault, ok

FOUND = [ok("disk", "room in /srv/petunia", "/srv/petunia"), fault("sound", "None.", "Plug it in.")]


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    found = list(FOUND)
    monkeypatch.setattr(doctor, "examine", lambda settings: found)
    return found


def test_the_person_reads_where_things_are_and_others_do_not(capsys):
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "ok       disk: room in /srv/petunia",
        "fault    sound: None.",
        "         Plug it in.",
    ]
    assert main(["doctor", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert list(told) == ["version", "system", "findings", "settings", "crashes", "log"]
    assert [each["text"] for each in told["findings"]] == ["room in …", "None."]


def test_without_a_fault_it_ends_well(found, capsys):
    found[:] = [each for each in found if each.state is not State.FAULT]
    assert main(["doctor", "--json"]) == 0
    assert api.crash_notes().crashes() == []
