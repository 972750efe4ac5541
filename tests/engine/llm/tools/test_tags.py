import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.base import Retraction, ThoughtDelta
from engine.llm.tools.tags import MAX_BODY_CHARS, TagSplitter
from engine.llm.tools.toolbox import ToolCall, parse_calls
from tests.engine.llm.cases import CASES

MARKS = (
    "<think>", "</think>", "<Thought >", "</thought>", "[THINK]", "[/THINK]", "◁think▷",
    "<tool_call>", "</tool_call>", "<function=spell>", "</function>", "[TOOL_CALLS]",
    "<|channel|>", "<|message|>", "analysis", "final", "<|start|>", "assistant", "<|end|>",
    "assistantfinal", "commentary to=functions.spell ", "<|im_end|>", "<|im_start|>", "user",
    "</s>", "<s>", "<|unknown_7|>", "<|call|>", "<turn|>", "<channel|>", "x" * 210,
    '{"name": "spell"}', '{"name": "Anna"}', '[{"name": 1}', "[INST]",
    "[/INST]",
    "`", "```", "```json", "\n", "a", " b", "<", "</", "th", ">", "|", "[", "{", '"', "Yes.",
)  # fmt: skip
PIECES = st.lists(st.sampled_from(MARKS), max_size=12)
ANSWER = "The Thames."
THOUGHT = "The user asks."
TIME = ("tell_time", "{}")
NAMED = '{"name": "tell_time", "arguments": {}}'


def split(pieces, *, assumed=False):
    """The parts of the stream in the end: retracted text is a thought, a call its name and text."""
    splitter = TagSplitter(thinking=assumed, assumed=assumed)
    parts = []
    for part in [*(part for piece in pieces for part in splitter.feed(piece)), *splitter.flush()]:
        if isinstance(part, Retraction):
            parts = [ThoughtDelta(each) if isinstance(each, str) else each for each in parts]
        elif isinstance(part, ToolCall):
            parts.append((part.name, part.arguments))
        else:
            parts.append(part)
    return merged(parts)


def merged(parts):
    """Neighbouring texts and thoughts are one."""
    joined = []
    for part in parts:
        before = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(before, str):
            joined[-1] += part
        elif isinstance(part, ThoughtDelta) and isinstance(before, ThoughtDelta):
            joined[-1] = ThoughtDelta(before.text + part.text)
        else:
            joined.append(part)
    return joined


def test_a_thought_is_passed_on_as_it_comes_and_what_was_not_given_out_is_not_taken_back():
    assert list(TagSplitter(thinking=True).feed("Hm, so")) == [ThoughtDelta("Hm, so")]
    assert list(TagSplitter().feed(f"{THOUGHT}</think>{ANSWER}")) == [ThoughtDelta(THOUGHT), ANSWER]


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        ("<tool_call>{}", [("", "{}")]),  # never ends
        ("<think>Hm.</th", [ThoughtDelta("Hm.</th")]),
        ("a <thi", ["a <thi"]),
        ("Yes.<|im_e", ["Yes."]),
        ("<think>a<think>b</think>c</think>Yes.", [ThoughtDelta("abc"), "Yes."]),
        ('<tool_response>{"time": "12"}</tool_response> It is noon.', ["It is noon."]),
        ("<|im_start|>assistant\nYes.<|im_end|>", ["Yes."]),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nYes.", ["Yes."]),
        ("[INST] Next? [/INST] Yes.", ["Yes."]),
        ('{"name": "get_weather", "input": {"in": "Rome"}}', [("get_weather", '{"in": "Rome"}')]),
        (f"So.\n{NAMED}\nIt is noon.", ["So.\n", TIME, "\nIt is noon."]),
    ],
)
def test_marks_that_never_end_or_lie_within_others(reply, parts):
    assert split([reply]) == parts


def test_an_endless_call_is_cut_and_an_answer_after_a_thought_that_only_names_the_tag_not_lost():
    assert split(["<tool_call>" + "x" * 2 * MAX_BODY_CHARS])[0] == ("x" * MAX_BODY_CHARS, "{}")
    assert split(["<think>They ask about <think>.</think>It marks."])[-1] == "It marks."


@settings(max_examples=400)
@given(PIECES, st.lists(st.integers(0, 120), max_size=6), st.booleans())
def test_cutting_the_stream_elsewhere_changes_nothing(pieces, cuts, assumed):
    whole = "".join(pieces)
    ends = sorted(cuts)
    random_pieces = [whole[a:b] for a, b in zip([0, *ends], [*ends, None], strict=True)]
    at_once = split([whole], assumed=assumed)
    for stream in (pieces, list(whole), random_pieces):
        assert split(stream, assumed=assumed) == at_once


@pytest.mark.parametrize("reply", CASES["thoughts"])
def test_whatever_marks_it_a_thought_is_no_text(reply):
    for cut in (1, 3, 1000):
        whole = reply.format(THOUGHT) + ANSWER
        pieces = [whole[at : at + cut] for at in range(0, len(whole), cut)]
        assert split(pieces) == [ThoughtDelta(THOUGHT), ANSWER]


@pytest.mark.parametrize("mark", ["</think>", "</THOUGHT>", "[/THINK]", "assistantfinal"])
def test_a_thought_the_prompt_began_is_taken_back_when_its_end_comes(mark):
    splitter = TagSplitter()
    assert list(splitter.feed(f"{THOUGHT} ")) == [f"{THOUGHT} "]
    assert list(splitter.feed(mark + ANSWER)) == [Retraction(), ANSWER]
    assert splitter.was_begun


def test_a_thought_that_was_assumed_and_never_ends_was_text():
    assert split(["Ten."], assumed=True)[-1] == "Ten."
    assert split(["Hm.</think>Ten."], assumed=True) == [ThoughtDelta("Hm."), "Ten."]
    again = "<think>Hm.</think>Ten."
    assert split([again], assumed=True) == [ThoughtDelta("Hm."), "Ten."]


@pytest.mark.parametrize("text", CASES["text_about_marks"])
def test_what_people_write_about_is_text(text):
    expected = text.replace("<s>", "").replace("</s>", "")
    assert split([text]) == split(list(text)) == [expected]


@pytest.mark.parametrize(("text", "at_once"), CASES["waits"])
def test_only_what_may_still_become_a_mark_waits(text, at_once):
    assert "".join(TagSplitter().feed(text)) == at_once


@pytest.mark.parametrize("mark", CASES["end_marks"])
def test_a_mark_at_the_end_vanishes(mark):
    assert split([ANSWER + mark]) == split([*ANSWER, *mark]) == [ANSWER]
    assert split([f"{mark}{ANSWER}"]) == [ANSWER]


@pytest.mark.parametrize("rest", CASES["after_the_turn"])
def test_what_a_model_writes_after_its_turn_is_not_its_reply(rest):
    splitter = TagSplitter()
    assert list(splitter.feed(ANSWER + rest)) == [ANSWER]
    assert splitter.over


@pytest.mark.parametrize("reply", CASES["written_calls"])
def test_a_call_is_taken_out_however_it_is_written(reply):
    assert split([reply]) == split(list(reply)) == [TIME]


DEEP = "[" * 100_000


@pytest.mark.parametrize(("body", "calls"), [*CASES["tagged_calls"], (DEEP, [["", DEEP]])])
def test_every_way_to_write_calls_is_read(body, calls):
    read = list(parse_calls(body))
    assert [[call.name, call.arguments] for call in read] == calls
    assert all(re.fullmatch("[0-9a-f]{9}", call.id) for call in read)
