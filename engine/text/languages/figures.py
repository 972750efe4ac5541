"""Figures: amounts of money, measures, ordinals, fractions, plain numbers, dates, times of day."""

import re
from collections.abc import Sequence

from engine.text.languages.vocabulary import NUMBER, Vocabulary, parts
from engine.text.rules.context import Context, Currency, Reading, say
from engine.text.rules.numbers import UNICODE_FRACTIONS

_SIGN = r"[-−+]?"
_NUMBER = re.compile(rf"{_SIGN}{NUMBER}")
_MONEY = re.compile(
    rf"({_SIGN})(?P<before>[^\d\s+−-]{{1,3}}?)?({NUMBER})(?P<behind>[^\d\s]{{1,3}})?"
)
_MEASURE = re.compile(rf"({_SIGN}{NUMBER})([^\d\s].{{0,4}})")
_ORDINAL = re.compile(r"(\d{1,4})(\.?[^\W\d]{1,4}|°)")
_DEGREES = re.compile(rf"{_SIGN}{NUMBER}[º°]")
_FRACTION = re.compile(r"(\d{1,3})/(\d{1,3})")
_LONG_ORDINAL = 3  # characters of "99º"; behind a larger number the sign means degrees
_MIXED = re.compile(rf"(\d*)([{''.join(UNICODE_FRACTIONS)}])")
_ROAD = "km"
_LAST_NUMBER = re.compile(rf"(?<!\w)(?:{NUMBER}|[{''.join(UNICODE_FRACTIONS)}])$")
_FULL = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d\d)")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_SHORT = re.compile(r"(\d{1,2})/(\d{1,2})")
_ISSUE = re.compile(rf"({NUMBER})/((?:19|20)\d\d)")
_TIME = re.compile(
    r"(\d{1,2})([:h.])(\d\d)(?::(\d\d))?(?:h(?:rs?|s)?|min)?(a\.?m|p\.?m)?", re.IGNORECASE
)
_HALF = re.compile(r"(\d{1,2})(a\.?m|p\.?m)", re.IGNORECASE)
_HOUR = re.compile(r"\d{1,2}(?!\d)")
_EVENING = 8  # o'clock, from which "p. m." is the evening


