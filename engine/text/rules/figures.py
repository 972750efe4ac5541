"""Tokens made of figures: plain numbers, signs, percentages, ordinals, ranges, fractions, versions.

Invariant: every rule matches its whole token or leaves it alone; no rule guesses from a part.
"""

import re

from engine.text.rules import numbers
from engine.text.rules.context import SENTENCE_STARTERS, Context, Reading, Rule, is_counted, say
from engine.text.rules.numbers import NUMBER
from engine.text.tables import section, words

_FRACTION_SIGNS = "".join(numbers.UNICODE_FRACTIONS)
_PLAIN = re.compile(rf"([-–+]?(?:{NUMBER}))([%‰]?)")
_ORDINAL = re.compile(r"(\d{1,3}(?:,?\d{3})*)(st|nd|rd|th)", re.IGNORECASE)
_FRACTION = re.compile(r"(-?)(\d{1,4})/(\d{1,4})(ths?|rds?)?")
_MIXED = re.compile(rf"(\d*)([{_FRACTION_SIGNS}])")
_DECADE = re.compile(r"'?(1[1-9]\d0|20\d0|[1-9]00|[1-9]0)'?s")
_RATING = re.compile(r"(\d{1,3}\.\d+)/(\d{1,3})")
_TIMES = re.compile(rf"({NUMBER})[x×](?:({NUMBER})(?:[x×]({NUMBER}))?)?", re.IGNORECASE)
_LIST = re.compile(r"\d{1,2}(?:,\d{1,2}){2,}")
_THOUSANDS = re.compile(rf"({NUMBER})[kK]")
_MANY = re.compile(r"1(00+)s")
_TIMES_PER = re.compile(r"(\d+)x/(day|week|month|year|hour)", re.IGNORECASE)
_SCIENTIFIC = re.compile(r"(-?\d+(?:\.\d+)?)[eE]([-+]?\d{1,3})")
_NAME_FIGURES = re.compile(r"\d{3,4}")
_NUMBERED = words("figures", "numbered")
_STATUS = words("figures", "status")
_VERSION = re.compile(r"([vV]?)(\d{1,4}(?:\.\d{1,5}){1,4})|(v)(\d{1,3})")
_NETWORK = re.compile(r"(\d{1,3}(?:\.\d{1,3}){3})(?:/(\d\d?))?(?::(\d{1,5}))?")
_OPERATORS = frozenset("+-=*/^")
_IDIOMS = section("figures", "idioms")
_VERSIONED = words("figures", "versioned")


def idiom(core: str, context: Context) -> Reading | None:
    """Figures with a reading of their own: 24/7, 911."""
    words = _IDIOMS.get(core)
    if words is None:
        return None
    if core == "101" and not _is_name(context.previous):  # "Physics 101", but "101 Dalmatians"
        return None
    return say(words)


def plain(core: str, context: Context) -> Reading | None:
    """5, -5, 1,234.5, 50%"""
    match = _PLAIN.fullmatch(core)
    if not match:
        return None
    after = {"%": "percent", "‰": "per thousand", "": ""}[match[2]]
    return say(f"{numbers.number(match[1])} {after}")


def ordinal(core: str, context: Context) -> Reading | None:
    """3rd, 21st, 1,000th"""
    match = _ORDINAL.fullmatch(core)
    if not match:
        return None
    return say(numbers.ordinal(int(match[1].replace(",", ""))))


def fraction(core: str, context: Context) -> Reading | None:
    """1/2, 3/4, 2/3rds, 1½; in "5 1/2" it continues the whole number before it."""
    rating = _RATING.fullmatch(core)
    if rating:
        return say(f"{numbers.number(rating[1])} out of {numbers.number(rating[2])}")
    sign, whole, parts = "", "", None
    match = _FRACTION.fullmatch(core)
    if match:
        sign, parts = match[1], (int(match[2]), int(match[3]))
    mixed = _MIXED.fullmatch(core)
    if mixed:
        top, bottom = numbers.UNICODE_FRACTIONS[mixed[2]].split("/")
        whole, parts = mixed[1], (int(top), int(bottom))
    if parts is None:
        return None
    if not whole and context.after_number and context.previous.isdecimal() and parts[0] < parts[1]:
        return say("and " + re.sub(r"^one ", "a ", numbers.fraction(*parts)))
    return say(("minus " if sign else "") + numbers.mixed(whole, *parts))


