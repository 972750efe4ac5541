"""Scripts above and below a base (powers, indices, primes, bounds, bases of logarithms), and
environments (matrices, cases, and equations on several lines).

Invariant: an index is said before a power, in either order of writing.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.text.formulas import lexer, parts
from engine.text.formulas.lexer import Token
from engine.text.formulas.parts import Part, Role, followed
from engine.text.rules import numbers
from engine.text.tables import section

_POWERS = section("latex", "powers")
_DEGREES = frozenset({"\\circ", "\\degree", "°"})
_ORDINALS = frozenset({"th", "st", "nd", "rd"})
_SIDES = {"+": "from above", "-": "from below"}
EXTREMES = frozenset({"max", "min", "sup", "inf", "lim"})  # names, in an index
_PRIMES = {1: ("prime",), 2: ("double", "prime"), 3: ("triple", "prime")}
_FUNCTIONS = frozenset("fgh")
_ARROWS = frozenset({"\\to", "\\rightarrow", "→", "\\longrightarrow"})
EVALUATED = "evaluated"
"""Stands for the bar behind a formula whose index says where it is evaluated."""

_NAME = re.compile(r"\\begin\s*\{([a-zA-Z]+)")
_ROW_END = re.compile(r"\\(begin|end)\b|\\\\(?:\s*\[[^\]]*\])?|\\cr\b|\\newline\b")
_CELL_END = re.compile(r"(?<!\\)&")
_COLUMNS = re.compile(r"\s*(?:\[[^\]]*\]\s*)?\{[^{}]*\}")
_WITH_COLUMNS = frozenset({"array", "alignat"})
_DETERMINANTS = frozenset({"vmatrix", "Vmatrix"})
_CASES = frozenset({"cases", "dcases", "rcases"})


@dataclass(frozen=True)
class Scripts:
    """The scripts of a base. `called`: a bracket follows, so the base may be a function's name."""

    index: tuple[Part, ...] = ()
    power: tuple[Part, ...] = ()
    primes: int = 0
    called: bool = False

    def attached_to(self, base: Part) -> Part:
        """Return the base with its scripts."""
        name = base.raw.removeprefix("\\")
        if name in lexer.BIG:
            return replace(base, words=(*base.words, *self._bounds(name)))
        if name in lexer.FUNCTIONS:
            return self._applied(base, name)
        if base.raw == EVALUATED:
            return replace(base, words=(*base.words, *self._places()))
        if base.role is Role.GROUP and self.index and self.power:
            said = followed(base.words, by_pause=True)
            return replace(base, words=(*said, "evaluated", *self._places()))
        if base.role in (Role.RELATION, Role.OPERATOR, Role.PAUSE, Role.APPLIED):
            return base
        return self._raised(self._indexed(base), base)

    def _indexed(self, base: Part) -> Part:
        said, source, is_long = base.words, base.raw, parts.is_long(self.index)
        if self.index:
            signed = self.index[0].role is Role.OPERATOR and len(self.index) > 1
            sub = ("sub",) if (is_long or signed) and said else ()
            said = (*said, *sub, *parts.words(self.index))
            source = f"{source}_{parts.raw(self.index)}"
        said = (*said, *_PRIMES.get(self.primes, ("prime",) * self.primes))
        return replace(base, words=said, raw=source + "'" * self.primes, long=is_long)

    def _raised(self, indexed: Part, base: Part) -> Part:
        power = self.power
        if not power:
            return replace(indexed, long=indexed.long or base.long)
        source = parts.raw(power)
        if source in _DEGREES:
            unit = "degree" if base.raw == "1" else "degrees"
            return Part((*indexed.words, unit), Role.DEGREES, base.raw)
        if source in _ORDINALS:
            return replace(indexed, words=parts.ordinal(indexed.words))
        if base.raw in _FUNCTIONS and source.startswith("(") and len(power) == 1:
            order = parts.ordinal(power[0].words)
            return replace(indexed, words=("the", *order, "derivative", "of", *indexed.words))
        is_group = base.role is Role.GROUP
        grouped = followed(indexed.words, by_pause=base.long or base.open or is_group)
        several = len(power) > 1 and not (len(power) == 2 and power[1].role is Role.NUMBER)
        return Part(
            (*grouped, *self._power_words(base, source)),
            base.role if base.role in (Role.LETTER, Role.GROUP) else Role.OPERAND,
            f"{indexed.raw}^{source}",
            parts.is_long(power) or (is_group and base.long),
            open=several,
        )

    def _power_words(self, base: Part, source: str) -> tuple[str, ...]:
        inverse = base.raw in _FUNCTIONS and self.called
        matrix = base.role is Role.LETTER and base.raw.isupper()
        if source == "-1" and (inverse or matrix):
            return ("inverse",)
        if source == "T" and not matrix and len(base.raw) == 1:
            return ("to", "the", "power", "of", "T")
        if source in _POWERS:
            return (_POWERS[source],)
        said = parts.words(self.power)
        if len(self.power) > 1 and self.power[-1].role is Role.OPERATOR:  # the charge of an ion
            return said
        if self.power[0].role is Role.GROUP and len(self.power) == 1:
            return ("superscript", *said)
        return ("to", "the", "power", "of", *said)

    def _bounds(self, name: str) -> tuple[str, ...]:
        """Return the words of bounds: "from i equals one to n", "as x approaches zero"."""
        low, high = parts.words(self.index), parts.words(self.power)
        if self.index and name in lexer.LIMITS:
            index = [
                replace(part, words=("approaches",)) if part.raw in _ARROWS else part
                for part in self.index
            ]
            head, _, side = index[-1].raw.rpartition("^")
            towards = parts.words(index)
            if head and side in _SIDES:  # x approaches zero from above, for x → 0^+
                towards = (*towards[:-1], *_SIDES[side].split())
            return ("as", *towards)
        if self.index:
            return ("from", *low, "to", *high) if self.power else ("over", *low)
        return ("to", *high) if self.power else ()

    def _places(self) -> tuple[str, ...]:
        """Return where something is evaluated: "from zero to one", "at x equals zero"."""
        low, high = parts.words(self.index), parts.words(self.power)
        return ("from", *low, "to", *high) if low and high else ("at", *low, *high)

    def _applied(self, base: Part, name: str) -> Part:
        """Return a function with scripts: "log base two", "sine squared", "inverse sine"."""
        said = base.words
        if self.index:
            link = ("base",) if name in ("log", "lg") else ()
            said = (*said, *link, *parts.words(self.index))
        source = parts.raw(self.power)
        if source == "-1":
            said = ("inverse", *said)
        elif source:
            said = (*said, *self._power_words(base, source))
        return replace(base, words=(*said, *("prime",) * self.primes))


