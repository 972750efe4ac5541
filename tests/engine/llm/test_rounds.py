"""Replies with tools, against a model that is a script."""

import pytest

from engine.errors import LanguageModelError
from engine.llm import rounds
from engine.llm.base import ChangeRate, Message, Role, StopSpeaking, TextDelta
from engine.llm.toolbox import ToolCall
from tests.engine.llm.replies import text

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
def reply(skills, situation):
    def start(model, said="Who wrote Hamlet?"):
        history = [Message(Role.USER, said)]
        return rounds.reply(model, skills, "Be kind.", history, situation)

    return start


def test_white_space_before_the_first_word_is_dropped(reply):
    assert text(reply(ScriptedModel(["\n", "\n Yes", ", ", "indeed."]))) == "Yes, indeed."


def test_words_before_and_after_a_tool_are_apart(reply):
    model = ScriptedModel(["Let me see.", TIME], ["It is late."])

    assert text(reply(model)) == "Let me see. It is late."


def test_the_model_sees_what_the_tool_said(reply):
    model = ScriptedModel([TIME], ["Late."])
    list(reply(model))

    assert model.sent[1][-1]["content"].startswith("It's 3:45 PM.")
    assert model.sent[1][: len(model.sent[0])] == model.sent[0]


def test_a_silent_model_lets_the_skill_speak(reply):
    assert text(reply(ScriptedModel([TIME], []))).startswith("It's 3:45 PM.")


def test_a_model_told_to_be_silent_is_not_asked_again(reply):
    model = ScriptedModel([ToolCall("1", "stop_speaking", "{}")])

    assert list(reply(model)) == [StopSpeaking()]


def test_an_empty_reply_is_a_fault(reply):
    with pytest.raises(LanguageModelError, match="no answer"):
        list(reply(ScriptedModel(["", " \n"])))


def test_a_certain_skill_answers_before_the_model(reply):
    model = ScriptedModel()

    assert any(isinstance(delta, ChangeRate) for delta in reply(model, "speak slower"))
    assert model.sent == []


def test_waiting_passes_through(reply):
    assert next(reply(ScriptedModel(["", "Yes."]))) == TextDelta("")


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
