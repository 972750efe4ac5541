"""The marks around what a language model writes, where its server leaves them in the text: what it
thinks, whom it calls, where its turn ends.

Invariant: pure data. Names are in lower case, with _ for what models write as - or ▁. An open
mark has a closing one of the same name, with a slash before the name or in the way of _BEGIN below.
"""

import re
from enum import Enum


class Kind(Enum):
    THINKING = "thinking"  # around what is thought
    CALL = "call"  # around a call of a tool
    HIDDEN = "hidden"  # around what others said: nobody hears it
    LONE = "lone"  # it alone is left out
    END = "end"  # the turn of the model is over
    ROLE = "role"  # whose turn begins follows
    CHANNEL = "channel"  # what kind of text begins follows


def _named(kind: Kind, names: str) -> dict[str, Kind]:
    return dict.fromkeys(names.split(), kind)


_BOTH = {
    **_named(
        Kind.THINKING,
        "think thinking thought thoughts reasoning reason reflection scratchpad analysis "
        "seed:think antthinking inner_monologue thought_process chain_of_thought",
    ),
    **_named(
        Kind.CALL,
        "tool_call tool_calls toolcall function_call function_calls functioncall minimax:tool_call",
    ),
    **_named(
        Kind.HIDDEN,
        "tool_response tool_responses tool_result tool_results tool_output tool_outputs "
        "function_response function_results",
    ),
    **_named(
        Kind.END,
        "end_of_turn end_of_text end_of_utterance eos eot eod im_end endoftext eot_id eom_id",
    ),
    **_named(Kind.ROLE, "im_start start_of_turn start_header_id"),
    **_named(Kind.LONE, "bos pad unk answer final_answer im_sep"),
}
# <name>; `function` and `invoke` name the tool behind it.
PLAIN = {**_BOTH, **_named(Kind.LONE, "s response"), **_named(Kind.CALL, "function invoke")}
# <|name|>, also with full-width bars, and <|name> or <name|>. One that is not here is Kind.LONE.
BARRED = {
    **_BOTH,
    **_named(Kind.CALL, "python_tag tool_calls_section tool_calls tool_call"),
    **_named(Kind.END, "end_of_sentence end_of_turn_token return end_of_message"),
    **_named(Kind.ROLE, "start turn start_of_turn_token"),
    **_named(Kind.CHANNEL, "channel"),
}
# [NAME], in capitals unless it is thought.
SQUARE = {
    **_named(Kind.THINKING, "think thinking"),
    **_named(Kind.CALL, "TOOL_CALLS"),
    **_named(Kind.HIDDEN, "INST TOOL_RESULTS AVAILABLE_TOOLS SYSTEM_PROMPT"),
    **_named(Kind.END, "EOS"),
    **_named(Kind.LONE, "BOS PAD"),
}
# What follows Kind.ROLE or Kind.CHANNEL.
THINKS = frozenset("analysis commentary thought thinking think reasoning reflection".split())
ANSWERS = frozenset("final response answer".split())
OWN = frozenset("assistant model bot chatbot gpt ai".split())
OTHERS = frozenset("user human system developer tool ipython environment".split())

TOKEN = re.compile(
    r"<[|\uff5c][^\s<>|\uff5c]{1,48}[|\uff5c]?>|<(?:channel|turn|tool_call)[|\uff5c]>"
    r"|<(?:"
    + "|".join(name for name, kind in _BOTH.items() if kind in (Kind.END, Kind.ROLE))
    + r"|bos|pad|unk)>|</s>|\[/?INST\]",
    re.IGNORECASE,
)
"""The marks that are left out of any text that is read aloud, whoever wrote it."""
THINKING = tuple(name for name, kind in PLAIN.items() if kind is Kind.THINKING)