def decade(core: str, context: Context) -> Reading | None:
    """1990s, '90s; 30s after "the" or "his" (else it is seconds)."""
    match = _DECADE.fullmatch(core)
    if not match:
        return None
    short = len(match[1]) < 4
    if short and "'" not in core + context.opened and not _decade_cue(context.previous):
        return None
    return say(numbers.decade(int(match[1])))


def times(core: str, context: Context) -> Reading | None:
    """2x, 3×4, 1920x1080, 2x/day; 1,2,3"""
    if _LIST.fullmatch(core):
        return say(", ".join(numbers.number(part) for part in core.split(",")))
    per = _TIMES_PER.fullmatch(core)
    if per:
        return say(f"{numbers.number(per[1])} times per {per[2]}")
    match = _TIMES.fullmatch(core)
    if not match:
        return None
    sizes = [size for size in match.groups() if size]
    if len(sizes) == 1:
        if context.previous == "=" or (not context.tail and context.after[:1] in _OPERATORS):
            return None  # 2x + 1
        return say(f"{numbers.number(sizes[0])} {'time' if sizes[0] == '1' else 'times'}")
    link = " times " if "×" in core else " by "
    return say(link.join(_size(size) for size in sizes))


def scientific(core: str, context: Context) -> Reading | None:
    """1.5e-3"""
    match = _SCIENTIFIC.fullmatch(core)
    if not match:
        return None
    exponent = numbers.number(match[2].lstrip("+"))
    return say(f"{numbers.number(match[1])} times ten to the {exponent}")


def thousands(core: str, context: Context) -> Reading | None:
    """1.5k, 10k users, 1000s of"""
    match = _THOUSANDS.fullmatch(core)
    if match and ("." in core or (not context.tail and is_counted(context.after))):
        return say(f"{numbers.number(match[1])} thousand")
    match = _MANY.fullmatch(core)
    if match and not context.tail and context.after == "of":
        return say(numbers.plural(numbers.cardinal(int("1" + match[1])).removeprefix("one ")))
    return None


def numbered(core: str, context: Context) -> Reading | None:
    """error 404, port 8080, flight BA 117: the figures of a name"""
    if not _NAME_FIGURES.fullmatch(core):
        return None
    before = context.previous.lower() in _NUMBERED or context.before_previous.lower() == "flight"
    if before or (core in _STATUS and not context.tail and context.after == "error"):
        return say(numbers.code(core))
    return None


def version(core: str, context: Context) -> Reading | None:
    """3.11.2, v2.0; "Python 3.11" is three point eleven; 10.0.0.0/8 has dots."""
    network = _NETWORK.fullmatch(core)
    if network:
        address, mask, port = network.groups()
        words = " dot ".join(numbers.number(part) for part in address.split("."))
        words += f" slash {numbers.number(mask)}" if mask else ""
        return say(words + (f" port {numbers.digits(port)}" if port else ""))
    match = _VERSION.fullmatch(core)
    if not match:
        return None
    parts = (match[2] or match[4]).split(".")
    lead = match[1] or match[3]
    if len(parts) == 2 and not (lead or context.previous.lower() in _VERSIONED):
        return None
    words = " point ".join(numbers.number(part) for part in parts)
    return say(("version " if lead else "") + words)


def _size(size: str) -> str:
    """A side of a picture or a table: 1920 is nineteen twenty."""
    value = int(size) if size.isdecimal() else 0
    hundreds, rest = divmod(value, 100)
    if not (10 <= hundreds <= 99 and rest >= 10):
        return numbers.number(size)
    return f"{numbers.cardinal(hundreds)} {numbers.cardinal(rest)}"


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word.lower() not in SENTENCE_STARTERS


def _decade_cue(previous: str) -> bool:
    cues = "the early late mid my his her their your our in".split()
    return previous.lower() in cues or bool(_DECADE.fullmatch(previous))


RULES: tuple[Rule, ...] = (
    idiom, version, decade, ordinal, fraction, scientific, times, thousands, numbered, plain,
)  # fmt: skip
