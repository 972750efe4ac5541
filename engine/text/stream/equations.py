"""Parts of a token that are formulas, with the letters and signs that belong to them.

The first formula loads what reads them, which takes longer than all the rest of the text's rules.

Invariant: a formula that is a plain number or degrees becomes ordinary text, so that every rule for
numbers and units holds for it.
"""

import re
from dataclasses import dataclass, replace

from engine.languages import ENGLISH
from engine.text.piece import Piece


@dataclass(frozen=True)
class Equation:
    """A formula: its words, and how it is written. `displayed`: on a line of its own."""

    words: tuple[str, ...]
    written: str
    start: int
    end: int
    displayed: bool


_DISPLAYED = ("$$", "\\[", "\\begin")
_ENDING = re.compile(r"[-‑]?(th|st|nd|rd)(?![A-Za-z])")
_PLURAL = re.compile(r"['’]?s(?![A-Za-z])")
_HYPHEN = re.compile(r"[-–‑](?=\w)")
_EMPHASIS = re.compile(r"[*_~]+")


def parts(
    piece: Piece, formulas: tuple[tuple[int, int], ...], language: str
) -> list[Piece | Equation]:
    """A token cut at its formulas, which stand at these places of the whole text."""
    if not formulas:
        return [piece]
    from engine.text.formulas import speech

    found: list[Piece | Equation] = []
    begin = 0
    for start, end in formulas:
        first, last = start - piece.start, end - piece.start
        if first < begin or last > len(piece.text):  # within what is hidden
            continue
        formula = piece.cut(first, last)
        if speech.as_text(formula.text):
            continue
        found += _around(piece.cut(begin, first), formulas, found, language)
        words, written = _words(formula.text, language), speech.inner(formula.text)
        displayed = formula.text.startswith(_DISPLAYED)
        found.append(Equation(words, written, formula.start, formula.end, displayed))
        begin = last
    found += _around(piece.cut(begin), formulas, found, language)
    return found


def _words(formula: str, language: str) -> tuple[str, ...]:
    from engine.text.formulas import speech
    from engine.text.languages import formulas

    return (
        tuple(speech.words(formula)) if language == ENGLISH else formulas.words(formula, language)
    )


def _around(
    text: Piece,
    formulas: tuple[tuple[int, int], ...],
    found: list[Piece | Equation],
    language: str,
) -> list[Piece | Equation]:
    """The text before, between and behind formulas, those in it that are numbers as text; an ending
    joins the formula before it.
    """
    from engine.text.formulas import speech

    for start, end in reversed(formulas):
        if text.text and text.start <= start and end <= text.end:
            before, behind = text.cut(0, start - text.start), text.cut(end - text.start)
            formula = text.cut(start - text.start, end - text.start)
            number = speech.as_text(formula.text)
            places = [formula.places[min(i, len(formula.places) - 1)] for i in range(len(number))]
            places = [*before.places, *places, *behind.places]
            text = Piece(before.text + number + behind.text, tuple(places))
    if found and isinstance(found[-1], Equation) and language == ENGLISH:
        text = _joined(text, found, found[-1])
    return [] if not text.text or _EMPHASIS.fullmatch(text.text) else [text]


def _joined(text: Piece, found: list[Piece | Equation], equation: Equation) -> Piece:
    """Let the formula before take an ending, as in "$n$th" or "$x$'s"."""
    from engine.text.formulas.parts import ordinal

    words = equation.words
    if words and (match := _ENDING.match(text.text)):
        found[-1] = replace(equation, words=ordinal(words))
    elif words and (match := _PLURAL.match(text.text)):
        found[-1] = replace(equation, words=(*words[:-1], words[-1] + "'s"))
    else:
        match = _HYPHEN.match(text.text)
    return text.cut(match.end()) if match else text
