"""A message as speech-dispatcher sends it: its SSML (text, index marks, and whether it is to be
spelt), and its style as the daemon's SET says it.

Any text is accepted. Malformed markup is read as text; nothing here is nested, so depth costs
nothing, and the time is linear in the length.
"""

import html
import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.languages import ENGLISH, SPOKEN
from engine.text.names import NamedWords, Names
from engine.text.pronunciation.respelling import split_phones
from engine.text.word import Word

LONGEST: Final = 100_000  # characters of one message; the rest is not spoken
_TAG: Final = re.compile(r"(<[/!?]?[A-Za-z][^<>]{0,2000}>|<!--[^<>]{0,2000}-->)")
_NAME: Final = re.compile(r"</?([A-Za-z][\w:.-]*)")
_ATTRIBUTES: Final = re.compile(r"""([\w:-]{1,40})\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\ufffe\uffff\ud800-\udfff]")
_WORD: Final = re.compile(r"\S+")
_APART: Final = frozenset(("p", "s", "break", "paragraph", "sentence"))  # tags between words
_SPELT: Final = frozenset(
    ("characters", "spell-out", "verbatim", "digits", "tts:char", "tts:digits", "letters")
)
SLOWEST, USUAL, FASTEST = 80, 175, 450  # words a minute, as speech-dispatcher's own espeak module
LABEL_WORDS, LABEL_CHARACTERS = 4, 40  # at most; Orca ends labels with a full stop
_NUMBERS: Final = ("rate", "pitch", "pitch_range", "volume")
_NAMES: Final = {"punctuation_mode": "punctuation", "cap_let_recogn": "capitals"}
_VOICES: Final = {"synthesis_voice": "voice", "language": "language"}


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

    def named(self, names: Names, language: str) -> "Message":
        """Return the text with the said forms of the person's names; marks stay before their
        words. espeak has more languages than Rubato reads: there, only names of no language count.
        """
        if language not in SPOKEN:
            names, language = tuple(each for each in names if not each.language), ENGLISH
        if not names or self.spelt:
            return self
        named = NamedWords(names, language)
        written = [Word(each[0], *each.span()) for each in _WORD.finditer(self.text)]
        parts, before, after = [], [], []  # before, after: where words begin in both texts
        length = end = 0
        for word in (*named.push(written), *named.end()):
            gap = self.text[end : word.start] if word.start >= end else " "
            before.append(word.start)
            after.append(length + len(gap))
            parts.append(gap + split_phones(word.spoken)[0])
            length, end = length + len(parts[-1]), word.end
        parts.append(self.text[end:])
        after.append(length + len(parts[-1]))
        marks = tuple((name, after[bisect_left(before, at)]) for name, at in self.marks)
        return Message("".join(parts), marks)


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


@dataclass(frozen=True)
class Style:
    """Numbers are from -100 to 100. `voice`: a name, empty = that of the language."""

    language: str = "en"
    voice: str = ""
    rate: int = 0
    pitch: int = 0
    pitch_range: int = 0
    volume: int = 100
    punctuation: str = "none"
    capitals: str = "none"
    spelling: bool = False

    @property
    def words_per_minute(self) -> int:
        span = FASTEST - USUAL if self.rate > 0 else USUAL - SLOWEST
        return USUAL + span * self.rate // 100

    @property
    def code(self) -> str:
        """The code of the language."""
        return self.language.split("-")[0].lower()

    def changed(self, values: dict[str, str]) -> "Style":
        """Return a style with the values of SET; unknown names and values change nothing."""
        changes: dict[str, Any] = {
            key: max(-100, min(100, int(values[key])))
            for key in _NUMBERS
            if values.get(key, "").removeprefix("-").isdecimal() and len(values[key]) < 9
        }
        for key, name in (_NAMES | _VOICES).items():
            if key in values:
                changes[name] = "" if values[key] == "NULL" else values[key].strip()[:200]
        if "spelling_mode" in values:
            changes["spelling"] = values["spelling_mode"] == "on"
        return replace(self, **changes)


def is_label(text: str) -> bool:
    """Return whether a text is as short as a label."""
    return len(text.split()) <= LABEL_WORDS and len(text) <= LABEL_CHARACTERS


def key_text(command: str, text: str) -> str:
    """Return what is said for a character, for a key such as shift_a, or for a sound."""
    text = text.replace("\n", " ")[:200]
    if text == "space":
        return " "
    return text if command == "CHAR" or len(text) == 1 else text.replace("_", " ").replace("-", " ")
