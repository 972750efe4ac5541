"""Servers that follow the standard in their own manner: what comes of it is the same reply. Calls
of tools come in fragments.
"""

import json
import time
from contextlib import suppress

import pytest

from engine.errors import LanguageModelError
from engine.llm.base import Retraction, StillLoading, TextDelta, ThoughtDelta
from engine.llm.servers import server
from engine.llm.servers.completion import MAX_CALLS, CallParts
from tests.engine.llm import scripted_server as scripts
from tests.engine.llm.cases import text
from tests.engine.llm.scripted_server import DONE, calls, chunk, content, fails, says, sends

ANSWER = "The Thames."
THOUGHT = "The user asks."


TEXT = content(ANSWER)
HALVES = content("The "), content("Thames.")
STOP = chunk({}, "stop")
USAGE = {"usage": {"total_tokens": 3}}
WITHOUT_DELTA = {"choices": [{"index": 0, "finish_reason": "stop"}]}
OTHER_CHOICE = {"choices": [{"index": 1, "delta": {"content": "Other."}}]}
MESSAGE = {"choices": [{"message": {"content": ANSWER}, "finish_reason": "stop"}]}


def lines(*events: dict) -> bytes:
    return b"".join(b"data: %s\n" % json.dumps(each).encode() for each in events)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((*HALVES, DONE), id="no reason for ending"),
        pytest.param((*HALVES, STOP), id="no last event"),
        pytest.param((*HALVES, STOP, b"data: [done]\n\n"), id="a last event in small letters"),
        pytest.param((TEXT, chunk(reason="stop") | {"choices": None}, DONE), id="choices null"),
        pytest.param((TEXT, STOP, USAGE, DONE), id="no choices"),
        pytest.param((USAGE | {"choices": []}, TEXT, STOP, DONE), id="usage first"),
        pytest.param((TEXT, WITHOUT_DELTA), id="no delta"),
        pytest.param(
            (TEXT, {"choices": [{"delta": None, "finish_reason": "stop"}]}), id="delta null"
        ),
        pytest.param((content(None), TEXT, content(None, "stop")), id="content null"),
        pytest.param((content(ANSWER, ""), STOP), id="an empty reason before the end"),
        pytest.param((HALVES[0], b"data:\n\ndata: \n\n", HALVES[1], STOP), id="empty events"),
        pytest.param((HALVES[0], b"data: null\n\n", HALVES[1], STOP), id="null events"),
        pytest.param((HALVES[0], b": ping\n\n:\n\n", HALVES[1], STOP), id="comments"),
        pytest.param((lines(*HALVES, STOP),), id="no empty lines"),
        pytest.param((lines(TEXT, STOP).replace(b"\n", b"\r\n\r\n"),), id="CR LF"),
        pytest.param((b"\xef\xbb\xbf" + lines(TEXT), STOP), id="a byte order mark"),
        pytest.param((HALVES[0], OTHER_CHOICE, HALVES[1], STOP), id="two choices"),
        pytest.param((content([{"type": "text", "text": ANSWER}]), STOP), id="a list of parts"),
        pytest.param((MESSAGE,), id="a message instead of deltas"),
        pytest.param((chunk({"refusal": ANSWER}), STOP), id="a refusal"),
        pytest.param((content(f"{ANSWER}<|im_end|>"),), id="the mark of the end alone"),
    ],
)
def test_a_whole_reply_is_whole_whatever_else_is_sent(answer_to, parts):
    assert text(answer_to(sends(*parts))) == ANSWER


def test_a_whole_answer_is_taken_and_what_follows_the_models_turn_not_waited_for(answer_to):
    body = json.dumps(MESSAGE, indent=1).encode()
    assert text(answer_to(sends(body, kind="application/json"))) == ANSWER
    rest = content("<|im_end|>\n<|im_start|>user\nAnd then?")
    assert text(answer_to(sends(TEXT, rest, b"data: {{{\n\n"))) == ANSWER


