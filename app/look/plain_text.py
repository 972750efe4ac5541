"""Makes text from outside (servers, models, files, devices) safe to show.

Invariant: nothing in it controls a terminal or Qt: no control characters, no bidirectional
overrides, no markup.
"""

import html
import re

# Characters that a terminal takes as commands: escape sequences begin with one of these.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# These reverse the text after them, even our own. Direction marks (LRM, RLM) do not.
_INVISIBLE = re.compile("[\r\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text with control characters replaced one by one, so that its length stays the same."""
    return _CONTROLS.sub("\ufffd", _INVISIBLE.sub("\u200b", text))


def one_line(text: str) -> str:
    """The same without line ends, for a name."""
    return " ".join(plain(text).split())


def tool_tip(text: str) -> str:
    """The text escaped for a tool tip, where Qt would interpret HTML."""
    return f'<p style="white-space:pre-wrap">{html.escape(plain(text))}</p>'
