"""Text from outside (servers, models, files, devices) as it may be shown.

Invariant: nothing in it steers what shows it, be that a terminal or Qt: no control character, no
bidirectional override, no markup.
"""

import html
import re

# Everything that is not text to a terminal but an order: escape sequences begin with one of these.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# They turn around what follows, also what is ours. Marks of direction (LRM, RLM) do not.
_INVISIBLE = re.compile("[\r\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text without what could steer, character by character: its length stays."""
    return _CONTROLS.sub("\ufffd", _INVISIBLE.sub("\u200b", text))


def one_line(text: str) -> str:
    """The same without line ends, for a name."""
    return " ".join(plain(text).split())


def tool_tip(text: str) -> str:
    """The text as Qt shows it in a tool tip: what looks like HTML would be obeyed there."""
    return f'<p style="white-space:pre-wrap">{html.escape(plain(text))}</p>'
