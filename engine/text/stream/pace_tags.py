"""Removes the tags with which a language model asks for a pace: <pace slow>...</pace>.

Invariant: what is left holds no such tag and does not depend on how the text was cut into deltas;
only what may still become a tag is held back.

A tag may be cut anywhere, stand inside another, stay unclosed (it then ends with its paragraph) or
ask for an unknown pace (which changes nothing). In no case is it shown or spoken.
"""

import re
from dataclasses import dataclass
from typing import Final

PACES: Final = {"slow": 0.8, "slower": 0.8, "fast": 1.15, "faster": 1.15, "quick": 1.15}
"""The paces that a tag may ask for, as factors on the rate."""

OFFER: Final = (
    "What you write is read aloud. Put <pace slow>...</pace> around the few words the listener "
    "must catch exactly, and <pace fast>...</pace> around what is said in passing."
)
"""Explains the tag to a language model, in its system prompt."""

# Longer text between the brackets is not a tag.
_ARGUMENT = r"[ \t/][^<>\n]{0,40}"
_TAG = re.compile(rf"</?pace(?:{_ARGUMENT})?>", re.IGNORECASE)
_BEGUN = re.compile(rf"</?(?:p|pa|pac|pace(?:{_ARGUMENT})?)?", re.IGNORECASE)
_NAMED = re.compile(r"</?pace", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class Passage:
    """Text without tags, and the factor on the rate that its tags ask for."""

    text: str
    pace: float


class PaceTags:
    """One per reply: deltas in, passages out."""

    def __init__(self) -> None:
        # Beginnings of tags, each inside the one before it: after an inner tag is removed, the
        # outer one goes on, so that no tag can hide another.
        self._begun: list[str] = []
        self._paces: list[float] = []  # of the tags that are open, the innermost last
        self._blank = 0  # line ends since the last visible character
        self._passages: list[Passage] = []
        self._text: list[str] = []

    def push(self, delta: str) -> list[Passage]:
        """Take more text; return what is certainly not part of a tag."""
        for char in delta:
            self._take(char)
        return self._given()

    def end(self) -> list[Passage]:
        """The rest; an unfinished tag is dropped."""
        for tag in self._begun:
            if not _NAMED.match(tag):
                self._plain(tag)
        self._begun.clear()
        return self._given()

    def _take(self, char: str) -> None:
        if char == "<":
            self._begun.append(char)
        elif not self._begun:
            self._plain(char)
        elif _TAG.fullmatch(self._begun[-1] + char):
            self._obey(self._begun.pop() + char)
        elif _BEGUN.fullmatch(self._begun[-1] + char):
            self._begun[-1] += char
        else:
            for tag in self._begun:
                self._plain(tag)
            self._begun.clear()
            self._plain(char)

    def _obey(self, tag: str) -> None:
        before = self._pace
        if not tag.startswith("</"):
            wished = (PACES[word] for word in _WORD.findall(tag.lower()) if word in PACES)
            self._paces.append(next(wished, before))
        if (tag.startswith("</") or tag.endswith("/>")) and self._paces:
            self._paces.pop()
        if self._pace != before:
            self._close(before)

    def _plain(self, text: str) -> None:
        self._text.append(text)
        if text == "\n":
            self._blank += 1
        elif not text.isspace():
            self._blank = 0
        if self._blank == 2 and self._paces:
            self._close(self._pace)
            self._paces.clear()

    @property
    def _pace(self) -> float:
        return self._paces[-1] if self._paces else 1.0

    def _close(self, pace: float) -> None:
        """A passage is over."""
        if self._text:
            self._passages.append(Passage("".join(self._text), pace))
            self._text.clear()

    def _given(self) -> list[Passage]:
        self._close(self._pace)
        passages, self._passages = self._passages, []
        return passages
