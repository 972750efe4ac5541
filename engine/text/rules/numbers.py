"""Numbers in American English words: cardinals, ordinals, years, digits, fractions.

Invariant: no result contains a digit, whatever digits come in. Why not num2words: its import takes
0.13 s (it loads every language) and its "and" and commas would have to be removed again. The tests
use it as their oracle.
"""

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ("", " thousand", " million", " billion", " trillion")
_IRREGULAR = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
_MOST_DIGITS = 15  # longer numbers are hard to follow and are read digit by digit

NUMBER = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"
"""A number as written, without its sign, as part of other patterns."""

_NO_PART_BEFORE, _NO_PART_BEHIND = r"(?<![\w.,':])", r"(?![.,']?\d)"
_FOREIGN = re.compile(
    _NO_PART_BEFORE + r"(?:"
    r"(?P<apostrophes>\d{1,3}(?:'\d{3})+(?:\.\d+)?)"  # 1'234.50
    r"|(?P<indian>\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?)"  # 1,23,456
    r"|(?P<dots>\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}(?:\.\d{3})+,\d+)"  # 1.234.567,89
    r"|(?P<whole>\d+[.,][-–]+)"  # 5,-
    r"|(?P<decimal>0,\d+|\d+,(?:\d\d?|\d{4,}))"  # 3,14; but 1,234 are thousands
    r")" + _NO_PART_BEHIND
)
_NETWORK_ADDRESS = re.compile(r"(?:(?:1?\d?\d|2[0-4]\d|25[0-5])(?:\.|$)){4}")

UNICODE_FRACTIONS = {
    "½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅕": "1/5", "⅛": "1/8",
    "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip


FRACTION = (
    rf"(?:\d{{1,3}}[-–])?[1-9]\d?/(?:10|12|16|32|64|[2-68])|\d{{0,3}}[{''.join(UNICODE_FRACTIONS)}]"
)
"""1/2, 2-1/2 or 2½, as part of other patterns."""
_FRACTION = re.compile(r"(?:(\d+)[-–])?(\d+)/(\d+)")


def american(text: str) -> str:
    """Return a text with other countries' numbers as NUMBER expects them: 1.234,5; 3,14."""

    def rewritten(match: re.Match[str]) -> str:
        figure = match[0]
        if match["dots"] and not _NETWORK_ADDRESS.fullmatch(figure):
            return figure.replace(".", "").replace(",", ".")
        if match["whole"]:
            return figure.rstrip("-–")[:-1]
        if match["decimal"]:
            return figure.replace(",", ".")
        return figure if match["dots"] else re.sub("[',]", "", figure)

    return _FOREIGN.sub(rewritten, text)


def cardinal(value: int) -> str:
    """`value`, at least 0, in words; from 10^15 on digit by digit."""
    if value >= 10**_MOST_DIGITS:
        return digits(str(value))
    if value < 1000:
        return _below_thousand(value)
    groups: list[str] = []
    for scale in _SCALES:
        value, group = divmod(value, 1000)
        groups += [_below_thousand(group) + scale] if group else []
    return " ".join(reversed(groups))


def ordinal(value: int) -> str:
    """ "twenty-first" for 21."""
    return ordinal_of(cardinal(value))


def ordinal_of(words: str) -> str:
    """The ordinal of a cardinal in words."""

    def ordinal_word(last: re.Match[str]) -> str:
        word = last[0]
        return _IRREGULAR.get(word) or (f"{word[:-1]}ieth" if word.endswith("y") else f"{word}th")

    return re.sub(r"[a-z]+$", ordinal_word, words)


def year(value: int) -> str:
    """Return a year from 1010 to 9999 ("nineteen oh five"), any other number as a cardinal."""
    century, rest = divmod(value, 100)
    if not 1010 <= value <= 9999 or (century % 10 == 0 and rest < 10):
        return cardinal(value)
    return _pairs(century, rest)


def decade(value: int) -> str:
    """ "nineteen nineties" for 1990, "nineties" for 90."""
    return plural(year(value) if value >= 1000 else cardinal(value))


def plural(words: str) -> str:
    """Return the words with the last one in the plural: "nineties", "hundreds"."""
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith("x") else "s")