def environment(token: Token, read: Callable[[str], list[Part]]) -> Part | None:
    """Read an environment as one part; `read` reads a cell. None if the environment is empty."""
    name = match[1] if (match := _NAME.match(token.text)) else ""
    inner = _COLUMNS.sub("", token.inner, count=1) if name in _WITH_COLUMNS else token.inner
    lines = [_CELL_END.split(line) for line in _outer_rows(inner) if line.strip(" \n&")]
    cells = [[parts.words(read(cell)) for cell in line if cell.strip()] for line in lines]
    cells = [row for row in cells if any(row)]
    if not cells:
        return None
    said: list[str] = []
    if name in lexer.MATRICES and name != "array":
        kind = "determinant" if name in _DETERMINANTS else "matrix"
        height, width = (numbers.cardinal(size) for size in (len(cells), max(map(len, cells))))
        said += ("the", height, "by", width, kind)
    for row in cells:
        for cell in row:
            said += followed(cell, by_pause=name in lexer.MATRICES or name in _CASES)
        said[-1] = said[-1].rstrip(",;") + ";"
    said[-1] = said[-1].rstrip(";")
    return Part(tuple(said), Role.OPERAND, name, long=True)


def _outer_rows(text: str) -> list[str]:
    """Split an environment into rows. Rows of inner environments are not split."""
    rows, depth, begin = [], 0, 0
    for match in _ROW_END.finditer(text):
        if match[1]:
            depth += 1 if match[1] == "begin" else -1
        elif depth == 0:
            rows.append(text[begin : match.start()])
            begin = match.end()
    return [*rows, text[begin:]]
