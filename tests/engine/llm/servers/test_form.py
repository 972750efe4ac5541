"""Servers that refuse the form of a request: asked again in another, which is remembered."""

import json
import re

import pytest

from engine.errors import LanguageModelError
from engine.llm.base import Message, Role
from engine.llm.history import chat_messages
from engine.llm.servers.form import Form
from engine.llm.tools.toolbox import schemas
from tests.engine.llm.cases import text
from tests.engine.llm.scripted_server import DONE, calls, chunk, fails, refuses, says, sends

ANSWER = "The Thames."
FORM = Form()


def parts(request) -> set[str]:
    """What of a whole request is there: its fields, and the roles of its messages."""
    on = {name for name, value in request.items() if value is not False}
    return on | {message["role"] for message in request["messages"]}


WHOLE = {"model", "messages", "stream", "temperature", "tools", "system", "user"}


@pytest.mark.parametrize(
    ("refused", "refusal"),
    [
        ("temperature", fails(400, "Unsupported value: 'temperature' does not support 0.7.")),
        (
            "temperature",
            refuses(422, {"detail": [{"msg": "Less than 1", "loc": ["body", "temperature"]}]}),
        ),
        ("temperature", fails(400, "`temperature` is deprecated for this model.")),
        ("system", fails(400, 'Error rendering jinja template: "System role not supported".')),
        ("system", fails(400, "Conversation roles must alternate user/assistant/user/...")),
        ("system", fails(400, "Only user and assistant roles are supported!")),
        ("system", fails(500, "Unexpected message role: system")),
        ("tools", fails(400, "registry/x does not support tools")),
        ("tools", fails(500, "tools param requires --jinja flag")),
        ("tools", fails(404, "No endpoints found that support tool use.")),
        ("tools", fails(400, '"auto" tool choice requires --enable-auto-tool-choice to be set')),
        ("tools", fails(400, "Function calling is not enabled for this model")),
        ("stream", fails(400, "Your organization must be verified to stream this model.")),
    ],
)
def test_what_a_server_refuses_is_not_sent_again_and_all_else_is(
    scripted, answer_to, refused, refusal
):
    assert text(answer_to(refusal, says(ANSWER), says(ANSWER))) == ANSWER
    assert text(answer_to()) == ANSWER
    assert [*map(parts, scripted.requests)] == [WHOLE, WHOLE - {refused}, WHOLE - {refused}]
    first, second = ([m["content"] for m in each["messages"]] for each in scripted.requests[:2])
    assert "\n\n".join(second) == "\n\n".join(first)  # the system's text stands in the question


def test_an_answer_that_is_not_streamed_is_read(answer_to):
    whole = {"choices": [{"message": {"content": ANSWER}, "finish_reason": "stop"}]}
    refusal = fails(400, "Your organization must be verified to stream this model.")
    assert text(answer_to(refusal, refuses(200, whole))) == ANSWER


UNREADABLE = fails(500, 'error parsing tool call: raw=\'{"word":"c\', err=unexpected end of JSON')


def test_a_call_that_the_server_could_not_read_is_asked_for_once_more(scripted, answer_to):
    assert text(answer_to(UNREADABLE, says(ANSWER))) == ANSWER
    early = sends({"error": {"message": "Failed to parse tool call"}}, DONE)
    assert text(answer_to(early, says(ANSWER))) == ANSWER
    with pytest.raises(LanguageModelError, match="parsing tool call"):
        answer_to(UNREADABLE, UNREADABLE)
    assert len(scripted.requests) == 6
    assert all("tools" in each for each in scripted.requests)


def test_a_name_that_contains_tool_is_no_reason_to_give_them_up(scripted, answer_to):
    refusal = fails(404, "The model tool-7b is not supported here")
    with pytest.raises(LanguageModelError, match="does not know"):
        answer_to(refusal, says(ANSWER), model="tool-7b")
    assert text(answer_to(model="tool-7b")) == ANSWER
    assert "tools" in scripted.requests[-1]


SPELL = {"index": 0, "id": "a", "function": {"name": "spell", "arguments": '{"word": "cat"}'}}


