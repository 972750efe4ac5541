"""Amounts: money, measures, ordinals, fractions, and plain numbers."""

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
    forms = n.unit(match[2]) if match else []
    return say(amount(match[1], forms, n)) if match and forms else None


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
    else:
        part = _part(int(match[1]), int(match[2]), n)
    if whole or behind:
        number = f"{n.number(whole, gender)} " if whole else ""
        part = f"{number}{n.say('mixed')} {part}"
    return say(part)


def _part(top: int, bottom: int, n: Vocabulary) -> str:
    if str(bottom) not in n.section("fractions"):
        return f"{n.cardinal(top)} {n.say('over')} {n.cardinal(bottom)}"
    one, many = n.forms("fractions", str(bottom))
    return f"{n.cardinal(top, 'm')} {one if top == 1 else many}"


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
