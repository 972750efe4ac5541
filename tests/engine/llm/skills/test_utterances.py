"""The table of utterances: what is said or typed, and what comes back."""

from pathlib import Path

import pytest

from engine.llm.base import (
    ChangeRate,
    ChangeVolume,
    ChooseVoice,
    Delta,
    Message,
    Role,
    Situation,
    StartTimer,
    StopSpeaking,
    TextDelta,
    Timer,
    Unanswered,
)
from engine.messages.timers import CancelTimers

TABLE = Path(__file__).with_name("utterances.txt")
SITUATION = Situation(
    rate=None,
    volume=0.5,
    voice="Anna",
    voices=("Anna", "Bruno", "Clara Deep"),
    timers=(Timer("tea", 250.4, 1, seconds=300), Timer("", 10, 2, seconds=60)),
    capabilities={"recogniser": "sphinx"},
)


def rows():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split(" => ")) for line in lines if line and not line.startswith("#")]


def in_words(deltas: list[Delta]) -> str:
    """A reply in the table's notation."""
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    if text.startswith("I can't answer that without a language model. Try:"):
        assert deltas[0] == Unanswered()
        text = "?"
    actions = [delta for delta in deltas if not isinstance(delta, TextDelta | Unanswered)]
    return "".join([text, *(f" | {notation(action)}" for action in actions)])


def notation(action) -> str:
    match action:
        case ChangeRate(by, to):
            return "rate=own" if by is None and to is None else f"rate{change(by, to)}"
        case ChangeVolume(by, to):
            return f"volume{change(by, to)}"
        case ChooseVoice(name):
            return f"voice={name}"
        case StopSpeaking():
            return "stop"
        case StartTimer(seconds, label, text):
            return f"timer={seconds:g}/{label}/{text}"
        case CancelTimers(numbers):
            return f"cancel={','.join(map(str, numbers))}"


def change(by: float | None, to: float | None) -> str:
    return f"={to:g}" if by is None else f"{by:+g}"


@pytest.mark.parametrize(("said", "expected"), rows())
def test_an_utterance_gets_its_answer(skills, said, expected):
    reply = skills.reply([Message(Role.USER, said)], lambda: SITUATION)
    assert in_words(list(reply)) == expected
