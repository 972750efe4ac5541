"""Nothing of a server, a model or a file steers the terminal: title, colours, cursor."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.__main__ import main
from app.command.terminal import LogFormatter
from engine import api
from engine.api import Ending, EngineError, Event, Failed, Settings, TurnEnded, VoiceEntry
from engine.messages.models import ModelEntry, Origin, Presence, Recommendation
from engine.models.choice import Removed
from tests.help.window import ORDERS

HOSTILE = "\x1b]0;mine\x07\x1b[2J\x9b31m\x08\x00\rover\ud800\u202etxt.exe\u2066 canary"
FAILED = Failed("language-model", HOSTILE, HOSTILE)


ENDED = TurnEnded(1, Ending.COMPLETE, HOSTILE, f"Yes.\nyou:    {HOSTILE}", "", "")


def converse(*_: object, show: Callable[[Event], None], **__: object) -> tuple[TurnEnded, ...]:
    show(FAILED)
    show(ENDED)
    return (ENDED,)


def breaks(*_: object, **__: object) -> None:
    raise EngineError(HOSTILE, hint=HOSTILE)


def hostile_library(settings: Settings) -> SimpleNamespace:
    """Models of a server or a file: all of their text comes from outside."""
    kind = (HOSTILE, Origin.SERVER, Presence.COMPLETE)
    told = (HOSTILE,) * 3
    entry = ModelEntry(HOSTILE, HOSTILE, *kind, 1, 1, 1, False, *told, HOSTILE, True, HOSTILE)

    def fetch(name: str, show: Callable[[str, int, int], None]) -> tuple[Path, ...]:
        show(HOSTILE, 1, 1)
        return (Path(HOSTILE.replace("\0", "")),)

    return SimpleNamespace(
        models=lambda *, servers=False: (entry,),
        recommendation=lambda: Recommendation(("x",), 0, HOSTILE, HOSTILE),
        wanted=lambda names: (entry,),
        fetch=fetch,
        verify=lambda name, show: (HOSTILE,),
        use=lambda name: ((HOSTILE, HOSTILE),),
        remove=lambda name: Removed(1, HOSTILE),
        add=lambda path: (HOSTILE,),
    )


def hostile_voices(settings: Settings) -> SimpleNamespace:
    """Voices that were imported: their names come from outside."""
    entry = VoiceEntry(HOSTILE, made_for=(HOSTILE,), usable=False, why_not=HOSTILE)
    return SimpleNamespace(entries=lambda: (entry,), removed=lambda: (HOSTILE,))


COMMANDS: dict[str, tuple[list[str], str, Any]] = {
    "converse": (["converse"], "converse", converse),
    "converse as JSON": (["converse", "--json"], "converse", converse),
    "converse fails": (["converse"], "converse", breaks),
    "voices": (["voices"], "voices", hostile_voices),
    "voices as JSON": (["voices", "--json"], "voices", hostile_voices),
    "say fails": (["say", "hello"], "say", breaks),
    "models": (["models"], "ModelLibrary", hostile_library),
    "models as JSON": (["models", "list", "--json"], "ModelLibrary", hostile_library),
    "models get": (["models", "get", "x"], "ModelLibrary", hostile_library),
    "models recommended": (["models", "get", "recommended"], "ModelLibrary", hostile_library),
    "models verify": (["models", "verify", "x"], "ModelLibrary", hostile_library),
    "models use": (["models", "use", HOSTILE], "ModelLibrary", hostile_library),
    "models use as JSON": (["models", "use", "x", "--json"], "ModelLibrary", hostile_library),
    "models remove": (["models", "remove", "x"], "ModelLibrary", hostile_library),
    "models add": (["models", "add", "x"], "ModelLibrary", hostile_library),
    "models fails": (["models", "get", "x"], "ModelLibrary", breaks),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_no_command_passes_on_what_steers_the_terminal(command, monkeypatch, capsys):
    arguments, call, instead = command
    monkeypatch.setattr(api, call, instead)
    main(arguments)
    out, err = capsys.readouterr()
    assert "canary" in out + err
    assert not ORDERS.search(out)
    assert not ORDERS.search(
        err.replace("\n\r", "\n").removeprefix("\r")
    )  # our own, of a line of progress


def test_no_line_of_a_reply_looks_like_a_turn_of_its_own(monkeypatch, capsys):
    monkeypatch.setattr(api, "converse", converse)
    main(["converse"])
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("you:") for line in lines) == 1


def test_the_log_quotes_nothing_that_steers_the_terminal():
    record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "got %s", (HOSTILE,), None)
    assert not ORDERS.search(LogFormatter("%(message)s").format(record))


def test_a_reader_that_has_enough_is_no_fault():
    program = [sys.executable, "-m", "app", "models", "list"]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            program, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writer)
    assert ended.stderr == ""
    assert ended.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_output_that_cannot_be_written_is_a_sentence():
    program = [sys.executable, "-m", "app", "models", "list"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        "rubato: The output cannot be written: No space left on device.",
        "  Make room, or write it elsewhere.",
    ]
