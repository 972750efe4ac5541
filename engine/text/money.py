"""Amounts of money: signs before or after, cents, millions, codes.

Invariant: the currency is said exactly once, after the whole amount, also when "million" is a
token of its own.
"""

import re

from engine.text import numbers
from engine.text.context import Context, Currency, Reading, Rule, say
from engine.text.numbers import NUMBER

_DOLLAR = Currency("dollar", "dollars", "cent", "cents")
_EURO = Currency("euro", "euros", "cent", "cents")
_POUND = Currency("pound", "pounds", "penny", "pence")
_YEN = Currency("yen", "yen")


def _dollars_of(country: str) -> Currency:
    return Currency(f"{country} dollar", f"{country} dollars", "cent", "cents")


_SIGNS = {
    "US$": _dollars_of("US"),
    "CA$": _dollars_of("Canadian"),
    "C$": _dollars_of("Canadian"),
    "AU$": _dollars_of("Australian"),
    "A$": _dollars_of("Australian"),
    "NZ$": _dollars_of("New Zealand"),
    "HK$": _dollars_of("Hong Kong"),
    "R$": Currency("real", "reais"),
    "$": _DOLLAR,
    "€": _EURO,
    "£": _POUND,
    "¥": _YEN,
    "₹": Currency("rupee", "rupees"),
    "₩": Currency("won", "won"),
    "₽": Currency("ruble", "rubles"),
    "₿": Currency("bitcoin", "bitcoins"),
    "¢": Currency("cent", "cents"),
}
_CODES = {
    "USD": _dollars_of("US"),
    "CAD": _dollars_of("Canadian"),
    "AUD": _dollars_of("Australian"),
    "EUR": _EURO,
    "GBP": Currency("British pound", "British pounds", "penny", "pence"),
    "JPY": Currency("Japanese yen", "Japanese yen"),
    "CHF": Currency("Swiss franc", "Swiss francs"),
    "CNY": Currency("Chinese yuan", "Chinese yuan"),
    "INR": Currency("Indian rupee", "Indian rupees"),
    "BTC": Currency("bitcoin", "bitcoins"),
}
SCALES = ("thousand", "million", "billion", "trillion")
_LETTER_SCALES = {
    "k": "thousand", "m": "million", "mn": "million", "mm": "million", "b": "billion",
    "bn": "billion", "t": "trillion", "tn": "trillion",
}  # fmt: skip
_SIGN = "|".join(re.escape(sign) for sign in _SIGNS)
_SCALE = r"(?:(k|mn|mm|m|bn|b|tn|t|K|M|B|T)\b|-?(thousand|million|billion|trillion))?"
_BEFORE = re.compile(rf"([-+~]?)({_SIGN})(-?)({NUMBER})(\+?){_SCALE}(\+?)")
_BEFORE_RANGE = re.compile(rf"({_SIGN})({NUMBER}){_SCALE}[-–](?:{_SIGN})?({NUMBER}){_SCALE}")
_BEHIND = re.compile(rf"([-+~]?)({NUMBER}){_SCALE}({_SIGN}|USD|EUR|GBP|JPY)")
_PER = re.compile(r"([^/]*\d[^/]*)/([a-zA-Z]+)")
_PERIODS = {
    "mo": "month", "hr": "hour", "h": "hour", "yr": "year", "wk": "week", "lb": "pound",
    "kg": "kilogram", "mi": "mile", "km": "kilometer", "oz": "ounce", "gal": "gallon",
    "sqft": "square foot", "kWh": "kilowatt hour", "GB": "gigabyte", "min": "minute",
}  # fmt: skip


def amount(core: str, context: Context) -> Reading | None:
    """$49.95, -$5, $1.5 million, $5M, 20€, US$3, 5¢"""
    match = _BEFORE.fullmatch(core)
    if match:
        sign, symbol, inner_sign, figure, _, letter, word, plus = match.groups()
        scale = _LETTER_SCALES.get((letter or "").lower(), word)
        lead = {"-": "minus", "+": "plus", "~": "about"}.get(sign or inner_sign, "")
        tail = "plus" if plus or match[5] else ""
        return _amount(f"{lead} @ {tail}", figure, scale, symbol, context)
    match = _BEHIND.fullmatch(core)
    if match:
        sign, figure, letter, word, symbol = match.groups()
        scale = _LETTER_SCALES.get((letter or "").lower(), word)
        lead = {"-": "minus", "+": "plus", "~": "about"}.get(sign, "")
        return _amount(f"{lead} @", figure, scale, symbol, context)
    return None


