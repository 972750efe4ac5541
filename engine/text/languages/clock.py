"""Dates and times of day."""

import re

from engine.text.languages.amounts import amount
from engine.text.languages.vocabulary import NUMBER, Vocabulary
from engine.text.rules.context import Context, Reading, say

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
        return _issue(issue[1], issue[2], n)
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


def _issue(number: str, year: str, n: Vocabulary) -> Reading:
    """Read 05/2025, a month, and the number of a law in its year: 39/2015."""
    if len(number) == 2 and 1 <= int(number) <= len(n.months):
        form = n.date[n.date.index("{month}") :]
        return say(form.format(month=n.months[int(number) - 1], year=n.cardinal(int(year))))
    return say(f"{n.number(number)} {n.say('of')} {n.cardinal(int(year))}")


def first(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read the 1 of "1 gennaio" and of "em 1 de maio" as an ordinal."""
    if body != "1" or not n.first or context.punctuation:
        return None
    cued = context.after == "de" and context.previous.lower() in n.listed("first_cues")
    return say(n.first) if cued or context.after.lower() in n.months else None


def time(body: str, context: Context, n: Vocabulary) -> Reading | None:
    """Read 14:30, 14h30, 3pm, and 14.30 behind "alle"."""
    if half := _HALF.fullmatch(body):
        hour, _ = _hour(int(half[1]), n)
        return _ended(f"{hour} {_part_of_day(half[1], half[2], n)}", context)
    match = _TIME.fullmatch(body)
    if not match or int(match[1]) > 24 or int(match[3]) > 59:
        return None
    if match[2] == "." and context.previous.lower() not in n.section("clock")["cues"].split():
        return None
    if match[4]:
        return say(" ".join(n.cardinal(int(part)) for part in (match[1], match[3], match[4])))
    said = _clock(int(match[1]), int(match[3]), n)
    return (
        _ended(f"{said} {_part_of_day(match[1], match[5], n)}", context) if match[5] else say(said)
    )


def _clock(hour: int, minute: int, n: Vocabulary) -> str:
    forms = n.section("clock")
    form = forms["full" if minute == 0 else "below_ten" if minute < 10 else "minutes"]
    said, hours = _hour(hour, n)
    return form.format(h=said, hours=hours, m=n.cardinal(minute))


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
    return _ended(_part_of_day(behind[0], lower, n), context)


def _ended(words: str, context: Context) -> Reading:
    return say(words, context.mark_behind_dot(any_name=True))


def _part_of_day(hour: str, half: str, n: Vocabulary) -> str:
    evening = half[0].lower() == "p" and _EVENING <= int(hour) < 12
    return n.section("halves")["evening" if evening else f"{half[0].lower()}m"]