def digits(text: str) -> str:
    """Return the digits in words, one by one, without other characters."""
    return " ".join(_SMALL[int(char)] for char in text if char in "0123456789")


def two_figures(text: str) -> str:
    """Two figures of a time or a year: "oh five" for 05."""
    if text == "00":
        return "oh oh"
    return ("oh " if text[0] == "0" else "") + cardinal(int(text))


def number(text: str) -> str:
    """A match of NUMBER with an optional sign, in words: "minus one thousand point five"."""
    sign = {"-": "minus ", "–": "minus ", "+": "plus "}.get(text[:1], "")
    body = (text[1:] if sign else text).replace(",", "")
    whole, point, fraction = body.partition(".")
    if (len(whole) > 1 and whole[0] == "0" and not point) or len(whole) > _MOST_DIGITS:
        words = digits(whole)
    else:
        words = cardinal(int(whole)) if whole else ""
    if point:
        words = f"{words} point {digits(fraction)}".strip()
    return sign + words


def code(text: str) -> str:
    """Figures of a name: A320 is "three twenty", AA1234 "twelve thirty-four"."""
    if text[0] == "0" or len(text) > 4:
        return digits(text)
    if len(text) <= 2 or text.endswith("000") or (len(text) == 3 and text.endswith("00")):
        return cardinal(int(text))
    return _pairs(int(text[:-2]), int(text[-2:]))


def is_one(text: str) -> bool:
    """Return whether a number as written takes the singular: 1, and fractions below 1."""
    bare = text.lstrip("+-–~≈<>≤≥=")
    top, slash, bottom = bare.partition("/")
    part = slash and top.isdecimal() and bottom.isdecimal() and int(top) < int(bottom)
    return bare == "1" or bare in UNICODE_FRACTIONS or bool(part)


def fraction(numerator: int, denominator: int) -> str:
    """ "three quarters", "two fifths"; "eight out of ten"; "x over y" for other denominators."""
    top = cardinal(numerator)
    if (denominator in (10, 100) and numerator > 1) or numerator == denominator:
        return f"{top} out of {cardinal(denominator)}"
    if denominator in (2, 4):
        one, many = {2: ("half", "halves"), 4: ("quarter", "quarters")}[denominator]
        return f"{top} {one if numerator == 1 else many}"
    if not 3 <= denominator <= 20 or numerator == 0:
        return f"{top} over {cardinal(denominator)}"
    return f"{top} {ordinal(denominator)}{'' if numerator == 1 else 's'}"


def amount(text: str) -> str:
    """The words of a match of NUMBER or FRACTION, with an optional sign: "two and a half"."""
    sign = text[0] if text[0] in "-–+" else ""
    body = text.removeprefix(sign)
    if body[-1] in UNICODE_FRACTIONS:
        body = f"{body[:-1]}-{UNICODE_FRACTIONS[body[-1]]}".lstrip("-")
    match = _FRACTION.fullmatch(body)
    if not match:
        return number(text)
    words = mixed(match[1] or "", int(match[2]), int(match[3]))
    return {"+": "plus ", "": ""}.get(sign, "minus ") + words


def mixed(whole: str, numerator: int, denominator: int) -> str:
    """ "five and a half"; `whole` may be empty."""
    part = fraction(numerator, denominator)
    if not whole:
        return part
    return f"{number(whole)} and " + re.sub(r"^one ", "a ", part)


def _pairs(hundreds: int, rest: int) -> str:
    """ "nineteen hundred", "nineteen oh five", "nineteen eighty"."""
    if rest == 0:
        return cardinal(hundreds) + " hundred"
    return f"{cardinal(hundreds)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def _below_thousand(value: int) -> str:
    if value < 20:
        return _SMALL[value]
    if value < 100:
        tens, rest = divmod(value, 10)
        return _TENS[tens] + (f"-{_SMALL[rest]}" if rest else "")
    hundreds, rest = divmod(value, 100)
    return f"{_SMALL[hundreds]} hundred" + (f" {_below_thousand(rest)}" if rest else "")
