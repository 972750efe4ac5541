"""Replies with tools, against a model that is a script."""

from types import SimpleNamespace

import pytest

from engine.errors import LanguageModelError
from engine.llm.base import ChangeRate, Message, Role, StopSpeaking, TextDelta, ThoughtDelta
from engine.llm.tools import rounds
from engine.llm.tools.toolbox import ToolCall
from tests.engine.llm.cases import text
from tests.help.fakes.stepped_clock import SteppedClock

TIME = ToolCall("1", "tell_time", "{}")


class ScriptedModel:
    """Streams its rounds one after the other and remembers what it was sent."""

    def __init__(self, *scripted):
        self._scripted = list(scripted)
        self.sent = []

    def __call__(self, messages):
        self.sent.append(messages)
        yield from self._scripted.pop(0)


@pytest.fixture
def reply(skills, state):
    def start(model, said="Who wrote Hamlet?"):
        history = [Message(Role.USER, said)]
        return rounds.reply(model, skills, "Be kind.", history, state)

    return start


@pytest.mark.parametrize(
    ("rounds", "said"),
    [
        ([["\n", "\n Yes", ", ", "indeed."]], "Yes, indeed."),
        ([["Let me see.", TIME], ["It is late."]], "Let me see. It is late."),
        ([[TIME], []], "It's 3:45 PM. Today is Monday, January 5th, 2026."),
    ],
    ids=["white space first", "words around a tool", "a silent model lets the skill speak"],
)
def test_what_is_said_is_put_together(reply, rounds, said):
    assert text(reply(ScriptedModel(*rounds))) == said


def test_the_model_sees_what_the_tool_said_and_told_to_be_silent_is_not_asked_again(reply):
    model = ScriptedModel([TIME], [ToolCall("1", "stop_speaking", "{}")])
    assert list(reply(model)) == [StopSpeaking()]
    assert model.sent[1][-1]["content"].startswith("It's 3:45 PM.")
    assert model.sent[1][: len(model.sent[0])] == model.sent[0]


def test_waiting_and_thoughts_pass_through_and_alone_are_a_fault(reply):
    thought = ThoughtDelta(" Hm.")
    passed = [TextDelta(""), thought, TextDelta("Yes.")]
    assert list(reply(ScriptedModel(["", thought, "Yes."]))) == passed
    for silent in (["", " \n"], [thought]):
        with pytest.raises(LanguageModelError, match="no answer"):
            list(reply(ScriptedModel(silent)))


def test_a_certain_skill_answers_before_the_model(reply):
    model = ScriptedModel()
    assert any(isinstance(delta, ChangeRate) for delta in reply(model, "speak slower"))
    assert model.sent == []


@pytest.fixture
def takes(monkeypatch):
    """takes(seconds, piece): a model that gives this again and again, and takes so long each time
    by `takes.clock`.
    """
    clock = SteppedClock()
    monkeypatch.setattr(rounds, "time", SimpleNamespace(monotonic=clock))

    def make(seconds, piece):
        def model(_messages):
            while clock() < 10_000:
                clock.advance(seconds)
                yield piece

        return model

    make.clock = clock
    return make


@pytest.mark.parametrize("piece", ["", ThoughtDelta("Hm."), TIME])
def test_a_model_that_finds_no_words_is_given_up(reply, takes, piece):
    with pytest.raises(LanguageModelError, match="no words for 120 seconds"):
        list(reply(takes(1, piece)))
    assert takes.clock() == rounds.WITHOUT_TEXT_S + 1


def test_a_model_has_its_time_for_every_word(reply, takes):
    deltas = reply(takes(rounds.WITHOUT_TEXT_S - 1, "word "))
    assert text([next(deltas) for _ in range(5)]) == "word " * 5


def test_closing_the_reply_closes_the_model(reply):
    ended = []

    def model(_messages):
        try:
            while True:
                yield "word "
        finally:
            ended.append(True)

    deltas = reply(model)
    next(deltas)
    deltas.close()
    assert ended == [True]
