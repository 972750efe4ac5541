"""What of a client's conversation a language model gets, and what is kept of a long one."""

import pytest

from engine.llm.history import ChatMessage
from engine.serve.doors import conversation as door
from engine.serve.doors.conversation import Call, CallOutput, Conversation, Item, Message, Part
from engine.serve.doors.requests import Refusal


def said(text: str, role: str = "user") -> Message:
    return Message(role=role, content=[Part(type="input_text", text=text)])  # type: ignore[arg-type]


def call(key: str) -> Call:
    return Call(call_id=key, name="weather", arguments="{}")


def result(key: str, output: str = "rain") -> CallOutput:
    return CallOutput(type="function_call_output", call_id=key, output=output)


def conversation(*items: Item) -> Conversation:
    made = Conversation()
    for item in items:
        made.add(item)
    return made


def shape(chat: list[ChatMessage]) -> list[str]:
    """Each message's role, with the id of its call."""
    return [
        each["role"]
        + "".join(made["id"] for made in each.get("tool_calls", ()))
        + str(each.get("tool_call_id", ""))
        for each in chat
    ]


@pytest.mark.parametrize(
    ("items", "roles"),
    [
        ([call("1"), result("1")], ["assistant1", "tool1"]),
        (
            [call("1"), call("2"), result("2"), result("1")],
            ["assistant1", "tool1", "assistant2", "tool2"],
        ),
        ([call("1"), said("wait"), result("1")], ["assistant1", "tool1", "user"]),
        ([result("1"), said("so?")], ["user"]),
        ([call("1"), said("never mind")], ["user"]),
    ],
    ids=["one", "parallel", "late", "without a call", "without a result"],
)
def test_every_result_is_behind_its_call_and_none_is_alone(
    items: list[Item], roles: list[str]
) -> None:
    assert shape(conversation(*items).chat("")) == roles


def test_where_a_call_is_trimmed_its_result_goes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_MOST_ITEMS", 3)
    kept = conversation(said("how is it?"), call("1"), result("1"), said("and now?"))
    assert shape(kept.chat("")) == ["assistant1", "tool1", "user"]
    kept.add(said("well?"))
    assert shape(kept.chat("")) == ["user"]


def test_an_item_that_is_too_long_is_refused_and_all_others_stay() -> None:
    kept = conversation(said("hello"))
    for item in (said("a" * 200_001), result("1", "a" * 200_001)):
        with pytest.raises(Refusal, match="200000"):
            kept.add(item)
    assert [each.text for each in kept.messages("")] == ["hello"]


@pytest.mark.parametrize("after", [None, "root"])
def test_the_newest_item_is_never_trimmed(after: str | None) -> None:
    old = [said(letter * 90_000) for letter in "ab"]
    kept = conversation(*old)
    kept.add(said("c" * 90_000), after)
    texts = {each.text[0] for each in kept.messages("")}
    assert texts == {"b", "c"}
