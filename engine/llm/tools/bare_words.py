"""Channels whose marks a server has removed: what is left are the words that named them, joined to
the text ("analysisThe user asks...assistantfinalThe Thames.").

Invariant: pure.
"""

import re

_NAMES = ("final", "analysis", "commentary")
_JOINED = tuple(f"assistant{name}" for name in _NAMES)
_BEGUN = sorted({word[:size] for word in _JOINED for size in range(1, len(word))}, key=len)[::-1]

JOINED = re.compile(rf"(?:{'|'.join(_JOINED)})|(?:{'|'.join(_BEGUN)})\Z")
"""Anywhere: a whole word, or the beginning of one at the end of the text."""
AFTER_NO_LETTER = re.compile(rf"(?<![^\W_])(?:{JOINED.pattern})")
"""The same where people's words stand too: "classassistantfinal" is none."""

# No English word begins so; but "final" and "commentary" may begin a sentence in small letters.
_FIRST = re.compile(
    r"(?P<name>analysis)(?=[^\W_]|[\"“(*])|(?P<other>final|commentary)(?=[A-Z\d\"“(*])"
    r"|(?P<call>commentary)(?= to=)"
)


def first(text: str) -> str:
    """The channel that a reply begins with; empty = it names none."""
    match = _FIRST.match(text)
    return match[0] if match else ""


def may_be_first(text: str) -> bool:
    """Whether more text can make it one."""
    return any(f"{name} to="[: len(text)] == text for name in _NAMES)


def channel(word: str) -> str:
    """The channel that a whole word of JOINED names; empty = it is only begun."""
    return word.removeprefix("assistant") if word in _JOINED else ""
