"""Scripts above and below a base: powers, indices, primes, bounds, bases of logarithms.

Invariant: an index is said before a power, in either order of writing.
"""

from dataclasses import dataclass, replace

from engine.text.formulas import commands, parts
from engine.text.formulas.parts import Part, Role
from engine.text.tables import section

_POWERS = section("latex", "powers")
_DEGREES = frozenset({"\\circ", "\\degree", "°"})
_ORDINALS = frozenset({"th", "st", "nd", "rd"})
_SIDES = {"+": "from above", "-": "from below"}
_EXTREMES = frozenset({"max", "min", "sup", "inf", "lim"})  # names, in an index
_PRIMES = {1: ("prime",), 2: ("double", "prime"), 3: ("triple", "prime")}
_FUNCTIONS = frozenset("fgh")
_ARROWS = frozenset({"\\to", "\\rightarrow", "→", "\\longrightarrow"})
EVALUATED = "evaluated"
"""Stands for the bar behind a formula whose index says where it is evaluated."""


@dataclass(frozen=True)
class Scripts:
    """The scripts of a base. `called`: a bracket follows, so the base may be the name of a
    function.
    """

    index: tuple[Part, ...] = ()
    power: tuple[Part, ...] = ()
    primes: int = 0
    called: bool = False


def attach(base: Part, scripts: Scripts) -> Part:
    """Return the base with its scripts."""
    bare = scripts.index[0].raw.removeprefix("\\") if len(scripts.index) == 1 else ""
    if bare in _EXTREMES:
        scripts = replace(scripts, index=(parts.operand(bare),))
    name = base.raw.removeprefix("\\")
    if name in commands.BIG:
        return _bounded(base, name, scripts)
    if name in commands.FUNCTIONS:
        return _applied(base, name, scripts)
    if base.raw == EVALUATED:
        return replace(base, words=(*base.words, *_places(scripts)))
    if base.role is Role.GROUP and scripts.index and scripts.power:
        said = parts.followed(base.words, by_pause=True)
        return replace(base, words=(*said, "evaluated", *_places(scripts)))
    if base.role in (Role.RELATION, Role.OPERATOR, Role.PAUSE, Role.APPLIED):
        return base
    return _raised(_indexed(base, scripts), base, scripts)


def _indexed(base: Part, scripts: Scripts) -> Part:
    said = base.words
    if scripts.index:
        signed = scripts.index[0].role is Role.OPERATOR and len(scripts.index) > 1
        sub = ("sub",) if (parts.is_long(scripts.index) or signed) and said else ()
        said = (*said, *sub, *parts.words(scripts.index))
    said = (*said, *_PRIMES.get(scripts.primes, ("prime",) * scripts.primes))
    source = base.raw + (f"_{parts.raw(scripts.index)}" if scripts.index else "")
    return replace(
        base, words=said, raw=source + "'" * scripts.primes, long=parts.is_long(scripts.index)
    )


def _raised(indexed: Part, base: Part, scripts: Scripts) -> Part:
    power = scripts.power
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
    by_pause = base.long or base.open or base.role is Role.GROUP
    grouped = parts.followed(indexed.words, by_pause=by_pause)
    said = (*grouped, *_power_words(base, scripts, source))
    several = len(power) > 1 and not (len(power) == 2 and power[1].role is Role.NUMBER)
    return Part(
        said,
        base.role if base.role in (Role.LETTER, Role.GROUP) else Role.OPERAND,
        f"{indexed.raw}^{source}",
        parts.is_long(power) or (base.role is Role.GROUP and base.long),
        open=several,
    )


def _power_words(base: Part, scripts: Scripts, source: str) -> tuple[str, ...]:
    inverse = base.raw in _FUNCTIONS and scripts.called
    matrix = base.role is Role.LETTER and base.raw.isupper()
    if source == "-1" and (inverse or matrix):
        return ("inverse",)
    if source == "T" and not matrix and len(base.raw) == 1:
        return ("to", "the", "power", "of", "T")
    if source in _POWERS:
        return (_POWERS[source],)
    said = parts.words(scripts.power)
    if len(scripts.power) > 1 and scripts.power[-1].role is Role.OPERATOR:  # the charge of an ion
        return said
    if scripts.power[0].role is Role.GROUP and len(scripts.power) == 1:
        return ("superscript", *said)
    return ("to", "the", "power", "of", *said)


def _bounded(base: Part, name: str, scripts: Scripts) -> Part:
    """Return a base with bounds: "the sum from i equals one to n", "the limit as x approaches
    zero".
    """
    said: tuple[str, ...] = base.words
    if scripts.index and name in commands.LIMITS:
        index = [
            replace(part, words=("approaches",)) if part.raw in _ARROWS else part
            for part in scripts.index
        ]
        head, _, side = index[-1].raw.rpartition("^")
        towards = parts.words(index)
        if head and side in _SIDES:  # x approaches zero from above, for x → 0^+
            towards = (*towards[:-1], *_SIDES[side].split())
        said = (*said, "as", *towards)
    elif scripts.index and scripts.power:
        low, high = parts.words(scripts.index), parts.words(scripts.power)
        said = (*said, "from", *low, "to", *high)
    elif scripts.index:
        said = (*said, "over", *parts.words(scripts.index))
    elif scripts.power:
        said = (*said, "to", *parts.words(scripts.power))
    return replace(base, words=said)


def _places(scripts: Scripts) -> tuple[str, ...]:
    """Return the words of bounds: "from zero to one", "at x equals zero"."""
    low, high = parts.words(scripts.index), parts.words(scripts.power)
    return ("from", *low, "to", *high) if low and high else ("at", *low, *high)


def _applied(base: Part, name: str, scripts: Scripts) -> Part:
    """Return a function with scripts: "log base two", "sine squared", "inverse sine"."""
    said = base.words
    if scripts.index:
        link = ("base",) if name in ("log", "lg") else ()
        said = (*said, *link, *parts.words(scripts.index))
    source = parts.raw(scripts.power)
    if source == "-1":
        said = ("inverse", *said)
    elif source:
        said = (*said, *_power_words(base, scripts, source))
    return replace(base, words=(*said, *("prime",) * scripts.primes))