def test_what_came_with_a_call_is_given_back_with_it(scripted, answer_to):
    signature = {"google": {"thought_signature": "Cr4"}}
    first = chunk({"reasoning_content": "I should "})
    second = chunk({"reasoning_content": "spell.", "content": "Let me see."})
    call = chunk({"tool_calls": [{**SPELL, "type": "function", "extra_content": signature}]})
    answer_to(sends(first, second, call, chunk({}, "tool_calls"), DONE), says(ANSWER))
    message = scripted.requests[1]["messages"][-2]
    assert message["reasoning_content"] == "I should spell."
    assert message["content"] == "Let me see."
    assert message["tool_calls"] == [
        {"id": "a", "type": "function", "function": SPELL["function"], "extra_content": signature}
    ]


def test_beside_calls_alone_stands_null_and_arguments_that_are_sent_are_json(scripted, answer_to):
    cut = {"index": 0, "id": "", "function": {"name": "spell", "arguments": '{"word": "c'}}
    answer_to(calls(cut), says(ANSWER))
    message, result = scripted.requests[1]["messages"][-2:]
    (call,) = message["tool_calls"]
    assert message["content"] is None
    assert call["function"] == {"name": "spell", "arguments": "{}"}
    assert re.fullmatch("[a-zA-Z0-9]{9}", call["id"])  # Mistral takes no other
    assert result["tool_call_id"] == call["id"]
    assert "not a JSON object" in result["content"]


PLACE = ["body", "messages", 3, "tool", "name"]
FORBIDDEN = {"type": "extra_forbidden", "loc": PLACE, "msg": "Extra inputs are not permitted"}


@pytest.mark.parametrize(
    "refusal",
    [
        fails(400, "property 'messages.3.name' is unsupported"),
        refuses(422, {"detail": [FORBIDDEN]}),
    ],
)
def test_a_field_that_a_strict_server_refuses_is_left_out(scripted, answer_to, refusal):
    assert text(answer_to(calls(SPELL), refusal, says(ANSWER))) == ANSWER
    assert "name" in scripted.requests[1]["messages"][-1]
    assert "name" not in scripted.requests[2]["messages"][-1]
    assert scripted.requests[2]["messages"][-2]["tool_calls"][0]["function"]["name"] == "spell"
    assert "tools" in scripted.requests[2]


