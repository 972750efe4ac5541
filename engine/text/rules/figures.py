"""Tokens made of figures: plain numbers, signs, percentages, ordinals, ranges, fractions, versions.

Invariant: every rule matches its whole token or leaves it alone; no rule guesses from a part.
"""

import re

from engine.text.rules import numbers
from engine.text.rules.context import Context, Reading, form, is_counted, is_name, matching, say
from engine.text.rules.numbers import NUMBER
from engine.text.tables import section, words
from engine.text.unit_table import SIGNS

_FRACTION_SIGNS = "".join(numbers.UNICODE_FRACTIONS)
_DECADE = r"'?(1[1-9]\d0|20\d0|[1-9]00|\d0)'?s"
_MIXED_HYPHENED = r"([-+]?\d{1,3}[-–]([1-9]\d?)/([1-9]\d?))"
_NUMBERED = words("figures", "numbered")
PLACES = words("figures", "places")
_STATUS = words("figures", "status")
_OPERATORS = frozenset("+-=*/^")
_BEFORE_DECADES = frozenset("the early late mid my his her their your our in".split())
_IDIOMS = section("figures", "idioms")
VERSIONED = words("figures", "versioned")


def _is_part(match: re.Match[str], context: Context) -> bool:
    return int(match[2]) < int(match[3])


def idiom(body: str, context: Context) -> Reading | None:
    """Read figures that have a reading of their own: 24/7, 911."""
    words = _IDIOMS.get(body)
    if words is None:
        return None
    is_named = context.previous[:1].isupper() and is_name(context.previous)
    # "Physics 101", but "101 Dalmatians"
    return say(words) if is_named or body != "101" else None


@matching(r"\d{1,3}(?:st|nd|rd|th)(?:/\d{1,3}(?:st|nd|rd|th))+")
def ordinals(match: re.Match[str], context: Context) -> Reading:
    """Read tokens such as 3rd/4th."""
    return say(", ".join(numbers.ordinal(int(each[:-2])) for each in match[0].split("/")))


@matching(r"(-?)(\d{1,4})/(\d{1,4})(?:ths?|rds?)?")
def fraction(match: re.Match[str], context: Context) -> Reading:
    """Read 1/2, 3/4 and 2/3rds. In "5 1/2" the fraction continues the whole number before it."""
    top, bottom = int(match[2]), int(match[3])
    many = bottom > 10 and bottom not in (16, 32, 64) and not context.punctuation
    if many and is_counted(context.after):  # 12/15 lessons
        return say(f"{numbers.cardinal(top)} out of {numbers.cardinal(bottom)}")
    if top + bottom == 100 and not match[1]:  # the 80/20 rule
        return say(f"{numbers.cardinal(top)} {numbers.cardinal(bottom)}")
    part = _continued(top, bottom, context) or numbers.fraction(top, bottom)
    return say(("minus " if match[1] and not part.startswith("and ") else "") + part)


@matching(rf"(\d*)([{_FRACTION_SIGNS}])")
def mixed(match: re.Match[str], context: Context) -> Reading:
    """Read tokens such as 1½, ½."""
    top, bottom = map(int, numbers.UNICODE_FRACTIONS[match[2]].split("/"))
    continued = "" if match[1] else _continued(top, bottom, context)
    return say(continued or numbers.mixed(match[1], top, bottom))


def continued(text: str, context: Context) -> str:
    """Return "and a half" for 1/2 behind a whole number; "" if there is none before it."""
    text = numbers.UNICODE_FRACTIONS.get(text, text)
    top, _, bottom = text.partition("/")
    return _continued(int(top), int(bottom), context) if top.isdecimal() and bottom else ""


def _continued(top: int, bottom: int, context: Context) -> str:
    """Return the words of a fraction behind a whole number; "" if there is none before it."""
    if not (context.after_number and context.previous.isdecimal() and top < bottom):
        return ""
    return "and " + re.sub(r"^one ", "a ", numbers.fraction(top, bottom))


@matching(_DECADE)
def decade(match: re.Match[str], context: Context) -> Reading | None:
    """Read 1990s and '90s as decades, but 30s, which may be seconds, only after "the" or "his"."""
    if len(match[1]) < 4 and "'" not in match[0] + context.opened:
        cued = context.previous.lower() in _BEFORE_DECADES
        if not cued and not re.fullmatch(_DECADE, context.previous):
            return None
    return say(numbers.decade(int(match[1]) or 2000))


@matching(r"\d{1,2}(?:,\d{1,2}){2,}|(\d),(\d)")
def listed(match: re.Match[str], context: Context) -> Reading | None:
    """Read the numbers of a list: 1,2,3 or "1,2 or 3"."""
    if match[1]:
        follows = int(match[1]) + 1 == int(match[2]) and context.previous != "between"
        if not follows or context.punctuation or context.after not in ("or", "and", "&"):
            return None
    return say(", ".join(numbers.number(part) for part in match[0].split(",")))


