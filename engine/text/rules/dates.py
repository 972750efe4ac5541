"""Dates, years and times of day.

Invariant: a bare number is a day only beside the name of a month and a year only where the words
around it say so, or where it looks like a year and counts nothing.
"""

import re

from engine.text.pronunciation import initialisms
from engine.text.rules import numbers, units
from engine.text.rules.context import Context, Reading, form, is_counted, is_name, matching, say
from engine.text.rules.figures import VERSIONED
from engine.text.tables import listed, section, words

MONTHS = listed("dates", "months")
_SHORT_MONTHS = {
    short: month
    for month in MONTHS
    for short in ({month[:3], "Sept"} if month == "September" else {month[:3]})
    if short != month
}
_SAFE_SHORT = _SHORT_MONTHS.keys() - {"Mar", "Jan"}  # "Mar" and "Jan" are names too
_OTHER_CASES = frozenset(
    form
    for name in {*MONTHS, *_SHORT_MONTHS} - {"May", "March", "Mar"}
    for form in (name.lower(), name.upper())
)
_DATED = words("dates", "dated")
_ZONES = words("dates", "zones")
_NAMED_MONTH, _NAMED_DAY = r"(?P<month>[A-Za-z]{3,9})", r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_LONG_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d)"
_ANY_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d|'?\d\d)"
_DASHED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_NAMED_DAY}([-–/.]){_NAMED_MONTH}\2{_ANY_YEAR}",
        rf"{_NAMED_MONTH}([-–/.]){_NAMED_DAY}\2{_ANY_YEAR}",
        rf"{_LONG_YEAR}([-–/.]){_NAMED_MONTH}\2{_NAMED_DAY}",
        rf"{_NAMED_DAY}{_NAMED_MONTH}{_LONG_YEAR}",
        rf"{_NAMED_MONTH}[-–/.]{_LONG_YEAR}",
        rf"{_NAMED_DAY}[-/]{_NAMED_MONTH}",
        rf"{_NAMED_MONTH}[-/]{_NAMED_DAY}",
    )
)
_TIMED = re.compile(
    r"noon|midnight|[AP]\.?M|\d{1,2}(?::\d\d)?[ap]\.?m|\d{1,2}:\d\d(?::\d\d)?", re.IGNORECASE
)
_DAYS = section("dates", "days")
FULL_NAMES = frozenset((*MONTHS, *_DAYS.values()))
_DAY_RANGE = re.compile(r"(\d{1,2})(st|nd|rd|th)?[-–](\d{1,2})(?:st|nd|rd|th)?")
_TIME = re.compile(r"(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?:([ap])\.?m)?", re.IGNORECASE)
_HOUR = re.compile(r"(\d{1,2})([ap])\.?m", re.IGNORECASE)
_POINT = re.compile(r"(\d{1,2})\.([0-5]\d)(?:([ap])\.?m)?", re.IGNORECASE)
_FRENCH = re.compile(r"(\d|1\d|2[0-3])h([0-5]?\d)(?:(m)(?:in)?)?")
_SIGNS = {"+": "plus", "-": "minus", "–": "minus", "±": "plus or minus"}
_HALF = re.compile(r"([AaPp])\.?[Mm]")
LATE_DAY = r"(?:1[0-2]|[1-9])/(?:1[13-57-9]|2\d|3[01])"
_LATE = re.compile(LATE_DAY)
_UNTIL = ("to", "through", "until", "-", "–")
_YEAR = re.compile(r"(1\d|20)\d\d")
_YEAR_RANGE = re.compile(r"((?:1[1-9]|20)\d\d)[-–/]((?:1[1-9]|20)\d\d|\d\d)")
_YEAR_MONTH = re.compile(r"((?:19|20)\d\d)-(0[1-9]|1[0-2])")
_ERA = re.compile(r"BC|AD|BCE|CE|B\.C|A\.D")
_YEAR_CUES = words("dates", "year_cues") | {month.lower() for month in MONTHS}


