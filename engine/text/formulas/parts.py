"""The parts of a formula once they are read, and how they are joined in words.

Invariant: two formulas that differ only in grouping (a root over one term or over a sum) differ in
a pause.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from engine.text.formulas import lexer
from engine.text.rules import numbers, punctuation, readings, symbols
from engine.text.rules.context import Context, PreviousToken


class Role(Enum):
    NUMBER = "number"
    LETTER = "letter"
    OPERAND = "operand"
    GROUP = "group"  # in round or square brackets
    OPERATOR = "operator"
    RELATION = "relation"
    APPLIED = "applied"  # a function or a big operator: "of" stands behind it
    DEGREES = "degrees"
    PAUSE = "pause"


_VALUES = (Role.NUMBER, Role.LETTER, Role.OPERAND, Role.GROUP, Role.DEGREES)
_SIGNS = (Role.OPERATOR, Role.RELATION)
_TABLES = (
    (lexer.OPERATORS, Role.OPERATOR),
    (lexer.RELATIONS, Role.RELATION),
    (lexer.FUNCTIONS, Role.APPLIED),
    (lexer.BIG, Role.APPLIED),
    (lexer.GREEK, Role.LETTER),
    (lexer.OPERANDS, Role.OPERAND),
)
_FUNCTION_LETTERS = frozenset(
    "f g h F G H P E O T V L phi varphi psi Gamma zeta mathbb mathcal".split()
)
_BINDING = frozenset({"minus", "times"})
_PLAIN_FRACTION = re.compile(r"(\d+)/(\d+)")
_SCALES = {"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin"}
_UNIT = re.compile(r"[A-Za-zµμ°Ω%]+(?:\^[23])?(?:/[A-Za-z]+(?:\^[23])?)?")
_PRODUCT = re.compile(r"\\cdot\s*|\\[,;: ]|[~{}]")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Part:
    """A part of a formula. `raw`: its source without spaces. `long`: it holds an operator, so its
    end must be audible. `open`: an operator after it would seem to belong to it, as after a root.
    """

    words: tuple[str, ...]
    role: Role
    raw: str = ""
    long: bool = False
    open: bool = False

    @property
    def is_value(self) -> bool:
        return self.role in _VALUES


def operand(words: Iterable[str] | str, raw: str = "", *, role: Role = Role.OPERAND) -> Part:
    """Return a part that is a value, with these words."""
    return Part(tuple(words.split() if isinstance(words, str) else words), role, raw)


def raw(parts: Sequence[Part]) -> str:
    return "".join(part.raw for part in parts)


def is_long(parts: Sequence[Part]) -> bool:
    """Return whether parts are more than one term; the sign before a single one does not count."""
    rest = parts[1:] if parts and parts[0].role is Role.OPERATOR else parts
    return any(part.long or part.role in _SIGNS for part in rest)


def words(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the words of adjacent parts."""
    said: list[str] = []
    before: Part | None = None
    for part in parts:
        part = _beside(before, part)
        # Before anything but a relation, the end of a long or open part must be heard.
        ends = before is not None and (before.long or before.open)
        if said and (part.role is Role.PAUSE or (ends and part.role is not Role.RELATION)):
            said[-1] = said[-1].rstrip(",;") + (part.raw if part.raw == ";" else ",")
        said += _link(before, part)
        if said and part.role is Role.GROUP and part.long and said[-1] in _BINDING:
            said[-1] += ","  # a minus, b minus c
        said += part.words
        before = part
    return tuple(said)


def joined(found: list[Part]) -> Part | None:
    """Join the parts of a group to one part; None for an empty group."""
    if len(found) < 2:
        return found[0] if found else None
    return Part(words(found), Role.OPERAND, raw(found), is_long(found))


def followed(said: tuple[str, ...], *, by_pause: bool) -> tuple[str, ...]:
    """Return words with a pause after them, if one is wanted."""
    return (*said[:-1], said[-1].rstrip(",;") + ",") if by_pause and said else said


def fraction(top: Sequence[Part], bottom: Sequence[Part]) -> Part:
    """Return the words of a fraction: "one half", "a over b", "x plus one, over y"."""
    over, under = raw(top), raw(bottom)
    source = f"{over}/{under}"
    numeric = over.isdecimal() and under.isdecimal()
    if numeric and (named := _named_fraction(int(over), int(under))):
        return operand(named, source)
    said = (*followed(words(top), by_pause=is_long(top)), "over", *words(bottom))
    return Part(said, Role.OPERAND, source, is_long(top) or is_long(bottom), open=not numeric)


