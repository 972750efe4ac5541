"""SSML as speech-dispatcher sends it: text, index marks, and whether it is to be spelt.

Any text is accepted. Malformed markup is read as text; nothing here is nested, so depth costs
nothing, and the time is linear in the length.
"""

import html
import re
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 100_000  # characters of one message; the rest is not spoken
_TAG: Final = re.compile(r"(<[/!?]?[A-Za-z][^<>]{0,2000}>|<!--[^<>]{0,2000}-->)")
_NAME: Final = re.compile(r"</?([A-Za-z][\w:.-]*)")
_ATTRIBUTES: Final = re.compile(r"""([\w:-]{1,40})\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\ufffe\uffff\ud800-\udfff]")
_APART: Final = frozenset(("p", "s", "break", "paragraph", "sentence"))  # tags between words
_SPELT: Final = frozenset(
    ("characters", "spell-out", "verbatim", "digits", "tts:char", "tts:digits", "letters")
)


@dataclass(frozen=True)
class Message:
    """`marks`: name and position in `text`, in order. `spelt`: a part is spoken by its letters."""

    text: str
    marks: tuple[tuple[str, int], ...] = ()
    spelt: bool = False

    def rest(self, position: int, marks: int) -> "Message":
        """Return the text from a position on, with all marks but the first ones."""
        moved = tuple((name, max(0, at - position)) for name, at in self.marks[marks:])
        return Message(self.text[position:], moved, self.spelt)


def parse(source: str) -> Message:
    """Parse a message of the daemon; plain text is a message without marks."""
    parts: list[str] = []
    marks: list[tuple[str, int]] = []
    length, spelt, alias = 0, False, False
    for number, piece in enumerate(_TAG.split(source[:LONGEST])):
        text = "" if alias or number % 2 else _CONTROL.sub(" ", html.unescape(piece))
        if number % 2 and (tag := _NAME.match(piece)):
            name, values = tag[1].lower(), _attributes(piece)
            text = " " if name in _APART else ""
            if name == "mark" and values.get("name"):
                marks.append((values["name"], length))
            elif name == "say-as":
                spelt = spelt or values.get("interpret-as", "") in _SPELT
            elif name == "sub":
                text = values.get("alias", "")
                alias = bool(text) and not piece.startswith("</")
        parts.append(text)
        length += len(text)
    return Message("".join(parts), tuple(marks), spelt)


def _attributes(tag: str) -> dict[str, str]:
    """Return the attributes of a tag. A value has no line breaks, since marks are reported in a
    line of their own.
    """
    found = _ATTRIBUTES.findall(tag)
    return {
        name.lower(): _CONTROL.sub(" ", html.unescape(one or other)).replace("\n", " ")[:1000]
        for name, one, other in found
    }