@pytest.mark.parametrize("ending", ["cut", "open", "beating"])
def test_after_a_reason_for_ending_a_reply_is_complete(scripted, answer_to, monkeypatch, ending):
    """Whether the connection is cut, left open, or kept alive without end."""
    monkeypatch.setattr(server, "AFTER_END_S", 0.1)

    def answer(handler):
        declared = {"Content_Length": "100000"} if ending == "cut" else {}
        sends(*HALVES, STOP, **declared)(handler)
        with suppress(OSError):  # the client has gone
            while ending != "cut" and not scripted.released.wait(0.02):
                handler.wfile.write(b": ping\n\n" * (ending == "beating"))

    assert text(answer_to(answer)) == ANSWER


@pytest.mark.parametrize("sign", [b": keep-alive\n\n", b'data: {"prompt_progress": {}}\n\n'])
def test_a_server_that_gives_signs_of_life_is_waited_for(answer_to, monkeypatch, sign):
    monkeypatch.setattr(server, "FIRST_TOKEN_S", 0.4)

    def answer(handler):
        scripts.begin_events(handler)
        for _ in range(8):
            handler.wfile.write(sign)
            time.sleep(0.1)
        handler.wfile.write(lines(*HALVES, STOP))

    assert text(answer_to(answer)) == ANSWER


def test_signs_of_life_alone_are_not_waited_for_without_end(scripted, answer_to, monkeypatch):
    monkeypatch.setattr(server, "LOADING_S", 0.2)

    def answer(handler):
        scripts.begin_events(handler)
        with suppress(OSError):  # the client has gone
            while not scripted.released.wait(0.02):
                handler.wfile.write(b": ping\n\n")

    with pytest.raises(LanguageModelError, match=r"said nothing for 0\.2 seconds"):
        answer_to(answer)


HALF = b'data: {"choices": [{"index": 0, "delta": {"content": "Great \\ud83c"}}]}\n\n'
OTHER_HALF = b'data: {"choices": [{"index": 0, "delta": {"content": "\\udf89 news."}}]}\n\n'


def test_a_character_cut_into_halves_comes_whole(answer_to):
    assert text(answer_to(sends(HALF, OTHER_HALF, STOP))) == "Great \U0001f389 news."
    assert text(answer_to(sends(HALF, STOP))) == "Great \ufffd"


def test_half_a_character_in_a_call_does_not_keep_the_next_request_from_being_sent(
    scripted, answer_to
):
    names = {"id": "a\ud83c", "function": {"name": "sp\udf89", "arguments": "{\ud83c"}}
    escaped = {
        "index": 1,
        "id": "b",
        "function": {"name": "spell", "arguments": r'{"word": "\ud83c"}'},
    }
    answer_to(calls(names, escaped), says(ANSWER))
    assert scripted.requests[1]["messages"][-3]["tool_calls"][0]["id"] == "a\ufffd"
    assert len(scripted.requests) == 2


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": THOUGHT},
        {"reasoning": THOUGHT, "content": ""},
        {"thinking": THOUGHT},
        {"reasoning": None, "reasoning_details": [{"type": "reasoning.text", "text": THOUGHT}]},
        {"reasoning": THOUGHT, "reasoning_details": [{"text": THOUGHT}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}]},
        {"content": [{"type": "reasoning", "text": THOUGHT}, {"type": "text", "text": ""}]},
        {"content": f"<thought>{THOUGHT}</thought>"},  # of all the marks in test_tags.py
    ],
    ids=str,
)
def test_what_is_thought_is_shown_and_not_said(answer_to, delta):
    deltas = answer_to(sends(chunk(delta), TEXT, STOP))
    assert "".join(each.text for each in deltas if isinstance(each, ThoughtDelta)) == THOUGHT
    assert text(deltas) == ANSWER


