"""Channels whose marks a server has removed: only the words that named them remain, joined to the
text ("analysisThe user asks...assistantfinalThe Thames.").

Invariant: pure.
"""

import re

_NAMES = ("final", "analysis", "commentary")
_JOINED = [f"assistant{name}" for name in _NAMES]
_BEGUN = sorted({word[:size] for word in _JOINED for size in range(1, len(word))}, key=len)[::-1]

JOINED = re.compile(rf"assistant(?P<name>{'|'.join(_NAMES)})|(?:{'|'.join(_BEGUN)})\Z")
"""A complete word anywhere, or the beginning of one (without a name) at the end of the text."""
AFTER_NO_LETTER = re.compile(rf"(?<![^\W_])(?:{JOINED.pattern})")
"""The same in text for people: "classassistantfinal" does not match."""

# No English word begins so; but "final" and "commentary" may begin a sentence in small letters.
FIRST = re.compile(
    r"\s*(?:(?P<name>analysis(?=[^\W_]|[\"“(*])|(?:final|commentary)(?=[A-Z\d\"“(*])"
    r"|commentary(?= to=))"
    rf"|(?:{'|'.join({f'{name} to='[:size] for name in _NAMES for size in range(1, 14)})})\Z)"
)
"""The channel that a reply begins with, or (without a name) the beginning of one."""