@matching(rf"({NUMBER})[x×](?:({NUMBER})(?:[x×]({NUMBER}))?)?", re.IGNORECASE)
def times(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as 2x, 3×4, 1920x1080."""
    sizes = [size for size in match.groups() if size]
    if len(sizes) == 1:
        if context.previous == "=" or (not context.punctuation and context.after[:1] in _OPERATORS):
            return None  # 2x + 1
        return say(f"{numbers.number(sizes[0])} {'time' if sizes[0] == '1' else 'times'}")
    link = " by "
    if "×" in match[0] and not context.describes(context.article):
        link = " by " if not context.punctuation and context.after in SIGNS else " times "
    said = []
    for size in sizes:
        hundreds, rest = divmod(int(size) if size.isdecimal() else 0, 100)
        paired = 10 <= hundreds <= 99 and rest >= 10  # of a picture: 1920 is nineteen twenty
        said.append(numbers.code(size) if paired else numbers.number(size))
    return say(link.join(said))


@matching(r"""(\d{1,2})['"′″]?[x×](\d{1,2})['"′″]?s""")
def boards(match: re.Match[str], context: Context) -> Reading:
    """Read tokens such as 2x4s, 2'x4's."""
    return say(f"{numbers.number(match[1])} by {numbers.plural(numbers.number(match[2]))}")


@matching(r"(\d{1,3})ers")
def members(match: re.Match[str], context: Context) -> Reading:
    """Read tokens such as 76ers, 49ers."""
    return say(numbers.number(match[1]).removesuffix("e") + "ers")


@matching(rf"({NUMBER})[kK]")
def thousands(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as 1.5k, 10k users, 10k-20k."""
    named = "." not in match[0] and len(match[1]) != 3  # a 5K screen, an i7-9700K
    after = context.after if named and not context.punctuation else ""
    beside = any(re.match(rf"(?:{NUMBER})[kK]\b", each) for each in (context.previous, after))
    if named and not beside and not is_counted(after):
        return None
    return say(f"{numbers.number(match[1])} thousand")


@matching(r"1(00+)s")
def many(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as 1000s of."""
    if context.punctuation or context.after != "of":
        return None
    return say(numbers.plural(numbers.cardinal(int("1" + match[1])).removeprefix("one ")))


@matching(r"\d{3,4}")
def numbered(match: re.Match[str], context: Context) -> Reading | None:
    """Read the figures of a name: error 404, port 8080, flight BA 117; the port is 8080."""
    one, two = context.previous.lower(), context.before_previous.lower()
    linked = one == "is" and two in _NUMBERED and (context.punctuation or not context.after)
    before = one in _NUMBERED or two == "flight" or linked
    if before or (match[0] in _STATUS and not context.punctuation and context.after == "error"):
        return say(numbers.code(match[0]))
    return None


@matching(r"(\d{1,3}(?:\.\d{1,3}){3})(?:/(\d\d?))?(?::(\d{1,5}))?")
def network(match: re.Match[str], context: Context) -> Reading:
    """Read 10.0.0.0/8 with its dots."""
    address, mask, port = match.groups()
    words = " dot ".join(numbers.number(part) for part in address.split("."))
    words += f" slash {numbers.number(mask)}" if mask else ""
    return say(words + (f" port {numbers.digits(port)}" if port else ""))


@matching(r"([vV]?)(\d{1,4}(?:\.\d{1,5}){1,4})|([vV])(\d{1,3})")
def version(match: re.Match[str], context: Context) -> Reading | None:
    """Read 3.11.2 and v2.0. "Python 3.11" is three point eleven."""
    parts = (match[2] or match[4]).split(".")
    lead = match[1] or match[3]
    if len(parts) == 2 and not (lead or context.previous.lower() in VERSIONED):
        return None
    words = " point ".join(numbers.number(part) for part in parts)
    named = context.previous.lower() == "version"
    if match[3] == "V" and not named:
        return None
    return say(("version " if lead and not named else "") + words)


RULES = (
    idiom, network, version, decade,
    form(r"('?)0([1-9])", "oh {2:digits}", when=lambda match, context: (  # '05
        match[1] or ("'" in context.opened and "'" not in context.punctuation)
    )),
    form(r"(\d{1,3}(?:,?\d{3})*)(?:st|nd|rd|th)", "{1:ordinal}", re.IGNORECASE),  # 21st, 1,000th
    ordinals,
    form(r"(\d{1,3}\.\d+)/(\d{1,3})", "{1:number} out of {2:number}"),  # 8.5/10
    fraction,
    form(r"([1-9]/(?:2|4|8|16))-([1-9]\d)", "{1:amount} {2:number}"),  # a screw: 1/4-20
    form(rf"({numbers.FRACTION}|\d+)[–~]({numbers.FRACTION})", "{1:amount} to {2:amount}",
         when=lambda match, _: not match[1].isdecimal() or "-" in match[2]),  # not one number
    form(_MIXED_HYPHENED, "{1:amount}", when=_is_part),  # 1-1/2
    form(_MIXED_HYPHENED + "%", "{1:amount} percent", when=_is_part),
    mixed,
    form(r"(-?\d+(?:\.\d+)?)[eE]\+?(-?\d{1,3})", "{1:number} times ten to the {2:number}",
         when=lambda _, context: context.previous.lower() not in PLACES),  # but the gate "4E5"
    listed,
    form(r"(\d+)x/(day|week|month|year|hour)", "{1:number} times per {2}", re.IGNORECASE),
    times, boards, members, thousands, many, numbered,
    form(rf"([-–+]?(?:{NUMBER}))", "{1:number}"),  # 5, -5, 1,234.5
    form(rf"([-–+]?(?:{NUMBER}))%", "{1:number} percent"),
    form(rf"([-–+]?(?:{NUMBER}))‰", "{1:number} per thousand"),
)  # fmt: skip
