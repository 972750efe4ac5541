"""The marks around what a language model writes, where its server leaves them in the text: what it
thinks, whom it calls, where its turn ends.

Invariant: an open mark has a closing one of the same name, with a slash before the name or in the
way of _BEGIN_OR_END in engine/llm/tools/mark_reader.py.
"""

import re
from enum import Enum

from engine.text import tables


class Kind(Enum):
    THINKING = "thinking"  # around what is thought
    CALL = "call"  # around a call of a tool
    HIDDEN = "hidden"  # around what others said: nobody hears it
    LONE = "lone"  # it alone is left out
    END = "end"  # the turn of the model is over
    ROLE = "role"  # whose turn begins follows
    CHANNEL = "channel"  # what kind of text begins follows


def _kinds(section: str) -> dict[str, Kind]:
    kinds = tables.section("llm_markers", section).items()
    return {name: Kind(kind) for kind, names in kinds for name in names.split()}


_BOTH = _kinds("both")
PLAIN = _BOTH | _kinds("plain")  # <name>
BARRED = _BOTH | _kinds("barred")  # <|name|>; one that is not here is Kind.LONE
SQUARE = _kinds("square")  # [NAME], in capitals unless it is Kind.THINKING
# What follows Kind.ROLE or Kind.CHANNEL.
THINKS, ANSWERS, OWN, OTHERS = (
    tables.words("llm_markers", name) for name in ("thinks", "answers", "own", "others")
)

_ROLES = "|".join(name for name, kind in BARRED.items() if kind is Kind.ROLE)
TOKEN = re.compile(
    rf"<[|\uff5c]?(?:{_ROLES})[|\uff5c]?>(?:(?:{'|'.join(sorted(OWN | OTHERS))})\b)?"
    rf"|<[|\uff5c]channel[|\uff5c]>(?:(?:{'|'.join(sorted(THINKS | ANSWERS))})\b)?"
    r"|<[|\uff5c][^\s<>|\uff5c]{1,48}[|\uff5c]?>|<(?:channel|turn|tool_call)[|\uff5c]>"
    r"|<(?:"
    + "|".join(name for name, kind in _BOTH.items() if kind in (Kind.END, Kind.ROLE))
    + r"|bos|pad|unk)>|</s>|<</?SYS>>|\[/?(?:INST|BOS|EOS|PAD)\]",
    re.IGNORECASE,
)
"""The marks that are left out of any text that is read aloud, whoever wrote it."""
THINKING = tuple(name for name, kind in PLAIN.items() if kind is Kind.THINKING)
UNSAID = tuple(name for name, kind in PLAIN.items() if kind in (Kind.CALL, Kind.HIDDEN))
"""Calls of tools and their results. Those that are not in `_BOTH` have a value: <function=name>."""
VALUED = tuple(name for name in UNSAID if name not in _BOTH)
