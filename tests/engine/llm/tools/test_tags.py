from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.base import Retraction, ThoughtDelta
from engine.llm.tools.tags import MAX_BODY_CHARS, THINK, Tagged, TagSplitter

MARKS = (
    "<think>", "</think>", "<Thought >", "</thought>", "[THINK]", "[/THINK]", "◁think▷",
    "<tool_call>", "</tool_call>", "<function=spell>", "</function>", "[TOOL_CALLS]",
    "<|channel|>", "<|message|>", "analysis", "final", "<|start|>", "assistant", "<|end|>",
    "assistantfinal", "commentary to=functions.spell ", "<|im_end|>", "<|im_start|>", "user",
    "</s>", "<s>", "<|unknown_7|>",
    '{"name": "spell"}', '{"name": "Anna"}', '[{"name": 1}', "[INST]",
    "[/INST]",
    "`", "```", "```json", "\n", "a", " b", "<", "</", "th", ">", "|", "[", "{", '"', "Yes.",
)  # fmt: skip
PIECES = st.lists(st.sampled_from(MARKS), max_size=12)


def split(pieces, inside=None, *, assumed=False):
    """What is left of the stream in the end: what was retracted is a thought."""
    splitter = TagSplitter(inside, assumed=assumed)
    parts = []
    for part in [*(part for piece in pieces for part in splitter.feed(piece)), *splitter.flush()]:
        if isinstance(part, Retraction):
            parts = [ThoughtDelta(each) if isinstance(each, str) else each for each in parts]
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


def test_plain_text_passes_at_once():
    assert list(TagSplitter().feed("1 < 2, said Anna")) == ["1 < 2, said Anna"]


def test_thoughts_are_no_text():
    assert split(["<think>Hm.</think>Yes."]) == [ThoughtDelta("Hm."), "Yes."]


def test_a_thought_the_prompt_began_is_no_text():
    assert split(["Hm.</think>Yes."], inside=THINK) == [ThoughtDelta("Hm."), "Yes."]


def test_a_thought_is_passed_on_as_it_comes():
    assert list(TagSplitter(THINK).feed("Hm, so")) == [ThoughtDelta("Hm, so")]


def test_a_tool_call_is_taken_out():
    assert split(["Wait. <tool_call>{}</tool_call> Done."]) == ["Wait. ", Tagged("{}"), " Done."]


def test_a_tool_call_that_never_ends_is_one():
    assert split(["<tool_call>{}"]) == [Tagged("{}")]


def test_a_thought_that_never_ends_is_no_text():
    assert split(["<think>Hm.</th"]) == [ThoughtDelta("Hm.</th")]


def test_half_a_tag_at_the_end_is_text():
    assert split(["a <thi"]) == ["a <thi"]


def test_an_endless_call_is_cut():
    assert split(["<tool_call>" + "x" * 2 * MAX_BODY_CHARS])[0] == Tagged("x" * MAX_BODY_CHARS)


@settings(max_examples=400)
@given(PIECES)
def test_cutting_the_stream_elsewhere_changes_nothing(pieces):
    whole = "".join(pieces)

    assert split([whole]) == split(pieces) == split(list(whole))
