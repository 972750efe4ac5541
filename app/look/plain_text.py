"""Makes text from outside (servers, models, files, devices) safe to show.

Invariant: nothing in it controls a terminal or Qt: no control characters, no bidirectional
overrides, no markup. Positions in Qt's documents count UTF-16 units: a character beyond U+FFFF
(most emoji) counts two, and units() converts.
"""

import html
import re

# QTextCursor.insertText would turn these into new blocks, objects or broken strings.
_LINE_ENDS = re.compile("[\n\x0b\x0c\x85\u2028\u2029]")
_UNSHOWABLE = re.compile("[\ufdd0\ufdd1\ufffc\ufffe\uffff]")
LINE_END = "\u2028"
# Characters that a terminal takes as commands: escape sequences begin with one of these.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# These reverse the text after them, even our own. Direction marks (LRM, RLM) do not.
_INVISIBLE = re.compile("[\r\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text with control characters replaced one by one, so that its length stays the same."""
    return _CONTROLS.sub("\ufffd", _INVISIBLE.sub("\u200b", text))


def one_line(text: str) -> str:
    """Return the text of plain() without line ends, for a name."""
    return " ".join(plain(text).split())


def tool_tip(text: str) -> str:
    """Escape the text for a tool tip, because Qt interprets HTML there."""
    return f'<p style="white-space:pre-wrap">{html.escape(plain(text))}</p>'


def displayable(text: str) -> str:
    """The text with line ends that stay inside one block, and without characters that Qt would
    treat as structure; as many characters as before, so spans of the original stay valid.
    """
    return _UNSHOWABLE.sub("\ufffd", plain(_LINE_ENDS.sub(LINE_END, text)))


def characters(text: str, position: int) -> int:
    """Convert a position in UTF-16 units to a number of characters; the inverse of units()."""
    for number, character in enumerate(text):
        if position <= 0:
            return number
        position -= 1 + (character > "\uffff")
    return len(text)


def units(text: str) -> int:
    """Return the length of a text in a QTextDocument, in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
