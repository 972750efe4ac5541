"""Numbers and durations as people write and say them: parsing and phrasing.

Invariant: parsers take canonical text (see canonical.py) and return None for anything else than a
single quantity; what they return is finite.
"""

import math
import re

from engine.llm.skills.matching.intent import NotMeant

MAX_NUMBER = 1e15  # beyond it, whole numbers lose their last digits as floats
SECONDS_IN = {
    unit: size
    for size, units in (
        (1, "second sec s"),
        (60, "minute min m"),
        (3600, "hour hr h"),
        (86400, "day"),
        (7 * 86400, "week"),
        (30 * 86400, "month"),  # nobody counts these by the second
        (365 * 86400, "year"),
    )
    for unit in units.split()
}

_HUNDREDS_AND = re.compile(r"\b(\d*?[1-9]\d*?)(00+) and (\d+)(?![\d/])(?! ?/)")
_FRACTIONS = {"half": 0.5, "quarter": 0.25, "third": 1 / 3, "3rd": 1 / 3}
_NUMBER = re.compile(r"^(minus |negative )?-?\s?\d+(?:\.\d+)?$")
_RATIO = re.compile(r"^(?:(\d+) )?(\d+) ?/ ?([1-9]\d*)(?: of an?)?$")
_SHARE = re.compile(r"^(?:(\d+) )?(half|quarter|third|3rd)s?(?: of)?(?: an?)?$")
_WITH_SHARE = re.compile(r"^(.+?) and (?:an? |1 )?((?:\d+ )?(?:half|quarters?|thirds?|3rd))$")
# "1 minute 30": seconds after minutes, minutes after hours.
_TRAILING = re.compile(r"(hour|hr|minute|min)(s?)(?: and)? (\d+)$")
_ARTICLE = re.compile(r"^an? (?=\S)")
_DURATION_PART = re.compile(
    r"^(?P<count>.+?) (?P<unit>" + "|".join(SECONDS_IN) + r")s?"
    r"(?: and an? (?P<share>half|quarter))?(?:,? and |,? |$)"
)


def parse_number(text: str) -> float | None:
    """The number in "10", "-2.5", "minus 3", "a", "half a", "2 and a half", "1/2" or "2 1/2"."""
    text = text.strip()
    if text in {"a", "an", "1 single"}:
        return 1.0
    if text in {"a couple of", "a couple"}:
        return 2.0
    if text in {"a dozen", "1 dozen"}:
        return 12.0
    if match := _WITH_SHARE.match(text):
        whole, share = parse_number(match[1]), parse_number(match[2])
        return None if whole is None or share is None else whole + share
    text = joined_hundreds(_ARTICLE.sub("", text))
    if _NUMBER.match(text):
        sign = -1.0 if text.startswith(("minus", "negative", "-")) else 1.0
        value = sign * float(re.sub(r"[^\d.]", "", text))
        return value if abs(value) <= MAX_NUMBER else None
    if match := _RATIO.match(text):
        return float(match[1] or 0) + float(match[2]) / float(match[3])
    if match := _SHARE.match(text):
        return float(match[1] or 1) * _FRACTIONS[match[2]]
    return None


def joined_hundreds(text: str) -> str:
    """One number where a recogniser writes two: "100 and 7" -> "107"."""

    def joined(match: re.Match[str]) -> str:
        head, zeros, rest = match.groups()
        return f"{head}{rest.zfill(len(zeros))}" if len(rest) <= len(zeros) else match[0]

    return _HUNDREDS_AND.sub(joined, text)


def number(text: str) -> float:
    """Return the number that parse_number() finds. NotMeant if it finds none."""
    return _meant(parse_number(text))


def duration(text: str) -> float:
    """Return the duration that parse_duration() finds. NotMeant if it finds none."""
    return _meant(parse_duration(text))


def _meant(value: float | None) -> float:
    if value is None:
        raise NotMeant
    return value


def parse_duration(text: str) -> float | None:
    """Seconds in "10 minutes", "1 hour and 30 minutes", "half an hour", "1 and a half hours"."""
    rest = re.sub(r"\b([hm])(?=\d)", r"\1 ", text.strip())
    if match := _TRAILING.search(rest):
        rest += " minutes" if match[1].startswith("h") else " seconds"
    total = 0.0
    while rest:
        match = _DURATION_PART.match(rest)
        count = parse_number(match["count"]) if match else None
        if match is None or count is None or count < 0:
            return None
        share = _FRACTIONS[match["share"]] if match["share"] else 0.0
        total += (count + share) * SECONDS_IN[match["unit"]]
        rest = rest[match.end() :]
    return total if 0 < total <= MAX_NUMBER else None


def figure(value: float) -> str:
    """A number as written in an answer: at most four decimals, thousands separated from 10,000."""
    if abs(value) >= MAX_NUMBER:
        mantissa, exponent = f"{value:.3e}".split("e")
        return f"{float(mantissa):g} times 10 to the power of {int(exponent)}"
    shown = rounded(value)
    if shown == int(shown):
        return f"{int(shown):,}" if abs(shown) >= 10_000 else str(int(shown))
    decimals = max(0, min(12, 4 - math.ceil(math.log10(abs(shown))))) if abs(shown) < 1 else 4
    return f"{shown:,.{decimals}f}".rstrip("0").rstrip(".")


def rounded(value: float) -> float:
    """Four decimals, or four significant digits for small numbers: what figure() shows."""
    if value == 0 or not math.isfinite(value):
        return 0.0
    if abs(value) >= 1:
        return round(value, 4)
    return float(f"{value:.4g}")


def counted(number: int, unit: str) -> str:
    """ "1 day", "2 days" """
    return f"{number} {unit}{'' if number == 1 else 's'}"


def duration_phrase(seconds: float) -> str:
    """Seconds in words with figures: 5400 -> "1 hour and 30 minutes"."""
    rest = max(0, round(seconds))
    parts: list[str] = []
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(counted(count, unit))
    return enumeration(parts) or "0 seconds"


def enumeration(items: list[str] | tuple[str, ...], joint: str = "and") -> str:
    """["a", "b", "c"] -> "a, b and c"."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {joint} {items[-1]}"
