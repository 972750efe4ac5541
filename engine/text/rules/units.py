"""Units of measurement beside a number: 5 km, 20°C, 90 km/h, 5 ft 10 in, 12 sq ft; and rates: 8
hours/day, 3/week, $5 / day, 100 km / h.

Invariant: a unit is only ever read as one right after a number; "in", "m" or "ms" alone stay words.
A slash is "per" only before a span of time, a person or a unit, and behind an amount.
"""

import re
from dataclasses import replace

from engine.text.rules import figures, numbers
from engine.text.rules.context import Context, Reading, form, is_counted, matching, may_be_noun, say
from engine.text.rules.numbers import FRACTION, NUMBER
from engine.text.tables import words
from engine.text.unit_table import SIGNS

_FEET, _INCHES = re.compile(r"([\d.]*[\d½¼¾])′"), re.compile(r"(?:\d|1[01])[\"″”]?")
_ARC = re.compile(r"(\d+(?:\.\d+)?)([′″])")
_MEASURED = re.compile(r"([\d.,]*[\d½¼¾])(['′\"″]|mm|cm|m|km|in|ft)")
_MEASURES = {"'": "ft", "′": "ft", '"': "in", "″": "in"}
_PLURALS = {"foot": "feet", "inch": "inches"}

_ATTACHED_ONLY = frozenset({"M", "B", "bn", "in", "fl", "N"})  # words or letters when alone
_COUNTED_LAST = frozenset("Wh kWh MWh mAh sqft sqm nmi Nm N-m cc bps".split())  # watt hours
_BY = ("x", "×")
_BEFORE_HEAT = frozenset("at to about around over under below above reaches".split())
_LENGTHS = frozenset(("mm", "cm", "m", "in", "″", "ft"))
_PREFIXES = {"sq": "square", "cu": "cubic", "fl": "fluid"}
_SYSTEMS = {"US": "US", "imp": "imperial", "Imp": "imperial"}  # of a gallon
_UNIT = "|".join(re.escape(sign) for sign in sorted(SIGNS, key=len, reverse=True))
_EACH = words("units", "each")
_POWERS = {"^2": "square", "^3": "cubic", "2": "square", "3": "cubic"}
_EXPRESSION = re.compile(
    rf"({_UNIT})(\^[23]|(?<=m)[23])?(?:/({_UNIT}|{'|'.join(_EACH)})(\^[23])?)?"
)
_FACTOR = rf"(?:{_UNIT}|K|J|T|C|A|rad)(?:\^-?[23])?"
_PRODUCT = re.compile(
    rf"(?P<figure>{NUMBER})?(?P<top>{_FACTOR}(?:[·⋅*]{_FACTOR})*)"
    rf"(?:/(?P<bottom>{_FACTOR}|\({_FACTOR}(?:[·⋅*]{_FACTOR})*\)?))?"
)
_SYMBOLS = {"K": "kelvin=", "J": "joule", "T": "tesla=", "C": "coulomb", "A": "ampere"}
_RATE = re.compile(
    rf"(?:{_UNIT})(?:\^[23])?/(?:{_UNIT})\^[23]|(?:km|mi)/h|(?:mg|g|ng|µg)/[dm]?[lL]|[kMG]B/s"
)
_PER_MANY = re.compile(rf"({_UNIT})/(10+)")
_DIRECTIONS = {"N": "north", "E": "east", "S": "south", "W": "west"}
_BEARING = re.compile(r"(\d+(?:\.\d+)?)°(?:(\d+)['′])?(?:(\d+(?:\.\d+)?)[\"″])?([NESW])?")
_COUNTED_RATE = re.compile(rf"(?:(?P<figure>{NUMBER})|(?P<word>[A-Za-z]+))?(?P<per>(?:/[a-z]+)+)")
_CLOCK, _PER_DISTANCE = re.compile(r"\d{1,2}:\d\d"), r"(?:min)?/(km|mi|mile)"
_PER = re.compile(_PER_DISTANCE)
_BESIDE_AMPERES = words("units", "beside_amperes")