def test_a_thought_that_the_prompt_began_is_taken_back_once(answer_to):
    thinks = sends(content(f"{THOUGHT} "), content("</think>"), TEXT, STOP)
    first, second = answer_to(thinks), answer_to(thinks)
    assert first.index(Retraction()) < first.index(TextDelta(ANSWER))
    assert Retraction() not in second
    assert text(second) == ANSWER
    assert text(answer_to(says("Ten."))) == "Ten."
    assert text(answer_to(says("Ten."))) == "Ten."


ASKS_FOR_TIME = '{"name": "tell_time", "arguments": {}}'


def test_a_call_written_as_text_is_carried_out(scripted, answer_to):
    """All the ways to write one are in test_tags.py."""
    call = "<tool_call>\n<function=tell_time>\n</function>\n</tool_call>"
    assert text(answer_to(says(*call), says("Noon."))) == "Noon."
    assert scripted.requests[1]["messages"][-1]["content"].startswith("It's 3:45 PM.")


def test_a_call_of_an_unknown_tool_is_not_said_and_arguments_may_be_an_object(scripted, answer_to):
    call = '[TOOL_CALLS][{"name": "get_weather", "arguments": {"place": "Rome"}}]'
    assert text(answer_to(says(call), says("I cannot know."))) == "I cannot know."
    assert "no tool called 'get_weather'" in scripted.requests[1]["messages"][-1]["content"]
    spelled = {"index": 0, "id": "a", "function": {"name": "spell", "arguments": {"word": "Tea"}}}
    answer_to(calls(spelled), says(ANSWER))
    assert scripted.requests[-1]["messages"][-1]["content"] == "T, E, A."


def test_a_call_without_an_offer_is_neither_carried_out_nor_said(scripted, answer_to):
    refusal = fails(400, "tools are not supported")
    assert text(answer_to(refusal, says("Hm.\n", ASKS_FOR_TIME))) == "Hm.\n"
    assert len(scripted.requests) == 2


LOADS = fails(503, "Loading model")


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(server, "RETRY_S", 0.01)
    monkeypatch.setattr(server, "LONGEST_RETRY_S", 0.02)


BUSY = sends(b"<html>later</html>", status=503, kind="text/html", Retry_After="1")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("answer", [LOADS, BUSY])
def test_a_server_that_loads_its_model_is_asked_again(scripted, answer_to, answer):
    deltas = answer_to(answer, answer, says(ANSWER))
    assert text(deltas) == ANSWER
    assert deltas.count(StillLoading()) == 1
    assert scripted.requests[0] == scripted.requests[2]


@pytest.mark.usefixtures("quick")
def test_a_server_that_loads_for_too_long_is_given_up(answer_to, monkeypatch):
    monkeypatch.setattr(server, "LOADING_S", 0.0)
    with pytest.raises(LanguageModelError, match=r"still loading.*Loading model"):
        answer_to(LOADS)


def test_nobody_has_to_wait_while_a_server_loads(reply_of, answer_to):
    reply = reply_of(LOADS, says(ANSWER))
    while next(reply) != StillLoading():
        pass
    reply.close()
    assert text(answer_to()) == ANSWER


@pytest.mark.usefixtures("quick")
def test_the_list_of_models_is_asked_for_again_too(scripted, answer_to):
    lists = [LOADS, scripted.listing]
    scripted.listing = lambda handler: lists.pop(0)(handler)
    assert text(answer_to(says(ANSWER), model="")) == ANSWER


CAT, DOG = '{"word": "cat"}', '{"word": "dog"}'
TWO = [("spell", CAT), ("spell", DOG)]


def part(index=None, identifier=None, name=None, arguments=None):
    fields = {"index": index, "id": identifier, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in fields.items() if value is not None}


def joined(*fragments):
    parts = CallParts()
    for fragment in fragments:
        parts.add([fragment])
    return [(call.name, call.arguments) for call in parts.calls()]


