"""Marks that a server may leave in a language model's text: around its thoughts and its calls of
tools, and at the end of its turn.

Invariant: an opening mark has a closing one of the same name, with a slash before the name or as
_BEGIN_OR_END in engine/llm/tools/mark_reader.py says.
"""

import re
from enum import Enum

from engine.text import tables


class Kind(Enum):
    THINKING = "thinking"  # around thoughts
    CALL = "call"  # around a call of a tool
    HIDDEN = "hidden"  # around the words of others, which are not spoken
    LONE = "lone"  # only the mark itself is left out
    END = "end"  # the turn of the model is over
    ROLE = "role"  # the name of the role that begins follows
    CHANNEL = "channel"  # the name of the channel that begins follows


def _kinds(section: str) -> dict[str, Kind]:
    kinds = tables.section("llm_markers", section).items()
    return {name: Kind(kind) for kind, names in kinds for name in names.split()}


_BOTH = _kinds("both")
PLAIN = _BOTH | _kinds("plain")  # <name>
BARRED = _BOTH | _kinds("barred")  # <|name|>; one that is not here is Kind.LONE
SQUARE = _kinds("square")  # [NAME], in capitals unless it is Kind.THINKING
# Names behind Kind.ROLE or Kind.CHANNEL.
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
"""The marks that are left out of every text that is read aloud."""
THINKING = tuple(name for name, kind in PLAIN.items() if kind is Kind.THINKING)
UNSAID = tuple(name for name, kind in PLAIN.items() if kind in (Kind.CALL, Kind.HIDDEN))
"""Calls of tools and their results. Those that are not in `_BOTH` have a value: <function=name>."""
VALUED = tuple(name for name in UNSAID if name not in _BOTH)
