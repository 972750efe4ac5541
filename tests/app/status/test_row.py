"""What runs is told in words that people use."""

import pytest

from app.status.row import for_people
from engine.api import Part

HEARS, THINKS, SPEAKS = Part.RECOGNISER, Part.LANGUAGE_MODEL, Part.SYNTHESISER


@pytest.mark.parametrize(
    ("part", "name", "detail", "told"),
    [
        (HEARS, "whisper", "whisper-base: English model on CPU, int8", "Whisper base"),
        (HEARS, "whisper", "", "Whisper"),
        (HEARS, "sphinx", "PocketSphinx, English", "Sphinx"),
        (THINKS, "llama", "qwen3-1.7b-q4.gguf", "qwen3-1.7b-q4"),
        (THINKS, "server", "llama3.2:3b at http://localhost:11434/v1", "llama3.2:3b"),
        (THINKS, "server", "llama3.2:3b at http://[::1]:11434/v1", "llama3.2:3b"),
        (SPEAKS, "espeak", "Anton", "eSpeak NG"),
    ],
)
def test_what_runs_here_says_so(part, name, detail, told):
    assert for_people(part, name, detail) == f"{told}, on this computer"


def test_a_server_elsewhere_is_named():
    shown = for_people(THINKS, "server", "big at https://models.example.org:8000/v1")
    assert shown == "big, on models.example.org"


def test_devices_and_what_is_not_known_are_called_as_they_are():
    assert for_people(Part.MICROPHONE, "sphinx", "") == "sphinx"
    assert for_people(HEARS, "another", "one") == "another"
    assert for_people(THINKS, "server", "without an address") == "server"
