import json
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.base import AssistantState, ChangeRate, ChangeVolume, ChooseVoice, StartTimer, Timer
from engine.llm.skills.matching.intent import SkillContext
from engine.llm.tools.toolbox import ToolCall, run, schemas
from engine.messages.timers import TimerKind
from tests.engine.llm.cases import CASES

SITUATION = AssistantState(
    rate=None, volume=0.5, voice="Anna", voices=("Anna", "Bruno"), timers=(Timer("tea", 60),)
)
OCCASION = SkillContext(
    now=lambda: datetime(2026, 1, 5, 15, 45), state=lambda: SITUATION, documents=Path("/nowhere")
)
NAMES = [schema["function"]["name"] for schema in schemas()]


def called(tool, arguments):
    return run(ToolCall("1", tool, json.dumps(arguments)), OCCASION)


@pytest.mark.parametrize(("name", "arguments", "said"), CASES["tools_answer"])
def test_a_tool_answers_like_its_skill(name, arguments, said):
    assert called(name, arguments).text == said


@pytest.mark.parametrize(("name", "arguments", "told"), CASES["malformed_calls"])
def test_a_malformed_call_is_explained_to_the_model(name, arguments, told):
    assert told in run(ToolCall("1", name, arguments), OCCASION).text


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("set_pace", {"pace": "slower"}, ChangeRate(by=-0.7)),
        ("set_pace", {"pace": 4.5}, ChangeRate(to=4.5)),
        ("set_pace", {"pace": "normal"}, ChangeRate()),
        ("set_volume", {"volume": "louder"}, ChangeVolume(by=0.2)),
        ("set_volume", {"volume": "50%"}, ChangeVolume(to=0.5)),
        ("choose_voice", {"name": "bruno"}, ChooseVoice("Bruno")),
        (
            "set_timer",
            {"duration": "Ten Minutes", "label": "Tea"},
            StartTimer(600.0, "tea", "Your tea timer is done."),
        ),
        (
            "set_reminder",
            {"duration": "5 min", "task": "call mum"},
            StartTimer(300.0, "call mum", "Remember to call mum.", TimerKind.REMINDER),
        ),
    ],
)
def test_a_tool_acts_like_its_skill(name, arguments, action):
    assert called(name, arguments).answer.actions == (action,)


def test_no_tool_opens_files():
    assert not [name for name in NAMES if "read" in name or "file" in name]


def test_every_schema_names_what_it_requires():
    for schema in schemas():
        parameters = schema["function"]["parameters"]
        assert set(parameters["required"]) <= set(parameters["properties"])


@given(
    st.sampled_from([*NAMES, "", "nothing"]),
    st.one_of(
        st.text(max_size=50),
        st.dictionaries(
            st.sampled_from(["duration", "label", "task", "expression", "pace", "word", "name"]),
            st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30)),
        ).map(json.dumps),
    ),
)
def test_whatever_a_model_writes_there_is_a_text_for_it(name, arguments):
    assert run(ToolCall("1", name, arguments), OCCASION).text