@matching(
    r"(\d{4})([-/.])(?!\d\.|\d\d\.\d(?!\d))(\d\d?)\2(\d\d?)"
    r"(?:T(\d\d:\d\d)(?::\d\d)?(?:\.\d+)?(?:Z|[-+]\d\d:?\d\d)?)?"
)
def iso(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as 2024-03-05, 2024-03-05T14:30:00Z."""
    if match[2] == "." and _is_versioned(match[0], context):
        return None
    words = date(int(match[3]), int(match[4]), match[1])
    time = _TIME.fullmatch(match[5] or "") if words else None
    return _read(f"{words}, {_clock(time, context)}" if time else words)


@matching(r"(0[1-9]|1[0-2])/((?:19|20)\d\d)")
def month_and_year(match: re.Match[str], context: Context) -> Reading:
    """Read tokens such as 03/2024."""
    return say(f"{MONTHS[int(match[1]) - 1]} {numbers.year(int(match[2]))}")


@matching(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|(?<!-)\d\d)")
def numeric(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as 3/5/2024, 3/5/24, 5.3.2024."""
    short = len(match[4]) == 2 or context.previous.lower() == "version"
    if match[2] == "." and short and _is_versioned(match[0], context):
        return None
    first, second = int(match[1]), int(match[3])
    month, day = (second, first) if match[2] == "." else (first, second)
    return _read(date(month, day, match[4]) or date(day, month, match[4]))


@matching(r"(\d{1,2})/(\d{1,2})")
def day_and_month(match: re.Match[str], context: Context) -> Reading | None:
    """Read tokens such as on 3/5, by 12/31."""
    before, top, bottom = context.previous.lower(), int(match[1]), int(match[2])
    unlike_fraction = (before != "of" and top > bottom) or (bottom > 12 and bottom != 16)
    dated = (
        (before == "on" or context.previous in _DAYS or match[2][0] == "0")
        or _is_end_of_days(match[0], context)
        or (before in _DATED and unlike_fraction)
    )
    return _read(date(top, bottom, "") if dated else "")


def _is_end_of_days(body: str, context: Context) -> bool:
    """Return whether one of the days in 12/24–12/26 or 3/20 to 4/2 is not a usual fraction."""
    before = context.before_previous if context.previous in _UNTIL else context.previous
    if _LATE.fullmatch(before) or _LATE.fullmatch(context.following or ""):
        return True
    if not _LATE.fullmatch(body):
        return False
    ends = (re.fullmatch(r"\d{1,2}/\d{1,2}", each) for each in (before, context.after))
    return any(ends) or context.after in _UNTIL


def day(body: str, context: Context) -> Reading | None:
    """Read tokens such as May 5, May 3-5, 5 May, the 5th of May."""
    behind_month = is_month(context.previous)
    spread = _DAY_RANGE.fullmatch(body)
    if spread and _is_day(spread[1]) and _is_day(spread[3]):
        words = " to ".join(numbers.ordinal(int(group)) for group in spread.groups()[::2])
    else:
        bare = re.sub(r"(?<=\d)(st|nd|rd|th)$", "", body)
        if not _is_day(bare) or "'" in context.opened:
            return None
        words = numbers.ordinal(int(bare))
        if context.previous in ("may", "march"):  # they may be words, too
            behind_month = context.before_previous.lower() in _DATED
        behind_month = behind_month and context.past[0].mark == ""
    if behind_month:
        return say(words)
    if context.punctuation or not is_month(context.after):
        return None
    return say(f"{'' if context.previous.lower() == 'the' else 'the '}{words} of")


def names(body: str, context: Context) -> Reading | None:
    """Read tokens such as Sept./Oct., Mon/Wed/Fri."""
    parts = [full_name(part.rstrip(".")) for part in body.split("/")]
    named = len(parts) > 1 and all(parts)
    return say(", ".join(parts), context.mark_behind_dot(any_name=False)) if named else None


def month(body: str, context: Context) -> Reading | None:
    """Read tokens such as Jan., Sept 5, 5 Mar."""
    name = _SHORT_MONTHS.get(body.title() if body in _OTHER_CASES else body)
    if name is None:
        return None
    safe = context.punctuation.startswith(".") and body in _SAFE_SHORT
    if not (safe or context.after_number or context.after[:1].isdigit()):
        return None
    return say(name, context.mark_behind_dot(any_name=False))


def weekday(body: str, context: Context) -> Reading | None:
    """Read Mon., Thu, and Sat. before a date, "by Fri.", "Mon:", and Mon alone in its line."""
    name = _DAYS.get(body)
    if name is None:
        return None
    is_name_only = body not in ("Sat", "Sun", "Wed", "Mon", "Fri")
    dotted = context.punctuation.startswith(".")
    safe = dotted and (is_name_only or context.previous.lower() in _DATED)
    alone = not context.past and not context.punctuation and context.after == ""
    if not (
        safe
        or alone
        or context.punctuation.startswith(":")
        or context.after[:1].isdigit()
        or is_month(context.after)
    ):
        return None
    return say(name, context.mark_behind_dot(any_name=False))


def year(body: str, context: Context) -> Reading | None:
    """Read the years in "in 1995" and "1990-1995". In "1995 people" the number is not a year."""
    spread = _YEAR_RANGE.fullmatch(body)
    year_month = _YEAR_MONTH.fullmatch(body)
    reading = _year_range(spread, context) if spread else None
    if reading or (spread and not year_month):
        return reading
    if year_month:
        return say(f"{MONTHS[int(year_month[2]) - 1]} {numbers.year(int(year_month[1]))}")
    if not _YEAR.fullmatch(body):
        return None
    day_before = re.sub(r"(?<=\d)(st|nd|rd|th)$", "", context.previous)
    dated = _is_day(day_before) and is_month(context.before_previous)  # "March 3rd,", "3 March"
    if not dated and not is_month(context.previous):
        is_count = not context.punctuation and is_counted(context.after)
        cued = context.previous.lower() in _YEAR_CUES
        if is_count and not (cued and context.after == "people"):
            return None
        if not (cued or 1900 <= int(body) <= 2099 or _ERA.fullmatch(context.after)):
            return None
    return say(numbers.year(int(body)))


@matching(r"(UTC|GMT)([-–+±])(\d{1,2})(?::?(\d\d))?")
def zone_offset(match: re.Match[str], context: Context) -> Reading:
    """Read tokens such as UTC+5:30, GMT-3."""
    name, sign, hours, minutes = match.groups("0")
    behind = numbers.cardinal(int(minutes)) if int(minutes) else ""
    return say(f"{name} {_SIGNS[sign]} {numbers.cardinal(int(hours))} {behind}")


def time(body: str, context: Context) -> Reading | None:
    """Read tokens such as 5:30, 5:30 pm, 17:05, 5pm, 9am-5pm, 10:30-11:00."""
    point = _POINT.fullmatch(body)
    french = _FRENCH.fullmatch(body)
    if french and (len(french[1]) == 1 or french[3]):  # a duration rather than a time of day
        minutes = units.quantity(french[2], "min") if french[3] else numbers.number(french[2])
        return say(f"{units.quantity(french[1], 'h')} {minutes}")
    if french or (point and (point[3] or _half_follows(context))):
        body = re.sub("[.h]", ":", body, count=1)
    match = _TIME.fullmatch(body) or _HOUR.fullmatch(body)
    if not match or int(match[1]) > 24:
        return None
    return Reading(tuple(_clock(match, context).split()), _half_mark(body, context))


@matching(_HALF.pattern)
def half_of_day(match: re.Match[str], context: Context) -> Reading | None:
    """Read "p.m." and "AM"; "am" only after a time."""
    body, past = match[0], context.past
    timed = past and not past[0].mark and (context.after_number or _TIME.fullmatch(past[0].body))
    if not timed and "." not in body:
        after = "" if context.punctuation else context.after
        if body != "AM" or initialisms.is_word(body, context.previous, after):
            return None
    return Reading((_half(match[1]),), _half_mark(body, context))


def dashed(body: str, context: Context) -> Reading | None:
    """Read tokens such as 15-Jan-2020, Jan-15-2020, 2020-Jan-15, 15Jan2020, Jan-2020, 15-Jan."""
    match = next((match for pattern in _DASHED if (match := pattern.fullmatch(body))), None)
    name = match["month"].title() if match else ""
    name = _SHORT_MONTHS.get(name, name)
    if not match or name not in MONTHS:
        return None
    parts = match.groupdict()
    year = (parts.get("year") or "").lstrip("'")
    if not parts.get("day"):
        return say(f"{name} {numbers.year(int(year))}")
    return _read(date(MONTHS.index(name) + 1, int(parts["day"]), year))


def zone(body: str, context: Context) -> Reading | None:
    """Read the EST of "3 PM EST.", whose dot ends the sentence; a slash after it is a pause."""
    if body == "/" and context.previous in _ZONES:
        return Reading(())
    if body not in _ZONES or not context.past or context.past[0].mark:
        return None
    mark = "," if not context.punctuation and context.after == "/" else None
    return say(body, mark) if _TIMED.fullmatch(context.past[0].body) else None


def full_name(word: str) -> str:
    """Return the full name of a day or month ("Mon" -> "Monday"); "" for any other word."""
    return (_DAYS | _SHORT_MONTHS).get(word) or (word if word in FULL_NAMES else "")


def _half(letter: str) -> str:
    """Return "A-M" or "P-M", which every synthesiser spells; "AM" it reads as a word."""
    return letter.upper() + "-M"


def _half_mark(body: str, context: Context) -> str | None:
    """Return the mark behind "p.m.". Its dot is a full stop only if a sentence begins after it."""
    if not (body.lower().endswith(("a.m", "p.m")) and context.punctuation.startswith(".")):
        return None
    return context.mark_behind_dot(any_name=False)


def _clock(match: re.Match[str], context: Context) -> str:
    """Return the words of a matched time. For a full hour it matters whether "pm" follows."""
    groups = match.groups()
    hour, half = int(groups[0]), groups[-1]
    minutes = groups[1] if len(groups) == 4 else "00"
    seconds = groups[2] if len(groups) == 4 and groups[2] != "00" else None
    if groups[0] in ("00", "24") and half is None and not seconds:  # only clocks write that
        if minutes == "00":
            return "midnight"
        hour, half = 12, "a"
    words = [numbers.cardinal(hour)]
    if minutes != "00" or seconds:
        words.append(numbers.two_figures(minutes))
    elif half is None and not _half_follows(context):
        words.append("o'clock" if 1 <= hour <= 12 else "hundred")
    if seconds:
        words.append(numbers.two_figures(seconds))
    if half:
        words.append(_half(half))
    return " ".join(words)


def _half_follows(context: Context) -> bool:
    return not context.punctuation and bool(_HALF.fullmatch(context.after))


def _read(words: str) -> Reading | None:
    return say(words) if words else None


def date(month: int, day: int, year_text: str) -> str:
    """Return a date in words; `year_text` may be empty. "" if the day does not exist."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return ""
    dated = f"{MONTHS[month - 1]} {numbers.ordinal(day)}"
    if not year_text:
        return dated
    value = int(year_text)
    if len(year_text) == 2:
        value += 1900 if value >= 70 else 2000
    return f"{dated}, {numbers.year(value)}"


def _year_range(match: re.Match[str], context: Context) -> Reading | None:
    first, last = int(match[1]), match[2]
    is_year = len(last) == 4
    if int(last) <= (first if is_year else first % 100) or (is_year and is_counted(context.after)):
        return None
    words = numbers.year(int(last)) if is_year else numbers.two_figures(last)
    return say(f"{numbers.year(first)} to {words}")


def _is_versioned(text: str, context: Context) -> bool:
    """Return whether figures with dots are the version of the word before: Python 3.11.12."""
    before = context.previous
    cue = context.before_previous if before in ("to", "from", "is") else before
    if cue.lower() in VERSIONED:
        return True
    padded = re.search(r"(?<!\d)0\d", text)  # as in dates alone
    return is_name(before) and not context.past[0].mark and not padded and not full_name(before)


def _is_day(text: str) -> bool:
    return text.isdecimal() and len(text) <= 2 and 1 <= int(text) <= 31


def is_month(word: str) -> bool:
    """Return whether a word is the name of a month, or begins with one: "Mar", "March-April"."""
    first = re.split("[-–.]", word)[0]
    return first in MONTHS or first in _SHORT_MONTHS or first in _OTHER_CASES


NAMED = (dashed, zone, names)
RULES = (
    iso, month_and_year, numeric, day_and_month, day, year, zone_offset, time,
    form(r"(\d{4,5}):((?:19|20)\d\d)", "{1:number}, {2:year}"),  # ISO 9001:2015
    form(r"(\d{1,4}):(\d{1,3}(?:,\d{3})+|\d{1,4})", "{1:number} to {2:number}"),  # 3:1
    half_of_day, month, weekday,
)  # fmt: skip