@pytest.mark.parametrize(
    "fragments",
    [
        [part(0, "a", "spell", ""), part(0, None, None, CAT[:5]), part(0, None, None, CAT[5:])],
        [part(0, "a", "spell", ""), part(0, "a", "spell", CAT[:5]), part(0, "a", "spell", CAT[5:])],
        [part(0, "a", "sp"), part(0, None, "ell", CAT)],
        [part(0, "a", "sp"), part(0, None, "spell", CAT)],
        [part(0, "a", None, CAT[:5]), part(0, None, None, CAT[5:]), part(0, None, "spell")],
        [part(0, "a", "spell", CAT[:5]), part(0, "b", None, CAT[5:])],  # an id for each fragment
        [part(0, "a", "spell", CAT), part(0, "a", "spell", CAT)],
        [part(0, "a", "spell", CAT), part(None, "a", "spell", CAT.replace(" ", ""))],
        [part(0, None, "spell", CAT), part(0, None, "spell", CAT)],
        [part(0, "a", "spell", CAT), part(0, "a", "spell", "")],
        [part(0, "a", "spell", CAT), part(0, None, None, "]")],
        [part(0, "a", "functions.spell", CAT)],
        [part(0, "a", "default_api:spell:0", CAT)],
        [part(0, "a", "spell<|channel|>commentary", CAT)],
        [part(0, "a", " spell\n", CAT)],
    ],
)
def test_one_call_is_one_however_it_is_delivered(fragments):
    (found,) = joined(*fragments)
    assert found[0] == "spell"
    assert found[1].replace(" ", "") == CAT.replace(" ", "")


@pytest.mark.parametrize(
    "fragments",
    [
        [part(0, "a", "spell", CAT), part(1, "b", "spell", DOG)],
        [part(0, "a", "spell", CAT), part(0, "b", "spell", DOG)],
        [part(0, "", "spell", CAT), part(0, "", "spell", DOG)],
        [part(None, None, "spell", CAT), part(None, None, "spell", DOG)],
        [part(0, "a", "spell", CAT), part(1, "a", "spell", DOG)],
        [
            *(part(0, None, "spell", ""), part(0, None, None, CAT)),
            *(
                part(0, None, "spell", ""),
                part(0, None, None, DOG[:6]),
                part(0, None, None, DOG[6:]),
            ),
        ],
    ],
)
def test_parallel_calls_are_told_apart_without_ids_or_indices(fragments):
    assert joined(*fragments) == TWO


def test_calls_alike_with_ids_of_their_own_are_two_and_other_tools_others():
    assert joined(part(0, "a", "spell", CAT), part(0, "b", "spell", CAT)) == [("spell", CAT)] * 2
    two = [part(0, None, "tell_time", ""), part(0, None, "spell", CAT)]
    assert joined(*two) == [("tell_time", ""), ("spell", CAT)]
    two = [part(0, None, "spell", CAT), part(0, None, "tell_time", "{}")]
    assert joined(*two) == [("spell", CAT), ("tell_time", "{}")]


def test_there_are_never_too_many_calls_and_every_one_has_an_id_of_its_own():
    parts = CallParts()
    parts.add(part(number, None, "spell", CAT) for number in range(100))
    assert len(list(parts.calls())) == 1  # all alike
    parts = CallParts()
    parts.add(part(number, None, "spell", f'{{"n": {number}}}') for number in range(100))
    found = list(parts.calls())
    assert len({call.id for call in found}) == len(found) == MAX_CALLS


def test_other_fields_of_a_call_are_kept_but_not_without_end():
    parts = CallParts()
    parts.add([{**part(0, "a", "spell", CAT), "type": "function", "extra_content": {"x": "y"}}])
    parts.add([{**part(0), "more": "z" * 200_000}])
    (call,) = parts.calls()
    assert call.extra == {"extra_content": {"x": "y"}}