def money(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read 5€, R$20, $1.50, and a number beside the sign or the code of its currency."""
    match = _MONEY.fullmatch(body)
    currencies = n.section("currencies")
    if not match or (match["before"] and match["behind"]):
        return None
    written = match["before"] or match["behind"]
    if not written and context.previous in currencies and not _counted(context.before_previous):
        written = context.previous
    elif not written and not context.punctuation:
        written = context.after.partition("/")[0]
    if written not in currencies:
        return None
    one, many, cent, cents = n.forms("currencies", written)
    sign = f"{n.say('minus')} " if match[1] in ("-", "−") and match[1] else ""
    figure = match[3]
    if not context.punctuation and context.after in n.section("scales"):
        said = n.number(figure, n.gender(context.after))
        return Reading(tuple((sign + said).split()), currency=Currency(one, many, cent, cents))
    return say(sign + _price(figure, (one, many), (cent, cents), n))


def _price(figure: str, forms: Sequence[str], hundredth: Sequence[str], n: Vocabulary) -> str:
    whole, _, decimals = parts(figure)
    if not hundredth[0] or len(decimals) != 2:
        return amount(figure, forms, n)
    hundredths = int(decimals)
    small = amount(str(hundredths), hundredth, n)
    if int(whole) == 0 and hundredths:
        return small
    large = amount(whole, forms, n)
    if not hundredths:
        return large
    if not n.say("cents"):  # cinq euros cinquante
        return f"{large} {n.cardinal(hundredths)}"
    return f"{large} {n.say('cents')} {small}"


def amount(figure: str, forms: Sequence[str], n: Vocabulary) -> str:
    """Return a number with the singular or the plural of its noun."""
    said = n.number(figure, n.gender(forms[0].split()[0]))
    return n.linked(said, forms[0 if is_singular(figure, n) else 1])


def is_singular(figure: str, n: Vocabulary) -> bool:
    """Return whether a number takes the singular; in French everything below two does."""
    whole, _, decimals = parts(figure.lstrip("-−+"))
    return int(whole) < 2 if n.num2words == "fr" else whole == "1" and not decimals


def scale(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read the "millones" of "$5 millones" with the currency that its number was read without."""
    scales = n.section("scales")
    if body not in scales or not _counted(context.previous):
        return None
    name = context.currency.many if context.currency else ""
    if not name and not context.punctuation and context.after in n.section("currencies"):
        name = n.forms("currencies", context.after)[1]
    return say(n.linked((n.unit(body) or [body])[-1], name)) if name else None


def currency(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read the sign or the code of a currency, which is said with its number."""
    head, _, tail = body.partition("/")
    if head not in n.section("currencies"):
        return None
    if _counted(context.previous) or context.previous in n.section("scales"):
        return say(_rate(tail, n))
    if _begins_figure(context.after):
        return Reading(())
    return None if body.isalpha() else say(n.forms("currencies", head)[1])


def unit(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read the unit of the number before."""
    number = _LAST_NUMBER.search(context.previous)
    if body == _ROAD and not number and _begins_figure(context.after):  # "al km 31"
        return say(n.unit(body)[0])
    if body in ("C", "F") and context.previous[-1:] in ("º", "°"):
        return say(n.unit(f"°{body}")[1].partition(" ")[2])
    head, _, tail = body.partition("/")
    rate = "" if n.unit(body) else _rate(tail, n)
    forms = n.unit(head if rate else body)
    if not forms or not (number or body in "%‰°"):
        return None
    mark = "" if context.punctuation == "." and context.after[:1].islower() else None  # 80 m. y
    return say(f"{_unit_behind(number, context.previous, forms, n)} {rate}", mark)


def _unit_behind(
    number: re.Match[str] | None, previous: str, forms: list[str], n: Vocabulary
) -> str:
    """Return a unit in the number before it; behind a fraction "de litro", but "medio litro"."""
    if previous in ("1/2", "½") or (number and "/" not in previous and is_singular(number[0], n)):
        return forms[0]
    is_fraction = _FRACTION.fullmatch(previous) or previous in UNICODE_FRACTIONS
    return f"{n.link()} {forms[0]}" if is_fraction else forms[1]


def _rate(tail: str, n: Vocabulary) -> str:
    """Return the words of the "/mes" behind an amount, and of the "/24" of "24 h/24"."""
    if tail.isdecimal():
        return f"{n.say('over')} {n.number(tail)}"
    unit_of = n.unit(tail)
    return f"{n.say('per')} {unit_of[0] if unit_of else tail}" if tail.isalpha() else ""


def measure(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read 5km, 80%, 20°C, 5€/mes."""
    head, slash, tail = body.partition("/")
    if slash and tail.isalpha() and not n.unit(body):
        reading = money(head, context, n) or _measured(head, n)
        return reading and say(" ".join((*reading.words, _rate(tail, n))))
    return _measured(body, n)


def _measured(body: str, n: Vocabulary) -> Reading | None:
    match = _MEASURE.fullmatch(body)
    return say(amount(match[1], forms, n)) if match and (forms := n.unit(match[2])) else None


def ordinal(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read 1.º, 2ª, 1er, 3e; a degree sign before a noun is an ordinal's, too."""
    counts = not context.punctuation and n.gender(context.after)
    large = len(body) > _LONG_ORDINAL and not counts
    if _DEGREES.fullmatch(body) and (context.after in ("C", "F") or large):
        return say(amount(body[:-1], n.unit("°"), n))
    match = _ORDINAL.fullmatch(body)
    gender = n.section("ordinals").get(match[2], "") if match else ""
    if not match or not gender or (match[2] == "°" and not n.gender(context.after)):
        return None
    if match[2] == "°":
        gender = n.gender(context.after)
    return say(n.ordinal(int(match[1]), gender))


def fraction(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read 1/2, 3/4, ½, 2½; "1/2" before a noun is an adjective: "media taza"."""
    mixed = _MIXED.fullmatch(body)
    text = UNICODE_FRACTIONS[mixed[2]] if mixed else body
    match = _FRACTION.fullmatch(text)
    if not match or match[2] == "0":
        return None
    whole = mixed[1] if mixed else ""
    gender = "" if context.punctuation else n.gender(context.after)
    behind = not whole and context.previous.isdecimal()
    half = n.section("half")
    if (match[1], match[2]) == ("1", "2"):
        joined = half[gender or "m"].rpartition(" ")[2] if whole or behind else ""
        part = joined or half[gender or "alone"]
    elif (bottom := str(int(match[2]))) in n.section("fractions"):
        top, (one, many) = int(match[1]), n.forms("fractions", bottom)
        part = f"{n.cardinal(top, 'm')} {one if top == 1 else many}"
    else:
        part = f"{n.cardinal(int(match[1]))} {n.say('over')} {n.cardinal(int(match[2]))}"
    if whole or behind:
        number = f"{n.number(whole, gender)} " if whole else ""
        part = f"{number}{n.say('mixed')} {part}"
    return say(part)


def number(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read a number in the gender of its noun: "veintiuna casas", "duas horas"."""
    if not _NUMBER.fullmatch(body):
        return None
    gender, after = "", "" if context.punctuation else context.after
    numbered = context.previous.lower() in n.listed("numbered")  # "página 21"
    if after and (not numbered or _counted(context.before_previous)):
        gender = n.gender_of_unit(after) or n.gender(after)
    if not gender and context.previous.lower() in n.listed("feminine_before"):
        gender = "f"
    minutes = context.previous == "h" and body[0] == "0"  # 1 h 05
    said = n.number(body.lstrip("0") or body if minutes else body, gender)
    noun = (n.unit(after) or [after])[0]
    if gender == "f" and noun[:1] in tuple("aeiouàèéìòù"):
        said = n.elided(said)
    scales = n.section("scales")
    if n.unit(after) and scales.get(said.rpartition(" ")[2]):
        said = n.linked(said, "").strip()
    return say(said)


def version(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read 2.0.1 and 192.168.1.1."""
    if not re.fullmatch(r"\d+(?:\.\d+){2,}", body):
        return None
    return say(f" {n.say('point')} ".join(map(n.number, body.split("."))))


def _counted(text: str) -> bool:
    return text[-1:].isdecimal()


def _begins_figure(text: str) -> bool:
    return text.lstrip("-−+")[:1].isdecimal()


# ------------------------------------------------------------------ dates and times of day


def date(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read 12/03/2026, 12.03.26, 2026-03-12, and 25/12 unless it is a fraction."""
    if iso := _ISO.fullmatch(body):
        return _date(int(iso[3]), int(iso[2]), iso[1], n)
    if full := _FULL.fullmatch(body):
        if full[2] == "." and len(full[4]) == 2:  # a version
            return None
        year = full[4] if len(full[4]) == 4 else f"20{full[4]}"
        day, month = int(full[1]), int(full[3])
        return _date(day, month, year, n) or _date(month, day, year, n)
    if issue := _ISSUE.fullmatch(body):
        number, year = issue[1], n.cardinal(int(issue[2]))
        if len(number) == 2 and 1 <= int(number) <= len(n.months):  # 05/2025
            form = n.date[n.date.index("{month}") :]
            return say(form.format(month=n.months[int(number) - 1], year=year))
        return say(f"{n.number(number)} {n.say('of')} {year}")  # of a law: 39/2015
    short = _SHORT.fullmatch(body)
    if not short:
        return None
    cued = context.previous.lower() in n.listed("date_cues") and len(short[2]) == 2
    zero = "0" in (short[1][0], short[2][0])
    if not (cued or zero or int(short[1]) > len(n.months)):
        return None
    return _date(int(short[1]), int(short[2]), "", n)


def _date(day: int, month: int, year: str, n: Vocabulary) -> Reading | None:
    if not (1 <= day <= 31 and 1 <= month <= len(n.months)):
        return None
    form = n.date if year else n.short_date
    said_day = n.first if day == 1 and n.first else n.cardinal(day)
    said_year = n.cardinal(int(year)) if year else ""
    return say(form.format(day=said_day, month=n.months[month - 1], year=said_year))


def first(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read the 1 of "1 gennaio" and of "em 1 de maio" as an ordinal."""
    if body != "1" or not n.first or context.punctuation:
        return None
    cued = context.after == "de" and context.previous.lower() in n.listed("first_cues")
    return say(n.first) if cued or context.after.lower() in n.months else None


def time(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read 14:30, 14h30, 3pm, and 14.30 behind "alle"."""
    if half := _HALF.fullmatch(body):
        return _ended(_hour(int(half[1]), n)[0], half[1], half[2], context, n)
    match = _TIME.fullmatch(body)
    if not match or int(match[1]) > 24 or int(match[3]) > 59:
        return None
    if match[2] == "." and context.previous.lower() not in n.section("clock")["cues"].split():
        return None
    if match[4]:
        return say(" ".join(n.cardinal(int(part)) for part in (match[1], match[3], match[4])))
    forms, minute = n.section("clock"), int(match[3])
    form = forms["full" if minute == 0 else "below_ten" if minute < 10 else "minutes"]
    hour, hours = _hour(int(match[1]), n)
    said = form.format(h=hour, hours=hours, m=n.cardinal(minute))
    return _ended(said, match[1], match[5], context, n) if match[5] else say(said)


def _hour(hour: int, n: Vocabulary) -> tuple[str, str]:
    """Return an hour in words, and the word for hours in its number."""
    said, _, hours = amount(str(hour), n.forms("clock", "hour"), n).rpartition(" ")
    return said, hours


def ratio(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read 16:9."""
    match = re.fullmatch(r"(\d{1,3}):(\d{1,3})", body)
    if not match:
        return None
    return say(f"{n.cardinal(int(match[1]))} {n.say('ratio')} {n.cardinal(int(match[2]))}")


def half_of_day(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read the "p. m." behind a time: "de la tarde". Its first token says nothing."""
    lower = body.lower().replace(".", "")
    dotted = context.punctuation.startswith(".")
    if lower == "m" and dotted and context.previous in ("a.", "p."):
        lower = context.previous[0] + lower
        behind = _HOUR.match(context.before_previous)
    else:
        behind = _HOUR.match(context.previous)
    if behind and lower in ("a", "p") and dotted and context.after == "m":
        return Reading((), "")
    if not behind or lower not in ("am", "pm"):
        return None
    return _ended("", behind[0], lower, context, n)


def _ended(said: str, hour: str, half: str, context: Context, n: Vocabulary) -> Reading:
    """Return a reading of a time, or of "", with the part of the day of an hour."""
    evening = half[0].lower() == "p" and _EVENING <= int(hour) < 12
    part = n.section("halves")["evening" if evening else f"{half[0].lower()}m"]
    return say(f"{said} {part}", context.mark_behind_dot(any_name=True))