@matching(rf"([-–+]?(?:{FRACTION}|{NUMBER}))(-?)({_EXPRESSION.pattern})")
def attached(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as 5km, -5°C, 100MB/s; an 8-bit number."""
    figure, hyphen, unit = match[1], match[2], match[3]
    if unit == "in" and hyphen and not context.punctuation.startswith("."):
        return None
    if unit in ("M", "B"):  # "Apt. 4B", "221B Baker Street": a letter, not a billion
        named = (
            not context.punctuation and context.after[:1].isupper() and context.after[1:2].islower()
        )
        if named or context.previous.lower() in figures.PLACES:
            return None
    if match[0] == "3M" and not context.punctuation and not is_counted(context.after):
        return None  # the company
    if unit == "m":  # 1h 30m, 2m 30s
        beside = context.previous, "" if context.punctuation else context.after
        unit = "min" if re.fullmatch(r"\d+h .*|.* \d+s", " ".join(beside)) else unit
    sized = False
    if unit == "″" and context.previous.endswith("′"):  # a 5-foot-6 woman
        sized = context.describes(context.before_previous)
    describes = sized or _is_part_of_noun(unit, context, context.article)
    single = bool(hyphen) or numbers.is_one(figure) or describes
    part = figures.continued(figure, context)
    if part and not hyphen:
        single = context.is_adjective(context.before_previous)
    return say(f"{part or numbers.amount(figure)} {_unit(unit, one=single)}", _mark(context))


@matching(r"(\d{2,3})([CF])")
def heat(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as at 350F, 220C/200C."""
    led = context.previous.lower() in _BEFORE_HEAT or context.previous[-1:] == match[2]
    return say(quantity(match[1], "°" + match[2])) if led else None


def alone(body: str, context: Context) -> Reading | None:
    """Read a unit that is a token of its own, after its number."""
    prefix = _PREFIXES.get(body.lower())
    if prefix and context.after_amount:
        return say(prefix, "")
    per_many = _PER_MANY.fullmatch(body)
    if per_many and context.after_number:
        name = _unit(per_many[1], one=numbers.is_one(context.previous))
        return say(f"{name} per {numbers.number(per_many[2])}")
    match = _EXPRESSION.fullmatch(body)
    if _RATE.fullmatch(body) and not (context.after_amount or context.previous == "/"):
        return say(_unit(body, one=False))  # "in m/s²"
    system = _SYSTEMS.get(body)
    if system and context.after_number and context.after in SIGNS:
        return say(system, "")
    before = context.previous if context.previous in _SYSTEMS else context.previous.lower()
    areal = before in (*_PREFIXES, *_SYSTEMS, "square", "cubic") and len(body) > 1
    if not match or not (context.after_amount or areal):
        return None
    inches = body == "in" and (
        context.punctuation.startswith(".")
        or "." in context.previous
        or context.after == "="
        or context.before_previous in ("ft", "feet", "foot")
    )
    if body in _ATTACHED_ONLY and not inches:
        return None
    mixed = context.before_previous.isdecimal() and "/" in context.previous  # 3 3/4 in.
    single = numbers.is_one(context.previous) and not mixed
    single = single or _is_part_of_noun(body, context, context.article_before_number)
    return say(_unit(body, one=single), _mark(context))


@matching(rf"({NUMBER})?(A)")
def amperes(match: re.Match[str], context: Context) -> Reading | None:
    """Read the A of 1.5 A, 5 V, 2 A, a 10 A fuse and 1.5A."""
    figure = match[1] or (context.previous if context.after_number else "")
    electric = "." in figure or any(
        re.fullmatch(r"[\d.]*[mk]?[VW]", past.body) for past in context.past
    )
    after = "" if context.punctuation else context.after
    if not figure or not (electric or after in _BESIDE_AMPERES):
        return None
    before = context.article if match[1] else context.article_before_number
    single = numbers.is_one(figure) or after in _BESIDE_AMPERES or context.describes(before)
    return say(f"{numbers.number(figure) if match[1] else ''} {'amp' if single else 'amps'}")


def product(body: str, context: Context) -> Reading | None:
    """Read tokens such as N·m, 5 kg·m/s², W/(m·K)."""
    match = _PRODUCT.fullmatch(body) if set("·⋅*(") & set(body) else None
    amount = match["figure"] or (context.previous if context.after_amount else "") if match else ""
    if not match or ("*" in body and not amount):
        return None
    *heads, last = re.split("[·⋅*]", match["top"])
    words = [_factor(head, one=True) for head in heads]
    words.append(_factor(last, one=bool(amount) and numbers.is_one(amount)))
    if match["bottom"]:
        below = re.split("[·⋅*]", match["bottom"].strip("()"))
        words += ["per", *(_factor(each, one=True) for each in below)]
    figure = numbers.number(match["figure"]) if match["figure"] else ""
    return say(f"{figure} {' '.join(words)}")


def _factor(text: str, *, one: bool) -> str:
    """Return a unit with its power in words; a negative power is "per"."""
    sign, _, power = text.partition("^")
    name = _name(sign, one=one or power.startswith("-"))
    words = f"{_POWERS.get('^' + power.lstrip('-'), '')} {name}"
    return f"per {words}" if power.startswith("-") else words


def feet(body: str, context: Context) -> Reading | None:
    """Read tokens such as 8′, 5′ 11″, 8′ by 10′; the minutes and seconds of 40° 51′ 30″."""
    part = _ARC.fullmatch(body)
    if part and "°" in (context.previous[-1:], context.before_previous[-1:]):
        return say(_counted(part[1], "minute" if part[2] == "′" else "second"))
    match = _FEET.fullmatch(body)
    if not match:
        return None
    inches = bool(_INCHES.fullmatch(context.after))
    single = inches or _is_part_of_noun("ft", context, context.article)
    return say(quantity(match[1], "ft", single=single))


def size(body: str, context: Context) -> Reading | None:
    """Read tokens such as 8′x10′, 6″x4″, 10cmx15cm; the x of 8′ x 10′."""
    if body in _BY:
        last = re.split(r"/|['′](?=\d)", context.previous)[-1]  # behind feet or a slash
        follows = _MEASURED.fullmatch(last) and context.after[:1].isdigit()
        return say("by") if follows else None
    sides = re.split("[x×]", body)
    matches = [_MEASURED.fullmatch(side) for side in sides]
    if len(sides) < 2 or not all(matches):
        return None
    single = _is_part_of_noun("ft", context, context.article)
    said = [quantity(m[1], _MEASURES.get(m[2], m[2]), single=single) for m in matches if m]
    return say(" by ".join(said))


def _is_part_of_noun(sign: str, context: Context, article: str) -> bool:
    """Return whether a measure describes what is behind it: a 6′ fence, a 5 kg bag; of lengths
    also: 6″ nails, a sharp 10 mm bit, 4′ x 8′ sheets at the head of a sentence. A number before it
    is part of the measure.
    """
    if context.punctuation == "." and context.after[:1].islower():  # a 5 gal. bucket
        context = replace(context, punctuation="")
    if not article.isdecimal() and context.describes(article):
        return True
    pieces = context.before_previous in _BY  # 2 x 400 g cans
    after = context.after if (sign in _LENGTHS or pieces) and not context.punctuation else ""
    if sign == "ft" and after in _BY:
        return not context.past
    if sign == "ft" and after and context.previous in _BY and len(context.past) == 2:
        return True
    plural = after.islower() and after.endswith("s") and is_counted(after)
    return plural or ((sign == "mm" or pieces) and may_be_noun(after))


def bearing(body: str, context: Context) -> Reading | None:
    """Read tokens such as 40°N, 48°51′N, 40° N; 123 N. Main St.; W. 34th St."""
    side = _DIRECTIONS.get(body)
    turned = any("°" in past.body for past in context.past)
    if side and turned and context.previous.endswith(("°", "′", "″")):
        return say(side)
    if side and context.punctuation == ".":
        named = context.after_number and context.after[:1].isupper()
        street = named or re.match(r"\d+(?:st|nd|rd|th)\b", context.after)
        return say(side.capitalize(), "") if street else None
    match = _BEARING.fullmatch(body)
    if not match or not (match[2] or match[4]):
        return None
    names = zip(match.groups(), ("degree", "minute", "second"), strict=False)
    parts = [_counted(figure, name) for figure, name in names if figure]
    return say(" ".join([*parts, _DIRECTIONS.get(match[4], "")]))


def _counted(figure: str, name: str) -> str:
    return f"{numbers.number(figure)} {name}{'' if figure == '1' else 's'}"


def glued(body: str, context: Context) -> Reading | None:
    """Read tokens such as 3/week, hours/day, /mo."""
    match = _COUNTED_RATE.fullmatch(body)
    per = _per(match["per"]) if match else ""
    if not match or not per:
        return None
    if match["figure"]:
        return say(f"{numbers.number(match['figure'])} {per}")
    word = match["word"] or ""
    if not word:
        return say(per) if _follows_amount(context) else None
    measured = word in SIGNS and word != "miles" and context.after_amount
    often = word.lower() in ("once", "twice")
    counted = often or context.after_amount or is_counted(word)
    return say(f"{word} {per}") if counted and not measured else None


def spaced(body: str, context: Context) -> Reading | None:
    """Read the slash of "$5 / day" and "km / h", and the unit behind it."""
    before = context.previous
    if body == "/" and (_follows_amount(context) or before in SIGNS):
        after = context.after
        unit = before in SIGNS and after in SIGNS
        return say("per") if unit or after.lower() in _EACH else None
    if before == "/" and body in SIGNS and context.before_previous in SIGNS:
        return say(one(body))
    return None


@matching(rf"(\d{{1,2}}):([0-5]\d)(?:{_PER_DISTANCE})?")
def pace(match: re.Match[str], context: Context) -> Reading | None:
    """Read a runner's pace: 5:30/km, the time of 6:00 min/km."""
    minutes, seconds, per = match.groups()
    flat = seconds == "00"
    if not per and not (flat and not context.punctuation and _PER.fullmatch(context.after)):
        return None
    time = f"{numbers.number(minutes)} {numbers.two_figures(seconds)}"
    return say(f"{quantity(minutes, 'min') if flat else time} {f'per {one(per)}' if per else ''}")


@matching(_PER_DISTANCE)
def per_distance(match: re.Match[str], context: Context) -> Reading | None:
    """Read the unit of 5:30 min/km."""
    return say(f"per {one(match[1])}") if _CLOCK.fullmatch(context.previous) else None


def _follows_amount(context: Context) -> bool:
    """Behind a figure, an amount of money or something counted."""
    before = context.previous
    return bool(re.search(r"\d", before)) or context.after_amount or is_counted(before)


def _per(text: str) -> str:
    """Return "per user per month" for "/user/month"; "" if a word cannot be counted by."""
    names = text.strip("/").split("/")
    return " ".join(f"per {one(name)}" for name in names) if _EACH.issuperset(names) else ""


def quantity(figure: str, sign: str, *, single: bool = False) -> str:
    """Return a number with its unit. `single`: the unit is in the singular."""
    return f"{numbers.amount(figure)} {_unit(sign, one=single or numbers.is_one(figure)).strip()}"


def one(sign: str) -> str:
    """Return the singular name of a unit, or of one unit per another; else `sign` itself."""
    return " ".join(_unit(sign, one=True).split()) if _EXPRESSION.fullmatch(sign) else sign


def _unit(expression: str, *, one: bool) -> str:
    match = _EXPRESSION.fullmatch(expression)
    assert match, expression
    sign, power, per, per_power = match.groups()
    words = f"{_POWERS.get(power or '', '')} {_name(sign, one=one)}"
    if per:
        words += f" per {_POWERS.get(per_power or '', '')} {_name(per, one=True)}"
    return words


def _name(sign: str, *, one: bool) -> str:
    name = SIGNS.get(sign) or _SYMBOLS.get(sign, sign)
    if one or name.endswith("="):
        return name.removesuffix("=")
    head, space, rest = name.partition(" ")
    if sign in _COUNTED_LAST:
        return f"{head} {_PLURALS.get(rest, rest + 's')}"
    return _PLURALS.get(head, head + "s") + space + rest


def _mark(context: Context) -> str | None:
    """ "5 ft. tall", "5 ft., 3 in.": the dot belongs to the unit unless a sentence begins."""
    if context.punctuation == "." and context.after[:1].isdigit():
        return None
    return context.mark_behind_dot(any_name=True)


RATES = (product, size, glued, spaced, feet, pace, per_distance)
RULES = (
    form(r"(\d{1,2})['′]-?(\d{1,2})[\"″]?", "{1:number} foot {2:number}"),  # 5'11"
    bearing, heat, amperes, attached, alone,
)  # fmt: skip
