"""What the bootstrapper asks of a program before it is put in force."""

import wave
from pathlib import Path

import pytest

from app import installed
from engine import api
from engine.api import EngineError, Manner, Settings


def write(path: Path, samples: bytes) -> None:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(24_000)
        sound.writeframes(samples)


@pytest.mark.slow
def test_this_program_works(tmp_path, capsys):
    assert installed.speaks(tmp_path / "said.wav") == ""


@pytest.mark.parametrize(
    ("samples", "fault"),
    [(b"\0\0" * 24_000, "cannot be heard"), (b"\0\x40" * 100, "cannot be heard")],
)
def test_silence_and_a_click_are_no_speech(samples, fault, tmp_path, monkeypatch):
    def say(text: str, settings: Settings, manner: Manner) -> None:
        assert manner.out is not None
        write(manner.out, samples)

    monkeypatch.setattr(api, "say", say)
    assert fault in installed.speaks(tmp_path / "said.wav")


def test_what_the_engine_says_of_a_fault_is_passed_on(qapp, tmp_path, monkeypatch, capsys):
    assert installed.paints() == ""

    def say(text: str, settings: Settings, manner: Manner) -> None:
        raise EngineError("The voice is missing.")

    monkeypatch.setattr(api, "say", say)
    monkeypatch.setattr(installed, "paints", lambda: "")
    assert installed.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == "The voice is missing.\n"
