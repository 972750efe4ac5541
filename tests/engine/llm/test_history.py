"""What fits the person's words into a history for a model, and which models there are."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import LanguageModelError, ModelError
from engine.llm import registry
from engine.llm.base import Message, Role
from engine.llm.history import BLOCK_MESSAGES, INTERRUPTED, UNHEARD, chat_messages, trimmed
from engine.settings import LanguageModelSettings
from tests.help.process.fresh_python import prints

MESSAGES = st.lists(
    st.builds(
        Message, st.sampled_from(Role), st.sampled_from(["", " ", "Yes.", "Why?"]), st.booleans()
    ),
    max_size=20,
)


def turns(count):
    """A system message, then count turns of alternating messages."""
    said = [{"role": "system", "content": "s"}]
    for number in range(count):
        said.append({"role": "user", "content": f"q{number}"})
        said.append({"role": "assistant", "content": f"a{number}"})
    return [*said, {"role": "user", "content": "last"}]


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (Message(Role.ASSISTANT, "Good mor", interrupted=True), f"Good mor{INTERRUPTED}"),
        (Message(Role.ASSISTANT, "", interrupted=True), UNHEARD),
        (Message(Role.USER, "Are you there?"), "Hello.\nAre you there?"),  # they become one
        (Message(Role.ASSISTANT, "\ud83c\udf89 a\ud83c"), "\U0001f389 a\ufffd"),  # half a character
    ],
)
def test_an_answer_is_told_as_it_was_heard_after_the_system_prompt(second, told):
    first, *_, last = chat_messages([Message(Role.USER, "Hello."), second], "Be kind.\udf89")
    assert first == {"role": "system", "content": "Be kind.\ufffd"}
    assert last["content"] == told


@given(MESSAGES)
def test_user_and_assistant_always_alternate(history):
    first, *roles = [message["role"] for message in chat_messages(history, "Be kind.")]
    assert first == "system"
    assert roles == [("user", "assistant")[number % 2] for number in range(len(roles))]


@given(st.integers(0, 40), st.integers(2, 90))
def test_what_is_left_fits_and_begins_with_system_and_user(count, limit):
    left = trimmed(turns(count), lambda messages: len(messages) <= limit)
    assert len(left) <= limit
    assert [message["role"] for message in left[:2]] == ["system", "user"]
    assert left[-1]["content"] == "last"


def test_after_a_drop_the_beginning_stays_the_same_for_several_turns():
    def fits(messages):
        return len(messages) <= 20

    begins = [trimmed(turns(count), fits)[1]["content"] for count in range(9, 40)]
    changes = sum(before != after for before, after in pairwise(begins))
    assert 0 < changes <= len(begins) // (BLOCK_MESSAGES // 2) + 1


def test_the_last_question_stays_when_tool_results_follow_it_or_is_refused():
    tool = {"role": "tool", "content": "x"}
    left = trimmed([*turns(9), tool], lambda messages: len(messages) <= 3)
    assert [message["content"] for message in left] == ["s", "last", "x"]
    with pytest.raises(LanguageModelError, match="too long"):
        trimmed(turns(3), lambda _messages: False)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ModelError, match="'gpt'") as caught:
        registry.load(LanguageModelSettings(engine="gpt"), print)
    assert all(name in caught.value.hint for name in registry.NAMES)


def test_importing_the_registry_imports_no_model_library():
    heavy = ["llama_cpp", "openai", "pint", "hassil", "torch"]
    program = f"import engine.llm.registry, sys; print([m for m in {heavy} if m in sys.modules])"
    assert prints(program) == "[]"


def test_a_question_in_another_language_asks_for_an_answer_in_it():
    spanish = Message(Role.USER, "¿Qué tal?", language="es")
    (system, _) = chat_messages([spanish], "Be brief.")
    assert system == {"role": "system", "content": "Be brief.\nResponde en español."}
    (system, *_) = chat_messages([spanish, Message(Role.USER, "How are you?")], "Be brief.")
    assert system["content"] == "Be brief."