def test_where_calls_are_refused_their_results_are_sent_as_text(scripted, answer_to):
    refusal = fails(400, "Unexpected role 'tool' in messages")
    assert text(answer_to(calls(SPELL), refusal, says(ANSWER))) == ANSWER
    assert "tools" not in scripted.requests[-1]
    roles = [message["role"] for message in scripted.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert scripted.requests[-1]["messages"][-1]["content"] == "[spell: C, A, T.]"


# ------------------------------------------------------------------ length


def spoken(*texts: str) -> list[Message]:
    roles = (Role.USER, Role.ASSISTANT)
    return [Message(roles[at % 2], each) for at, each in enumerate(texts)]


EXCEEDED = {
    "message": "request (3710 tokens) exceeds the available context size",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 3710,
    "n_ctx": 2560,
}
LONG = spoken(*(f"Sentence {number} of a conversation. " * 5 for number in range(41)))


@pytest.mark.parametrize(
    "refusal",
    [
        refuses(400, {"error": {"code": 400, **EXCEEDED}}),
        fails(400, "This model's maximum context length is 4096 tokens."),
        fails(413, "Request too large for model. Limit 6000, Requested 8000"),
        refuses(413, "<h1>413 Request Entity Too Large</h1>"),
        fails(422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"),
        fails(400, "Your request has 5000 tokens, and the limit is 4096."),
        refuses(400, {"error": {"message": "Bad request", "code": "context_length_exceeded"}}),
        sends(b'error: {"code":400,"message":"the prompt is too long for me"}\n\n'),
    ],
)
def test_what_is_too_long_for_the_server_is_made_shorter_and_asked_again(
    scripted, answer_to, refusal
):
    assert text(answer_to(refusal, says(ANSWER), says(ANSWER), said=LONG)) == ANSWER
    first, second = (each["messages"] for each in scripted.requests)
    assert 2 <= len(second) < len(first)
    assert (second[0], second[-1]) == (first[0], first[-1])
    answer_to(said=LONG)
    assert len(scripted.requests[2]["messages"]) < len(first)


def test_a_question_that_is_too_long_by_itself_is_told_and_the_next_is_answered(
    scripted, answer_to
):
    refusal = fails(400, "The prompt is too long: context size exceeded.")
    huge = [Message(Role.USER, "word " * 10_000)]
    with pytest.raises(LanguageModelError, match="too long for the language model's context"):
        answer_to(refusal, refusal, says(ANSWER), said=huge)
    assert "tools" not in scripted.requests[1]
    later = [*huge, *spoken("a", "b")[1:], Message(Role.USER, "Who wrote Hamlet?")]
    assert text(answer_to(said=later)) == ANSWER


def test_tools_are_left_out_where_they_would_fill_the_context(scripted, answer_to):
    for tokens in (1024, 4096):
        answer_to(says(ANSWER), context_tokens=tokens)
    assert ["tools" in each for each in scripted.requests] == [False, True]


@pytest.mark.parametrize(
    "word", ["river ", "reka \u0440\u0435\u043a\u0430 ", "\u6cb3\u6d41\u5f88\u957f"]
)
def test_dense_scripts_count_more_tokens_for_a_letter(word):
    at_least = {"r": 1 / 5, "\u6cb3": 1.0}.get(word[0], 1 / 4)
    sent = FORM.fit([{"role": "user", "content": word * 50}], schemas(), 1 << 20)
    without = FORM.fit([{"role": "user", "content": ""}], schemas(), 1 << 20)
    assert sent.tokens - without.tokens >= at_least * len(word) * 50
    assert without.tokens > len(json.dumps(schemas())) / 4  # the tools are counted


WORDS = re.compile(r"[^\W\u0400-\uffff]{1,6}|[\u0400-\u04ff]{1,3}|[\u0900-\uffff]|[^\w\s]")
CONTEXT = 4096


def counts_tokens(most: int, requests: list[dict], told: list[int], reply: str):
    """A server whose context has `most` tokens: words cut into pieces, each Chinese letter one."""

    def answer(handler):
        request = requests[-1]
        used = sum(
            4 + len(WORDS.findall(json.dumps(part, ensure_ascii=False)))
            for part in (*request["messages"], *request.get("tools", ()))
        )
        told.append(used)
        if used > most:
            fails(400, f"request ({used} tokens) exceeds the available context size ({most})")(
                handler
            )
        else:
            says(reply)(handler)

    return answer


ENGLISH = "And where does river number {} flow, would you say? "
CHINESE = "\u7b2c{}\u6761\u6cb3\u6d41\u5411\u54ea\u91cc\uff0c\u4f60\u77e5\u9053\u5417\uff1f"
REPLIES = {
    ENGLISH: "To the sea, past many a town. " * 6,
    CHINESE: "\u5b83\u6d41\u5411\u5927\u6d77\u3002" * 40,
}


@pytest.mark.parametrize("allowed", [CONTEXT, 1 << 17], ids=["4096 set", "far more set"])
@pytest.mark.parametrize("question", [ENGLISH, CHINESE], ids=["English", "Chinese"])
def test_a_conversation_of_200_turns_never_ends_in_too_long(scripted, connect, question, allowed):
    """Asked without the skills, which take most of the time."""
    told, history = [], []
    model = connect(scripted.address, context_tokens=allowed)
    server = counts_tokens(CONTEXT, scripted.requests, told, REPLIES[question])
    for turn in range(200):
        history.append(Message(Role.USER, question.format(turn) * 4))
        scripted.script = [server] * 9
        answer = "".join(model.complete(chat_messages(history, "Be kind.")))
        assert answer == REPLIES[question]
        history.append(Message(Role.ASSISTANT, answer))
    refused = sum(used > CONTEXT for used in told)
    assert len(told) - refused == 200
    assert refused <= 6
    assert all("tools" in request for request in scripted.requests)
    assert max(len(request["messages"]) for request in scripted.requests[-20:]) > 4
