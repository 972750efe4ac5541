"""Parts of a token that are formulas, with the letters and signs that belong to them.

The first formula loads what reads them, which takes longer than all the rest of the text's rules.

Invariant: a formula that is a plain number or degrees becomes ordinary text, so that every rule for
numbers and units holds for it.
"""

import re
from dataclasses import dataclass, replace

from engine.text.stream.piece import Piece


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


def parts(piece: Piece, formulas: tuple[tuple[int, int], ...]) -> list[Piece | Equation]:
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
        found += _around(piece.cut(begin, first), formulas, found)
        found.append(_equation(formula))
        begin = last
    found += _around(piece.cut(begin), formulas, found)
    return found


def _around(
    text: Piece, formulas: tuple[tuple[int, int], ...], found: list[Piece | Equation]
) -> list[Piece | Equation]:
    """The text before, between and behind formulas; an ending joins the formula before it."""
    for start, end in reversed(formulas):
        if text.text and text.start <= start and end <= text.end:
            text = _as_text(text, start - text.start, end - text.start)
    if found and isinstance(found[-1], Equation):
        text = _joined(text, found)
    if formulas and _EMPHASIS.fullmatch(text.text):
        return []
    return [text] if text.text or not formulas else []


def _as_text(text: Piece, first: int, last: int) -> Piece:
    from engine.text.formulas import speech

    formula = text.cut(first, last)
    number = speech.as_text(formula.text)
    places = tuple(formula.places[min(i, len(formula.places) - 1)] for i in range(len(number)))
    before, behind = text.cut(0, first), text.cut(last)
    return Piece(before.text + number + behind.text, before.places + places + behind.places)


def _joined(text: Piece, found: list[Piece | Equation]) -> Piece:
    """Let the formula before take an ending, as in "$n$th" or "$x$'s"."""
    from engine.text.formulas.parts import ordinal

    equation = found[-1]
    assert isinstance(equation, Equation)
    match = _ENDING.match(text.text)
    if match and equation.words:
        found[-1] = replace(equation, words=ordinal(equation.words))
        return text.cut(match.end())
    match = _PLURAL.match(text.text)
    if match and equation.words:
        found[-1] = replace(equation, words=(*equation.words[:-1], equation.words[-1] + "'s"))
        return text.cut(match.end())
    match = _HYPHEN.match(text.text)
    return text.cut(match.end()) if match else text


def _equation(formula: Piece) -> Equation:
    from engine.text.formulas import speech

    return Equation(
        tuple(speech.words(formula.text)),
        speech.inner(formula.text),
        formula.start,
        formula.end,
        formula.text.startswith(_DISPLAYED),
    )
