"""Tokens made of figures: plain numbers, signs, percentages, ordinals, ranges, fractions, versions.

Invariant: every rule matches its whole token or leaves it alone; no rule guesses from a part.
"""

import re

from engine.text import numbers
from engine.text.context import SENTENCE_STARTERS, Context, Reading, Rule, say
from engine.text.numbers import NUMBER

_PREFIXES = {
    "~": "about",
    "≈": "about",
    "<": "less than",
    ">": "more than",
    "≤": "at most",
    "≥": "at least",
    "<=": "at most",
    ">=": "at least",
    "±": "plus or minus",
    "+": "plus",
    "-": "minus",
    "": "",
}
_FRACTION_SIGNS = "".join(numbers.UNICODE_FRACTIONS)
_PLAIN = re.compile(rf"([~≈<>≤≥±+-]|<=|>=|)({NUMBER})(%|‰|\+|)")
_RANGE = re.compile(rf"(-?)({NUMBER})(%?)[-–](-?)({NUMBER})(%?)")
_ORDINAL = re.compile(r"(\d{1,3}(?:,?\d{3})*)(st|nd|rd|th)", re.IGNORECASE)
_ORDINAL_RANGE = re.compile(r"(\d{1,4})(?:st|nd|rd|th)[-–](\d{1,4})(?:st|nd|rd|th)", re.IGNORECASE)
_FRACTION = re.compile(r"(-?)(\d{1,4})/(\d{1,4})(ths?|rds?)?")
_MIXED = re.compile(rf"(\d*)([{_FRACTION_SIGNS}])")
_DECADE = re.compile(r"'?(1[1-9]\d0|20\d0|[1-9]00|[1-9]0)'?s")
_DECADE_RANGE = re.compile(r"((?:1[1-9]|20)\d0)s[-–]'?((?:(?:1[1-9]|20)\d|[1-9])0)s")
_RATING = re.compile(r"(\d{1,3}\.\d+)/(\d{1,3})")
_TIMES = re.compile(rf"({NUMBER})[x×](?:({NUMBER})(?:[x×]({NUMBER}))?)?", re.IGNORECASE)
_TIMES_PER = re.compile(r"(\d+)x/(day|week|month|year|hour)", re.IGNORECASE)
_SCIENTIFIC = re.compile(r"(-?\d+(?:\.\d+)?)[eE]([-+]?\d{1,3})")
_VERSION = re.compile(r"(v?)(\d{1,4}(?:\.\d{1,5}){1,4})", re.IGNORECASE)
_OPERATORS = frozenset("+-=*/^")
_IDIOMS = {
    "24/7": "twenty-four seven",
    "9/11": "nine eleven",
    "50/50": "fifty fifty",
    "50-50": "fifty fifty",
    "20/20": "twenty twenty",
    "911": "nine one one",
    "007": "double oh seven",
    "101": "one oh one",
    "24/7/365": "twenty-four seven three sixty-five",
}
_VERSIONED = frozenset(
    "version v release python java node ubuntu debian fedora ios ipados macos android windows cuda "
    "php ruby rust go perl kernel linux pytorch torch tensorflow numpy django firefox chrome qt "
    "bluetooth usb http tls llama qwen gemma mistral phi claude gpt".split()
)


def idiom(core: str, context: Context) -> Reading | None:
    """Figures with a reading of their own: 24/7, 911."""
    said = _IDIOMS.get(core)
    if said is None:
        return None
    if core == "101" and not _is_name(context.previous):  # "Physics 101", but "101 Dalmatians"
        return None
    return say(said)


def plain(core: str, context: Context) -> Reading | None:
    """5, -5, 1,234.5, ~5, 50%, 5+"""
    match = _PLAIN.fullmatch(core)
    if not match:
        return None
    prefix, figure, suffix = match.groups()
    after = {"%": "percent", "‰": "per thousand", "+": "plus", "": ""}[suffix]
    return say(f"{_PREFIXES[prefix]} {numbers.number(figure)} {after}")


def span(core: str, context: Context) -> Reading | None:
    """10-15, 5-10%, -5–10"""
    match = _RANGE.fullmatch(core)
    if not match:
        return None
    minus_low, low, percent_low, minus_high, high, percent_high = match.groups()
    said = (
        f"{numbers.number(minus_low + low)} {'percent' if percent_low and not percent_high else ''}"
        f" to {numbers.number(minus_high + high)} {'percent' if percent_high else ''}"
    )
    return say(said)


def ordinal(core: str, context: Context) -> Reading | None:
    """3rd, 21st, 1,000th, 19th-20th"""
    pair = _ORDINAL_RANGE.fullmatch(core)
    if pair:
        return say(f"{numbers.ordinal(int(pair[1]))} to {numbers.ordinal(int(pair[2]))}")
    match = _ORDINAL.fullmatch(core)
    if not match:
        return None
    return say(numbers.ordinal(int(match[1].replace(",", ""))))


def fraction(core: str, context: Context) -> Reading | None:
    """1/2, 3/4, 2/3rds, 1½; "5 1/2" goes on from the whole number before."""
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
    pair = _DECADE_RANGE.fullmatch(core)
    if pair:
        return say(f"{numbers.decade(int(pair[1]))} to {numbers.decade(int(pair[2]))}")
    match = _DECADE.fullmatch(core)
    if not match:
        return None
    short = len(match[1]) < 4
    if short and "'" not in core + context.opened and not _decade_cue(context.previous):
        return None
    return say(numbers.decade(int(match[1])))


def times(core: str, context: Context) -> Reading | None:
    """2x, 3×4, 1920x1080, 2x/day"""
    per = _TIMES_PER.fullmatch(core)
    if per:
        return say(f"{numbers.number(per[1])} times per {per[2]}")
    match = _TIMES.fullmatch(core)
    if not match:
        return None
    sizes = [size for size in match.groups() if size]
    if len(sizes) == 1:
        if not context.tail and context.after[:1] in _OPERATORS:  # 2x + 1
            return None
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


def version(core: str, context: Context) -> Reading | None:
    """3.11.2, v2.0; "Python 3.11" is three point eleven; 192.168.1.1 has dots."""
    match = _VERSION.fullmatch(core)
    if not match:
        return None
    parts = match[2].split(".")
    named = bool(match[1]) or context.previous.lower() in _VERSIONED
    if len(parts) == 2 and not named:
        return None
    link = " dot " if len(parts) == 4 else " point "
    said = link.join(numbers.number(part) for part in parts)
    return say(("version " if match[1] else "") + said)


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
    return previous.lower() in cues


RULES: tuple[Rule, ...] = (
    idiom, version, decade, ordinal, fraction, scientific, times, span, plain,
)  # fmt: skip
