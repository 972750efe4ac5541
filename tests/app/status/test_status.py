"""What is known of the parts, the mood that follows from it, faults, the last turns' times."""

from dataclasses import replace

import pytest
from PySide6.QtGui import QFontMetricsF

from app import language
from app.look.theme import Theme
from app.status.banner import Banner
from app.status.panel import PartRow, for_people
from app.status.parts import Mood, PartRecord, Parts, PartState, mood
from engine import api
from engine.api import Ending, Failed, Heard, Loading, Part, Phase, Ready, TurnEnded
from tests.help.fakes.engine import READY, spoken_turn
from tests.help.window import tell

ALL = tuple(Ready(part, "it") for part in Part)


def told(*events) -> Parts:
    parts = Parts()
    for event in events:
        parts.on_event(event)
    return parts


def fault(part: Part | None, turn: int | None = None) -> Failed:
    return Failed("fault", "It broke.", "Mend it.", turn, part)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ((), Mood.STARTING),
        (ALL[:-1], Mood.STARTING),
        (ALL, Mood.READY),
        ((*ALL, Loading(Part.LANGUAGE_MODEL, "Loading")), Mood.STARTING),
        ((*ALL, fault(Part.MICROPHONE)), Mood.NO_MICROPHONE),
        ((*ALL[1:], fault(Part.MICROPHONE)), Mood.NO_MICROPHONE),
        ((fault(Part.MICROPHONE),), Mood.STARTING),
        ((fault(Part.SYNTHESISER),), Mood.ATTENTION),
        ((*ALL, fault(Part.MICROPHONE), fault(Part.LOUDSPEAKER)), Mood.ATTENTION),
        ((*ALL, fault(None)), Mood.READY),
        ((*ALL, fault(Part.MICROPHONE), ALL[0]), Mood.READY),
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
def test_what_runs_here_says_so_and_a_server_elsewhere_is_named(part, name, detail, told):
    assert for_people(part, name, detail) == f"{told}, on this computer"
    shown = for_people(THINKS, "server", "big at https://models.example.org:8000/v1")
    assert shown == "big, on models.example.org"


def test_a_row_leaves_out_that_it_is_here_before_it_cuts_a_name_but_no_host(qtbot, theme):
    row = PartRow(THINKS, theme, None)
    qtbot.addWidget(row)
    metrics = QFontMetricsF(row.font())
    for name, detail, shown in (
        ("whisper", "whisper-base: on", "Whisper base"),
        ("server", "small at http://localhost:8080/v1", "small"),
        ("server", "big at https://models.example.org/v1", "big, on models…"),
    ):
        row.show_part(PartRecord(PartState.WORKS, name=name, detail=detail))
        assert row.words_in(1000.0) == row.shown
        assert row.words_in(metrics.horizontalAdvance(shown) + 1.0) == shown


def test_every_part_and_the_last_turn_fit_beside_the_conversation(window):
    window.resize(1280, 900)
    tell(window, *READY, *spoken_turn(1, "a", "Ten."))
    window.side.status.summary.setChecked(True)
    tell(window)
    tell(window)
    assert window.side.verticalScrollBar().maximum() == 0


@pytest.mark.parametrize("code", language.LANGUAGES)
def test_a_last_turn_with_gaps_is_not_wider_than_its_column(window, settings, code):
    language.choose(code)
    window.resize(1280, 900)
    ended = next(each for each in spoken_turn(1, "a", "Ten.") if isinstance(each, TurnEnded))
    tell(window, *READY, replace(ended, metrics=api.TurnMetrics(heard_ms=11140, underruns=12)))
    tell(window)
    tell(window)
    assert window.side.status.last_turn.isVisible()
    assert window.side.widget().width() <= window.side.viewport().width()


@pytest.fixture
def banner(qtbot, theme: Theme) -> Banner:
    made = Banner(theme, None)
    qtbot.addWidget(made)
    return made


def spoken(turn: int, ending: Ending = Ending.COMPLETE) -> TurnEnded:
    return TurnEnded(turn, ending, "hi", "hello", "hello", "hello")


def test_the_fault_of_a_part_goes_when_the_part_itself_works_again(banner):
    banner.on_event(fault(Part.SYNTHESISER))
    banner.on_event(Ready(Part.LOUDSPEAKER, "speakers"))
    banner.on_event(Ready(Part.SYNTHESISER, "espeak", instead=True))
    assert len(banner.faults) == 1
    banner.on_event(Ready(Part.SYNTHESISER, "starter"))
    assert len(banner.faults) == 0
    assert banner.isHidden()


@pytest.mark.parametrize(
    ("failed", "left"),
    [
        (fault(Part.LANGUAGE_MODEL, turn=3), 0),
        (fault(Part.RECOGNISER, turn=3), 1),
        (fault(None), 1),
        (fault(Part.MICROPHONE), 1),
    ],
)
def test_the_fault_of_a_reply_goes_with_the_next_that_is_spoken_and_no_other(banner, failed, left):
    banner.on_event(failed)
    banner.on_event(spoken(3))
    banner.on_event(spoken(4, Ending.FAILED))
    assert len(banner.faults) == 1
    banner.on_event(spoken(5))
    assert len(banner.faults) == left


@pytest.mark.parametrize(
    ("lost", "proof"),
    [(Part.LOUDSPEAKER, spoken(3)), (Part.MICROPHONE, Heard(3, "hi", 0.9, "sphinx"))],
    ids=["it is heard", "it hears"],
)
def test_the_fault_of_a_device_goes_once_the_one_in_its_place_works(banner, lost, proof):
    banner.on_event(fault(lost))
    banner.on_event(proof)
    banner.on_event(Ready(lost, "another", instead=True))
    banner.on_event(Heard(3, "hi", 1.0, api.KEYBOARD))
    assert len(banner.faults) == 1
    banner.on_event(proof)
    assert len(banner.faults) == 0
