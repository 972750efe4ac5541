"""What is known of the parts, and the mood that follows from it."""

import pytest

from app.stage.mood import Mood, mood
from app.status.parts import Parts
from app.status.row import for_people
from engine.api import Failed, Loading, Part, Phase, Ready

ALL = tuple(Ready(part, "it") for part in Part)


def told(*events) -> Parts:
    parts = Parts()
    for event in events:
        parts.on_event(event)
    return parts


def broken(part: Part | None, turn: int | None = None) -> Failed:
    return Failed("fault", "It broke.", "Mend it.", turn, part)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), Mood.STARTING),
        (ALL[:-1], Mood.STARTING),
        (ALL, Mood.READY),
        ((*ALL, Loading(Part.LANGUAGE_MODEL, "Loading")), Mood.STARTING),
        ((*ALL, broken(Part.MICROPHONE)), Mood.NO_MICROPHONE),
        ((*ALL[1:], broken(Part.MICROPHONE)), Mood.NO_MICROPHONE),
        ((broken(Part.MICROPHONE),), Mood.STARTING),
        ((broken(Part.SYNTHESISER),), Mood.ATTENTION),
        ((*ALL, broken(Part.MICROPHONE), broken(Part.LOUDSPEAKER)), Mood.ATTENTION),
        ((*ALL, broken(None)), Mood.READY),
        ((*ALL, broken(Part.MICROPHONE), ALL[0]), Mood.READY),
    ],
)
def test_at_rest_the_mood_is_that_of_the_parts(events, expected):
    assert mood(Phase.IDLE, told(*events)) is expected


def test_before_a_microphone_is_open_a_pressed_talk_key_does_not_make_it_listen():
    assert mood(Phase.LISTENING, told(*ALL[1:])) is Mood.STARTING
    assert mood(Phase.LISTENING, told(ALL[0])) is Mood.LISTENING
    assert mood(Phase.THINKING, told(*ALL[1:])) is Mood.THINKING  # of what was typed


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
