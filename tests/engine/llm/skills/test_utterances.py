"""What is asked of the skills: a table, draws of chance, a name, wishes about the pace."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.llm import base as llm
from engine.llm.skills.control import BIT, LOT, STEP, may_become_speech_wish, speech_wish
from engine.llm.skills.matching.intent import Answer
from engine.messages.commands import ChangeSetting
from engine.messages.events import UseWindow
from engine.messages.reading import OpenDocument
from engine.messages.timers import CancelTimers
from engine.settings import FAST_LIMIT
from tests.engine.llm.cases import CASES
from tests.engine.llm.skills.asking import HERE, asked

TABLE = Path(__file__).with_name("utterances.txt")
SITUATION = llm.AssistantState(
    rate=None,
    volume=0.5,
    voice="Anna",
    voices=("Anna", "Bruno", "Clara Deep"),
    timers=(llm.Timer("tea", 250.4, 1, seconds=300), llm.Timer("", 10, 2, seconds=60)),
    capabilities={"recogniser": "sphinx"},
)


def rows():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split(" => ")) for line in lines if line and not line.startswith("#")]


def in_words(deltas: list[llm.Delta]) -> str:
    """A reply in the table's notation."""
    text = "".join(delta.text for delta in deltas if isinstance(delta, llm.TextDelta))
    if text.startswith("That needs a language model. "):
        assert deltas[0] == llm.Unanswered()
        text = "?"
    actions = [delta for delta in deltas if not isinstance(delta, llm.TextDelta | llm.Unanswered)]
    return "".join([text, *(f" | {notation(action)}" for action in actions)])


def notation(action) -> str:
    match action:
        case llm.ChangeRate(by, to):
            return "rate=own" if by is None and to is None else f"rate{change(by, to)}"
        case llm.ChangeVolume(by, to):
            return f"volume{change(by, to)}"
        case llm.ChooseVoice(name):
            return f"voice={name}"
        case llm.StopSpeaking():
            return "stop"
        case ChangeSetting(key, value):
            return f"{key}={value}"
        case OpenDocument(path):
            return f"open={path}"
        case UseWindow(command, value):
            return f"window={command}/{value}"
        case llm.StartTimer(seconds, label, text):
            return f"timer={seconds:g}/{label}/{text}"
        case CancelTimers(numbers):
            return f"cancel={','.join(map(str, numbers))}"


def change(by: float | None, to: float | None) -> str:
    return f"={to:g}" if by is None else f"{by:+g}"


@pytest.mark.parametrize(("said", "expected"), rows())
def test_an_utterance_gets_its_answer(skills, said, expected):
    reply = skills.reply([llm.Message(llm.Role.USER, said)], lambda: SITUATION)
    assert in_words(list(reply)) == expected


def drawn(text: str, *draws: int) -> tuple[str, list[tuple[int, int]]]:
    """The answer, and the ranges that were drawn from."""
    ranges: list[tuple[int, int]] = []
    coming: Iterator[int] = iter(draws)

    def draw(low: int, high: int) -> int:
        ranges.append((low, high))
        return next(coming)

    return asked(text, draw=draw).text, ranges


@pytest.mark.parametrize(("text", "draws", "answer", "ranges"), CASES["draws"])
def test_the_draws_decide(text, draws, answer, ranges):
    assert drawn(text, *draws) == (answer, [tuple(each) for each in ranges])


MARTIN = replace(HERE, person="Martin")


def test_a_name_is_told_back_in_private_and_forgotten():
    assert asked("my name is martin").private
    known = asked("what's my name", here=MARTIN)
    assert known == Answer("Your name is Martin.", private=True)
    assert "haven't told me" in asked("what's my name").text
    assert asked("forget my name", here=MARTIN).actions == (llm.RememberName(""),)
    assert asked("forget my name") == Answer("I don't know your name.")


WISHES = [
    ("slower please", llm.ChangeRate(by=-STEP)),
    ("Could you speak a bit slower, please?", llm.ChangeRate(by=-BIT)),
    ("slow down", llm.ChangeRate(by=-STEP)),
    ("faster", llm.ChangeRate(by=STEP)),
    ("much faster", llm.ChangeRate(by=LOT)),
    ("normal speed", llm.ChangeRate()),
    ("as fast as you can", llm.ChangeRate(to=FAST_LIMIT)),
    ("five syllables per second", llm.ChangeRate(to=5.0)),
    ("a bit louder please", llm.ChangeVolume(by=0.2)),
    ("turn it down", llm.ChangeVolume(by=-0.2)),
    ("volume 50 percent", llm.ChangeVolume(to=0.5)),
]


@pytest.mark.parametrize(("said", "wish"), WISHES)
def test_a_wish_is_understood_and_so_are_its_beginnings(said, wish):
    assert speech_wish(said) == wish
    words = said.split()
    about = [may_become_speech_wish(" ".join(words[: n + 1])) for n in range(len(words))]
    assert about[-1]
    assert about == sorted(about)
    # the last word may be half said
    assert may_become_speech_wish(f"{said} pl")
    assert not may_become_speech_wish(f"{said} pl and so on")


@pytest.mark.parametrize(
    "said",
    ["", "stop", "what time is it", "slower and tell me the time", "mute", "read notes.txt",
     "how fast is light", "nine hundred syllables per second", "slower " * 40],
)  # fmt: skip
def test_everything_else_is_none(said):
    assert speech_wish(said) is None


@pytest.mark.parametrize("said", ["", "please", "what is the speed of light", "slower but later"])
def test_what_cannot_become_a_wish_is_known_at_once(said):
    assert not may_become_speech_wish(said)