def ordinal(said: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ordinal of words: "n plus first", "fifth"."""
    return (*said[:-1], numbers.ordinal_of(said[-1])) if said else said


def _named_fraction(top: int, bottom: int) -> str:
    if bottom in (10, 100, 1000) and top % bottom:
        name = numbers.ordinal(bottom).removeprefix("one ")
        return f"{numbers.cardinal(top)} {name}{'' if top == 1 else 's'}"
    named = 2 <= bottom <= 20 and top % bottom and top <= 100
    return numbers.fraction(top, bottom) if named else ""


def _beside(before: Part | None, part: Part) -> Part:
    """Return a part as it is said after `before`: the C of degrees, a fraction behind a number."""
    if before and before.role is Role.DEGREES and part.raw in _SCALES:
        return replace(part, words=(_SCALES[part.raw],))
    match = _PLAIN_FRACTION.fullmatch(part.raw)
    if match and before and before.raw.isdecimal() and int(match[1]) < int(match[2]):
        mixed = numbers.mixed("0", int(match[1]), int(match[2])).split()
        return replace(part, words=tuple(mixed[1:]))
    return part


def _link(before: Part | None, part: Part) -> list[str]:
    """Return the word between two parts that is not written: "of" or "times"."""
    if before is None or not (part.is_value or part.role is Role.APPLIED):
        return []
    if before.role is Role.APPLIED:
        bare = before.words == ("log",) and part.role is not Role.GROUP  # n log n
        return [] if bare else ["of"]
    if part.role is not Role.GROUP or not before.is_value:
        return []
    head = before.raw.lstrip("\\").split("_")[0].split("^")[0].rstrip("'")
    named = head.strip("{}").rpartition("{")[2] in _FUNCTION_LETTERS or "'" in before.raw
    return ["of"] if before.role is Role.LETTER and (named or not part.long) else ["times"]


# ------------------------------------------------- parts that are read like ordinary text


def letter(text: str) -> str:
    """A letter, a word, or the name of a Greek letter."""
    is_greek = len(text) == 1 and unicodedata.name(text, "").startswith("GREEK")
    return symbols.greek(text) if is_greek else symbols.speakable_letters(text)


def known(name: str) -> Part | None:
    """Read a command or sign from the tables of words."""
    for table, role in _TABLES:
        if name in table:
            return operand(table[name], f"\\{name}" if name.isalpha() else name, role=role)
    return None


def sign(text: str) -> Part | None:
    """Read a sign such as a factorial or a percent sign. None for a silent one."""
    said = lexer.SIGNS.get(text) or (letter(text) if _WORD.fullmatch(text) else "")
    return operand(said, text) if said else None


def unit(source: str, before: Part | None) -> Part | None:
    """Read roman letters behind a number as a unit; None if they are not a unit."""
    bare = _PRODUCT.sub("", source)
    if before is None or before.role is not Role.NUMBER or not _UNIT.fullmatch(bare):
        return None
    said = readings.read(bare, Context((PreviousToken(before.raw, ""),))).words
    is_known = said and said != (bare,) and not any(char in "^/" for char in "".join(said))
    return operand(said, bare) if is_known else None


def plain_text(text: str, before: Part | None) -> Part | None:
    """Read ordinary text within a formula, or a unit behind a number; None without words."""
    if found := unit(text.strip(), before):
        return found
    is_behind = before is not None and before.role is Role.NUMBER
    past = (PreviousToken(before.raw, ""),) if before and is_behind else ()
    said: list[str] = []
    text = re.sub(r"\\([a-zA-Z]+)|[\\{}]|\$(?!\d)", lambda match: f" {match[1] or ''} ", text)
    tokens = text.split()
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        peeled = punctuation.peel(token)
        reading = readings.read(peeled.body, Context(past, peeled.punctuation, following=following))
        found_words = [word for word in reading.words if word]
        if found_words and peeled.mark in tuple(",;:"):
            found_words[-1] = found_words[-1].rstrip(",;:") + ","
        said += found_words
        past = (PreviousToken(peeled.body, peeled.mark), *past[:1])
    role = Role.LETTER if len(text.strip()) == 1 else Role.OPERAND
    return operand(said, text.strip(), role=role) if said else None
