"""The parts of a formula that are read like ordinary text: numbers, text, units, other names."""

import re
import unicodedata

from engine.text.formulas import commands
from engine.text.formulas.parts import Part, Role, operand
from engine.text.rules import numbers, punctuation, readings, symbols
from engine.text.rules.context import Context, PreviousToken

_UNIT = re.compile(r"[A-Za-zµμ°Ω%]+(?:\^[23])?(?:/[A-Za-z]+(?:\^[23])?)?")
_PRODUCT = re.compile(r"\\cdot\s*|\\[,;: ]|[~{}]")
_WORD = re.compile(r"[^\W\d_]+")


def number(text: str) -> Part:
    return operand(numbers.number(text), text, role=Role.NUMBER)


def letter(text: str) -> str:
    """A letter, a word, or the name of a Greek letter."""
    is_greek = len(text) == 1 and unicodedata.name(text, "").startswith("GREEK")
    return symbols.greek(text) if is_greek else symbols.speakable_letters(text)


def sign(text: str) -> Part | None:
    """Read a sign that is in no table, such as a factorial or a percent sign. None for a silent
    one.
    """
    if text in commands.SIGNS:
        return operand(commands.SIGNS[text], text)
    said = letter(text) if _WORD.fullmatch(text) else ""
    return operand(said, text) if said else None


def known(name: str) -> Part | None:
    """Read a command or sign from the tables of words."""
    for table, role in (
        (commands.OPERATORS, Role.OPERATOR),
        (commands.RELATIONS, Role.RELATION),
        (commands.FUNCTIONS, Role.APPLIED),
        (commands.BIG, Role.APPLIED),
        (commands.GREEK, Role.LETTER),
        (commands.OPERANDS, Role.OPERAND),
    ):
        if name in table:
            return Part(tuple(table[name].split()), role, f"\\{name}" if name.isalpha() else name)
    return None


def unknown(name: str) -> Part:
    """Read a command that is in no table by its name."""
    return operand(symbols.speakable_letters(name), f"\\{name}")


def unit(source: str, before: Part | None) -> Part | None:
    """Read roman letters behind a number as a unit; None if they are not a unit."""
    bare = _PRODUCT.sub("", source)
    if before is None or before.role is not Role.NUMBER or not _UNIT.fullmatch(bare):
        return None
    past = (PreviousToken(before.raw, ""),)
    said = readings.read(bare, Context(past)).words
    is_known = said and said != (bare,) and not any(char in "^/" for char in "".join(said))
    return operand(said, bare) if is_known else None


def part(text: str, before: Part | None) -> Part | None:
    """Read ordinary text within a formula, including a unit behind a number; None if it has no
    words.
    """
    found = unit(text.strip(), before)
    if found:
        return found
    past: tuple[PreviousToken, ...] = ()
    if before is not None and before.role is Role.NUMBER:
        past = (PreviousToken(before.raw, ""),)
    said: list[str] = []
    text = re.sub(r"\\([a-zA-Z]+)|[\\{}]|\$(?!\d)", lambda match: f" {match[1] or ''} ", text)
    tokens = text.split()
    for place, token in enumerate(tokens):
        peeled = punctuation.peel(token)
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        reading = readings.read(peeled.body, Context(past, peeled.punctuation, following=following))
        found_words = [word for word in reading.words if word]
        if found_words and peeled.mark in tuple(",;:") and peeled.mark:
            found_words[-1] = found_words[-1].rstrip(",;:") + ","
        said += found_words
        past = (PreviousToken(peeled.body, peeled.mark), *past[:1])
    role = Role.LETTER if len(text.strip()) == 1 else Role.OPERAND
    return Part(tuple(said), role, text.strip()) if said else None
