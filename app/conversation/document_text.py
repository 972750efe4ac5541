"""Converts any string to one that Qt's text document can hold, position by position.

Invariant: `displayable` keeps the number of characters, so spans of the original stay valid. Qt
counts UTF-16 units: a character beyond U+FFFF (most emoji) counts two; `units` converts.
"""

import re

from app.look.plain_text import plain

# What QTextCursor.insertText would turn into new blocks, objects or broken strings.
_LINE_ENDS = re.compile("[\n\x0b\x0c\x85\u2028\u2029]")
_UNSHOWABLE = re.compile("[\ufdd0\ufdd1\ufffc\ufffe\uffff]")
LINE_END = "\u2028"


def displayable(text: str) -> str:
    """The text with line ends that stay inside one block, and without characters that Qt would
    treat as structure."""
    return _UNSHOWABLE.sub("\ufffd", plain(_LINE_ENDS.sub(LINE_END, text)))


def characters(text: str, position: int) -> int:
    """How many characters of the text stand before a position: the opposite of units()."""
    for number, character in enumerate(text):
        if position <= 0:
            return number
        position -= 1 + (character > "\uffff")
    return len(text)


def units(text: str) -> int:
    """How many positions a text takes in a QTextDocument."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
