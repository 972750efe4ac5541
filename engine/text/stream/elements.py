"""Elements of a reply without its markdown: pieces of text, the pauses between them, and formulas
with the letters and signs that belong to them.

Invariant: a formula that is a plain number or degrees becomes ordinary text, so that every rule for
numbers and units holds for it. The first formula loads what reads them, which takes longer than all
the rest of the text's rules.
"""

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from engine.languages import ENGLISH
from engine.text.word import Piece

LONGEST_S: Final = 5.0
"""Seconds of silence that a text can ask for in one place."""
_DISPLAYED = ("$$", "\\[", "\\begin")
_ENDING = re.compile(r"[-‑]?(th|st|nd|rd)(?![A-Za-z])")
_PLURAL = re.compile(r"['’]?s(?![A-Za-z])")
_HYPHEN = re.compile(r"[-–‑](?=\w)")
_EMPHASIS = re.compile(r"[*_~]+")


class Block(Enum):
    """The kind of a line, which decides the pause at its end."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    HEADING = "heading"
    ROW = "row"
    BARRED = "barred"  # a line of text with a bar in it, perhaps the head of a table


TEXT = (Block.PARAGRAPH, Block.BARRED)
"""Lines that may go on in the next one."""


@dataclass(frozen=True)
class Pause:
    """The end of a table cell: a pause, unless a stronger mark follows."""


@dataclass(frozen=True)
class Phrase:
    """Words that stand for something that is not read out."""

    words: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Break:
    """A pause of at least `seconds` that the text asks for; `mark` goes to the word before."""

    mark: str
    seconds: float


@dataclass(frozen=True)
class Equation:
    """A formula: its words, and how it is written. `displayed`: on a line of its own."""

    words: tuple[str, ...]
    written: str
    start: int
    end: int
    displayed: bool


Element = Piece | Pause | Phrase | Equation | Break


def cut_at_formulas(
    piece: Piece, formulas: tuple[tuple[int, int], ...], language: str
) -> list[Piece | Equation]:
    """A token cut at its formulas, which stand at these places of the whole text."""
    if not formulas:
        return [piece]
    from engine.text.formulas import parser
    from engine.text.languages import formulas as other_languages

    found: list[Piece | Equation] = []
    begin = 0
    for start, end in formulas:
        first, last = start - piece.start, end - piece.start
        if first < begin or last > len(piece.text):  # within what is hidden
            continue
        formula = piece.cut(first, last)
        if parser.as_text(formula.text):
            continue
        found += _around(piece.cut(begin, first), formulas, found, language)
        is_english = language == ENGLISH
        words = (
            parser.words(formula.text)
            if is_english
            else other_languages.words(formula.text, language)
        )
        written, displayed = parser.inner(formula.text), formula.text.startswith(_DISPLAYED)
        found.append(Equation(tuple(words), written, formula.start, formula.end, displayed))
        begin = last
    found += _around(piece.cut(begin), formulas, found, language)
    return found


def _around(
    text: Piece,
    formulas: tuple[tuple[int, int], ...],
    found: list[Piece | Equation],
    language: str,
) -> list[Piece | Equation]:
    """The text around formulas, with those that are numbers; an ending joins the one before."""
    from engine.text.formulas import parser

    for start, end in reversed(formulas):
        if text.text and text.start <= start and end <= text.end:
            before, behind = text.cut(0, start - text.start), text.cut(end - text.start)
            formula = text.cut(start - text.start, end - text.start)
            number = parser.as_text(formula.text)
            places = [formula.places[min(i, len(formula.places) - 1)] for i in range(len(number))]
            places = [*before.places, *places, *behind.places]
            text = Piece(before.text + number + behind.text, tuple(places))
    if found and isinstance(found[-1], Equation) and language == ENGLISH:
        found[-1], text = _joined(found[-1], text)
    return [] if not text.text or _EMPHASIS.fullmatch(text.text) else [text]


def _joined(equation: Equation, text: Piece) -> tuple[Equation, Piece]:
    """Return a formula with the ending behind it, as in "$n$th" or "$x$'s", and the other text."""
    from engine.text.formulas.parts import ordinal

    words = equation.words
    if words and (match := _ENDING.match(text.text)):
        equation = replace(equation, words=ordinal(words))
    elif words and (match := _PLURAL.match(text.text)):
        equation = replace(equation, words=(*words[:-1], words[-1] + "'s"))
    else:
        match = _HYPHEN.match(text.text)
    return equation, text.cut(match.end()) if match else text
