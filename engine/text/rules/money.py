"""Amounts of money: signs before or after, cents, millions, codes.

Invariant: the currency is said exactly once, after the whole amount, also when "million" is a
token of its own.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile, zip_longest

from engine.text.rules import numbers, units
from engine.text.rules.context import SCALES, Context, Currency, Reading, say
from engine.text.rules.numbers import NUMBER
from engine.text.tables import section, words

_CODES = {code: Currency(*names) for code, names in section("money", "codes").items()}
_SIGNS = {sign: Currency(*names) for sign, names in section("money", "signs").items()} | {
    f"{code}$": currency for code, currency in _CODES.items() if currency.one.endswith("dollar")
}
_CODES |= {code.lower(): currency for code, currency in _CODES.items() if code != "TRY"}
_LETTER_SCALES = section("money", "scales")
_SIGN = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))
_SCALE = (
    rf"(?:(?i:{'|'.join(sorted(_LETTER_SCALES, reverse=True))})(?=\b|{'|'.join(_CODES)})"
    "|-?(?:thousand|million|billion|trillion))?"
)
_SIGNED, _FIGURE = rf"(?P<sign>{_SIGN})", rf"(?P<figure>{NUMBER})(?P<scale>{_SCALE})"
_CODE = "|".join(_CODES)
_CAPITALS = "|".join(code for code in _CODES if code.isupper())
_HIGH = rf"(?P<high>{NUMBER})(?P<high_scale>{_SCALE})"
_BEFORE = re.compile(
    rf"(?P<lead>[-+]?)(?P<sign>{_SIGN}|{_CAPITALS})(?P<inner_lead>-?){_FIGURE}(?P<code>{_CODE})?"
)
_BEHIND = re.compile(rf"(?P<lead>[-+]?){_FIGURE}(?P<sign>{_SIGN}|{_CODE})")
_BEFORE_RANGE = re.compile(rf"{_SIGNED}{_FIGURE}[-–~](?:{_SIGN})?{_HIGH}")
_BEHIND_RANGE = re.compile(rf"{_FIGURE}(?:{_SIGN})?[-–~]{_HIGH}{_SIGNED}")
_FIGURES = re.compile(rf"({NUMBER})[-–~]({NUMBER})")
_SCALED = re.compile(_FIGURE)
_PER_HYPHEN = re.compile(r"([^-]*\d[^-]*)-(an?|per)-([a-z]+)")
_PER = re.compile(r"([^/]*\d[^/]*)((?:/[a-zA-Z]+(?:\^[23])?)+)")
_PER_MANY = re.compile(r"([^/]*\d[^/]*)/(1\d*[kKM]|100+)")
_ANY_SIGN = "".join(_SIGNS)
_PRICED = re.compile(rf"(?:{_SIGN})?\d")
_LETTERED = {letter: said.split() for letter, said in section("money", "lettered").items()}
_NOUNS = words("money", "nouns")
_PENCE = re.compile(r"(\d{1,2})p")
_IN_HUNDREDTHS = re.compile(r"[\d,]+\.\d\d|\d{1,3}\.\d{3}")
_GROUPED_BY_DOT = re.compile(r"\d{1,3}\.\d{3}")


def amount(body: str, context: Context) -> Reading | None:
    """Read tokens such as $49.95, -$5, $1.5 million, $5M, 20€, US$3, 5¢."""
    if match := _BEFORE.fullmatch(body) or _BEHIND.fullmatch(body):
        return _amount(match.groupdict(), context)
    if pence := _PENCE.fullmatch(body):
        return say(f"{numbers.number(pence[1])} {'penny' if pence[1] == '1' else 'pence'}")
    return None


def spread(body: str, context: Context) -> Reading | None:
    """Read tokens such as $5-10, $5-$10, $5-10 million, $5M-$10M, $19.99-$24.99, 5-10€."""
    match = _BEFORE_RANGE.fullmatch(body) or _BEHIND_RANGE.fullmatch(body)
    if match is None:
        return None
    low, high, currency = match["figure"], match["high"], _SIGNS[match["sign"]]
    low_scale, high_scale = _scale(match["scale"]), _scale(match["high_scale"])
    figures = f"{numbers.number(low)} {low_scale} to {numbers.number(high)} {high_scale}"
    if not high_scale and _scale_follows(context):
        return Reading(tuple(figures.split()), currency=currency)
    if context.describes(context.previous):
        return say(f"{figures} {currency.one}")
    scaled = low_scale or high_scale
    return say(f"{figures} {currency.many}" if scaled else _price_range(low, high, currency))


def _price_range(low: str, high: str, currency: Currency) -> str:
    """Return the words of a price range. The currency of whole prices is said once."""
    if currency.cent and any(map(_IN_HUNDREDTHS.fullmatch, (low, high))):
        return f"{_price(low, currency)} to {_price(high, currency)}"
    return f"{numbers.number(low)} to {numbers.number(high)} {currency.many}"


def per(body: str, context: Context) -> Reading | None:
    """Read tokens such as $5/month, €20/h, $10/user/month, $9.99/mo.; $1,000-a-month; $5/1M."""
    hyphened = _PER_HYPHEN.fullmatch(body)
    if hyphened and (price := amount(hyphened[1], context)):
        return Reading((*price.words, hyphened[2], hyphened[3]))
    many = _PER_MANY.fullmatch(body)
    if many and (price := amount(many[1], replace(context, punctuation="/"))):
        count = many[2].rstrip("kKM")
        behind = f"per {numbers.number(count)} {_scale(many[2][len(count) :])}"
        return Reading((*price.words, *behind.split()))
    match = _PER.fullmatch(body)
    if not match:
        return None
    reading = spread(match[1], context) or amount(match[1], context)
    if reading is None:
        return None
    names = match[2].strip("/").split("/")
    words = " ".join(f"per {units.one(name)}" for name in names).split()
    short = units.one(names[-1]) != names[-1]
    mark = context.mark_behind_dot(any_name=True) if short else reading.mark
    return Reading((*reading.words, *words), mark)


def pending_currency(body: str, context: Context) -> Reading | None:
    """Read the "million" of "$1.5 million", the number of "USD 50", with the pending currency."""
    currency = context.currency
    if currency is None:
        return None
    if _is_scale(body):
        if _is_label(body, context):
            single = context.previous.strip(_ANY_SIGN) == "1" or context.describes(
                context.before_previous
            )
            return say(f"{currency.one if single else currency.many} {body}")
        if body.lower() == "hundred" and _scale_follows(context):
            return Reading((body,), currency=currency)
        adjective = context.describes(context.before_previous)
        return say(f"{_scale(body)} {currency.one if adjective else currency.many}")
    spread_figures = _FIGURES.fullmatch(body)
    if spread_figures:
        return say(_price_range(spread_figures[1], spread_figures[2], currency))
    match = _SCALED.fullmatch(body)
    if not match:
        return None
    if scale := _scale(match["scale"]):
        return say(f"{numbers.number(match['figure'])} {scale} {currency.many}")
    if _scale_follows(context):
        return Reading(tuple(numbers.number(body).split()), currency=currency)
    return say(_price(body, currency))


def before_sign(body: str, context: Context) -> Reading | None:
    """Read the number of "2,50 €" or "10.000 €" with the currency."""
    if not _IN_HUNDREDTHS.fullmatch(body) or context.punctuation:
        return None
    currency = _priced(body, context.after.partition("/")[0])
    return say(_price(body, currency)) if currency else None


def code(body: str, context: Context) -> Reading | None:
    """Read tokens such as 50 USD, USD 50."""
    if (said := _repeated(body, context)) is not None:
        return said
    dotted = _SIGNS.get(body + ".") if context.punctuation.startswith(".") else None
    currency = _CODES.get(body) or _SIGNS.get(body) or dotted
    if currency is None:
        return None
    if context.after_number or _is_scale(context.previous) or _SCALED.fullmatch(context.previous):
        return say(currency.one if numbers.is_one(context.previous) else currency.many)
    after = numbers.american(context.after) if context.punctuation in ("", ".") else ""
    if _SCALED.fullmatch(after) or _FIGURES.fullmatch(after):
        return Reading((), currency=currency)
    return None if body in _CODES else say(currency.one)


def code_per(body: str, context: Context) -> Reading | None:
    """Read the €/month of "10 €/month"."""
    sign, slash, unit = body.partition("/")
    said = code(sign, context) if slash and context.after_number else None
    return said and replace(said, words=(*said.words, "per", *units.one(unit).split()))


def _amount(parts: Mapping[str, str], context: Context) -> Reading:
    figure, currency = parts["figure"], _SIGNS.get(parts["sign"]) or _CODES[parts["sign"]]
    named = _CODES.get(parts.get("code") or "")
    behind = _CODES.get("" if context.punctuation else context.after)  # "$20 USD"
    if not named and behind and behind.one.endswith(currency.one):
        named = behind
    currency = named or currency
    sign = parts["lead"] or parts.get("inner_lead", "")
    lead = {"-": "minus", "+": "plus"}.get(sign, "")
    if scale := _scale(parts["scale"]):
        name = currency.one if context.describes(context.previous) else currency.many
        return say(f"{lead} {numbers.number(figure)} {scale} {name}")
    if _scale_follows(context):
        return Reading(tuple(f"{lead} {numbers.number(figure)}".split()), currency=currency)
    is_noun = context.describes(context.previous) or (
        not context.punctuation and context.after in _NOUNS
    )
    if "." not in figure and is_noun:
        return say(f"{lead} {numbers.number(figure)} {currency.one}")
    return say(f"{lead} {_price(figure, currency)}")


def _scale(written: str) -> str:
    """Return the word for "k", "bn" or "-million"; "" for no scale."""
    return _LETTER_SCALES.get(written.lower(), written.removeprefix("-"))


def _is_scale(word: str) -> bool:
    """Return whether a token of its own is "million" or "mil"."""
    return word.lower() in SCALES or word.lower() in _LETTER_SCALES


def _is_label(body: str, context: Context) -> bool:
    """Return whether a letter behind an amount is a name: A $4 B $5, $5 B: it, $5 T shirt."""
    if len(body) > 1:
        return False
    sentence = list(takewhile(lambda past: past.mark not in tuple(".?!"), context.past[1:]))
    labels = (
        past
        for past, before in zip_longest(sentence, context.past[2:])
        if past
        and re.fullmatch("[A-HJ-Z]", past.body)
        and not (before and re.search(r"\d", before.body))
    )
    if ":" in context.punctuation or any(past.mark or past.body != "A" for past in labels):
        return True
    after = "" if context.punctuation else context.after
    return bool(_PRICED.match(after)) or after.lower() in _LETTERED.get(body, ())


def _repeated(body: str, context: Context) -> Reading | None:
    """A code or a name of which the amount before has said enough: 2,50 €; $20 USD; $20 dollars;
    "five million dollars US"."""
    if context.after_number and _priced(context.previous, body):
        return Reading(())
    scaled = _is_scale(context.previous)
    match = _BEFORE.fullmatch(context.before_previous if scaled else context.previous)
    currency = _SIGNS.get(match["sign"]) if match else None
    if currency is None or not (body in _CODES or body in (currency.one, currency.many)):
        return None
    name = _CODES[body].one.removesuffix(currency.one) if scaled and body in _CODES else ""
    return say(name)


def _priced(figure: str, sign: str) -> Currency | None:
    """Return the currency to say after the figure. An exchange rate, 0.92 EUR, is not a price."""
    currency = _CODES.get(sign) or _SIGNS.get(sign)
    rate = sign in _CODES and figure.startswith("0")
    priced = currency and currency.cent and not rate and _IN_HUNDREDTHS.fullmatch(figure)
    return currency if priced else None


def _scale_follows(context: Context) -> bool:
    return not context.punctuation and _is_scale(context.after)


def _price(figure: str, currency: Currency) -> str:
    """Whole units and hundredths; a fraction that is not in hundredths is read as a decimal."""
    if _GROUPED_BY_DOT.fullmatch(figure) and currency != _SIGNS["$"]:  # fuel costs $3.499
        figure = figure.replace(".", "")
    whole, _, rest = figure.replace(",", "").partition(".")
    units = int(whole or 0)
    words = f"{numbers.number(whole or '0')} {currency.one if units == 1 else currency.many}"
    if not rest.strip("0") and len(rest) in (0, 2):
        return words
    if len(rest) != 2 or not currency.cent:
        return f"{numbers.number(figure)} {currency.many}"
    hundredths = int(rest)
    cents = f"{numbers.cardinal(hundredths)} {currency.cent if hundredths == 1 else currency.cents}"
    return f"{words} and {cents}" if units else cents


RULES = (pending_currency, spread, amount, per, before_sign, code)