def spread(core: str, context: Context) -> Reading | None:
    """$5-10, $5-$10, $5-10 million, $5M-$10M"""
    match = _BEFORE_RANGE.fullmatch(core)
    if not match:
        return None
    symbol, low, low_letter, low_word, high, high_letter, high_word = match.groups()
    low_scale = _LETTER_SCALES.get((low_letter or "").lower(), low_word) or ""
    high_scale = _LETTER_SCALES.get((high_letter or "").lower(), high_word) or ""
    figures = f"{numbers.number(low)} {low_scale} to {numbers.number(high)} {high_scale}"
    if not high_scale and _scale_follows(context):
        return Reading(tuple(figures.split()), currency=_SIGNS[symbol])
    return say(f"{figures} {_SIGNS[symbol].many}")


def per(core: str, context: Context) -> Reading | None:
    """$5/month, €20/h"""
    match = _PER.fullmatch(core)
    if not match:
        return None
    said = spread(match[1], context) or amount(match[1], context)
    if said is None:
        return None
    return Reading((*said.words, "per", *_PERIODS.get(match[2], match[2]).split()), said.mark)


def owed(core: str, context: Context) -> Reading | None:
    """The "million" of "$1.5 million", and the number of "USD 50"."""
    currency = context.currency
    if currency is None:
        return None
    if core.lower() in SCALES:
        adjective = context.is_adjective(context.before_previous)
        return say(f"{core} {currency.one if adjective else currency.many}")
    if re.fullmatch(NUMBER, core):
        return say(_price(core, currency))
    return None


def code(core: str, context: Context) -> Reading | None:
    """50 USD, USD 50"""
    currency = _CODES.get(core) or _SIGNS.get(core)
    if currency is None:
        return None
    if context.after_number or context.previous.lower() in SCALES:
        return say(currency.one if numbers.is_one(context.previous) else currency.many)
    if not context.tail and re.fullmatch(NUMBER, context.after):
        return Reading((), currency=currency)
    return None if core in _CODES else say(currency.one)


def _amount(frame: str, figure: str, scale: str | None, symbol: str, context: Context) -> Reading:
    """`frame` holds the words around the amount, with @ in its place."""
    currency = _SIGNS.get(symbol) or _CODES[symbol]
    if scale:
        said = f"{numbers.number(figure)} {scale} {currency.many}"
        return say(frame.replace("@", said))
    if _scale_follows(context):
        lead = frame.replace("@", numbers.number(figure))
        return Reading(tuple(lead.split()), currency=currency)
    if "." not in figure and context.is_adjective(context.previous):
        return say(frame.replace("@", f"{numbers.number(figure)} {currency.one}"))
    return say(frame.replace("@", _price(figure, currency)))


def _scale_follows(context: Context) -> bool:
    return not context.tail and context.after.lower() in SCALES


def _price(figure: str, currency: Currency) -> str:
    """Whole units and hundredths; a fraction that is not in hundredths is read as a decimal."""
    whole, _, rest = figure.replace(",", "").partition(".")
    units = int(whole or 0)
    said = f"{numbers.number(whole or '0')} {currency.one if units == 1 else currency.many}"
    if not rest.strip("0") and len(rest) in (0, 2):
        return said
    if len(rest) != 2 or not currency.cent:
        return f"{numbers.number(figure)} {currency.many}"
    hundredths = int(rest)
    cents = f"{numbers.cardinal(hundredths)} {currency.cent if hundredths == 1 else currency.cents}"
    return f"{said} and {cents}" if units else cents


RULES: tuple[Rule, ...] = (owed, spread, amount, per, code)
