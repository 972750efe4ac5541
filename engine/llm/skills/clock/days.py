"""Days by the names people give them: "next friday", "the 15th", "july 4th 1976", "easter"; the
date today and on other days, and the distance of days.

Our own rules instead of a library: of 60 spoken names and times, dateparser 1.5 understood 39,
recurrent 34 and parsedatetime 32, and each of them also finds days in sentences that name none.

Invariant: takes canonical text; a text that is more than the name of a day gives None. Today is the
day of the context's clock; day arithmetic is done on calendar days, so a change to summer time
cannot shift a date.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta, weekday

from engine.llm.skills.matching.intent import Answer, NotMeant, SkillContext, Slots
from engine.llm.skills.matching.quantities import counted, parse_number
from engine.resources import table

# English whatever the machine's locale: calendar.month_name would follow it.
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SHORT_MONTHS = tuple(month[:3] for month in MONTHS)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
RELATIVE = {
    "today": 0,
    "now": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "yesterday": -1,
    "the day before yesterday": -2,
}
MAX_DAYS = 366 * 200  # two centuries either way; farther weekdays are not asked for
_YEARS_AHEAD = 9  # February 29th can be eight years away


@dataclass(frozen=True)
class Feast:
    """A day people count towards: its name, and its date in a year."""

    name: str
    of: Callable[[int], date]


def _feasts() -> dict[str, Feast]:
    """Return the feasts of resources/skills/feasts.toml by their usual names."""
    days = table("skills", "feasts.toml")
    dates: dict[str, Callable[[int], date]] = {}
    for name, (month, day) in days["fixed"].items():
        dates[name] = partial(date, month=month, day=day)
    for name, later in days["after_easter"].items():
        dates[name] = partial(lambda later, year: easter(year) + timedelta(later), later)
    for name, (month, *which) in days["weekday"].items():
        away = relativedelta(month=month, day=1, weekday=weekday(*which))
        dates[name] = partial(lambda away, year: date(year, 1, 1) + away, away)
    feasts = {name: Feast(name, of) for name, of in dates.items()}
    said = {name.lower().replace("'", ""): feast for name, feast in feasts.items()}
    return said | {other: feasts[name] for other, name in days["also"].items()}


FEASTS = _feasts()

_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS) + "|sept"
_NUMBER = r"(?P<day>\d{1,2}|second)(?:st|nd|rd|th)?"
_YEAR = r"(?: (?:of |in )?(?P<year>\d{4}|this year|next year|last year))?"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^(?:the )?(?P<month>{_MONTH}) (?:the )?{_NUMBER}{_YEAR}$",
        rf"^(?:the )?{_NUMBER}(?: of)? (?P<month>{_MONTH}){_YEAR}$",
    )
)
_ISO = re.compile(r"^(?P<year>\d{4}) ?- ?(?P<month>\d{1,2}) ?- ?(?P<day>\d{1,2})$")
_OF_MONTH = re.compile(r"^(?:the )?(\d{1,2}(?:st|nd|rd|th)|second)(?: of (?:this|the) month)?$")
_WITH_YEAR = re.compile(
    r"^(?P<name>.+?) (?:in |of )?(?P<year>\d{4}|this year|next year|last year)$"
)
_SPAN = re.compile(r"^(?P<count>.+?) (?P<unit>day|week|month|year)s?$")
_AWAY = re.compile(r"^(?:in (?P<ahead>.+)|(?P<ago>.+) ago|(?P<from>.+?) from(?: (?P<day>.+))?)$")
_BESIDE = re.compile(r"^the day (?P<side>after|before) (?P<day>.+)$")
_CALENDAR_YEAR = re.compile(r"^[1-9]\d{0,3}$")
_DISTANCE = re.compile(r" (?:from|after|before|ago)\b")
_LATER_WEEKDAY = re.compile(r"^(?P<day>\w+day) (?P<away>in .+|next week)$")


def day_named(name: str, today: date, *, past: bool = False) -> date | None:
    """Return the next day of that name, or the last one if `past`."""
    name = re.sub(r"^(?:on|until) |'s$", "", name.strip())
    if name in RELATIVE:
        return today + timedelta(days=RELATIVE[name])
    if match := _BESIDE.match(name):
        beside = day_named(match["day"], today, past=past)
        return beside and beside + timedelta(days=1 if match["side"] == "after" else -1)
    if match := _AWAY.match(name):
        return _days_away(match, today)
    return (
        _weekday(name, today, past=past)
        or _dated(name, today, past=past)
        or _day_of_month(name, today, past=past)
    )


def feast_named(name: str) -> Feast | None:
    """Return the feast of that name, with or without a year."""
    match = _WITH_YEAR.match(name)
    return FEASTS.get(match["name"] if match else name)


def span(text: str) -> relativedelta | None:
    """Return the length of "3 weeks", "a month"; None for anything but whole units."""
    match = _SPAN.match(text.strip())
    count = parse_number(match["count"]) if match else None
    if match is None or count is None or count < 0 or count != int(count) or count > MAX_DAYS:
        return None
    return relativedelta(**{f"{match['unit']}s": int(count)})


def date_phrase(day: date) -> str:
    name, month = WEEKDAYS[day.weekday()].capitalize(), MONTHS[day.month - 1].capitalize()
    return f"{name}, {month} {ordinal(day.day)}, {day.year}"


def ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"


def _days_away(match: re.Match[str], today: date) -> date | None:
    length = span(match["ahead"] or match["ago"] or match["from"])
    base = day_named(match["day"], today) if match["day"] else today
    if length is None or base is None:
        return None
    try:
        day = base - length if match["ago"] else base + length
    except (ValueError, OverflowError):  # beyond the calendar
        return None
    return day if abs((day - today).days) <= MAX_DAYS else None


def _weekday(name: str, today: date, *, past: bool) -> date | None:
    if match := _LATER_WEEKDAY.match(name):
        return _later_weekday(match, today)
    bare = re.sub(r"^(?:next|this|the coming|coming|last) ", "", name)
    if bare not in WEEKDAYS:
        return None
    if past or name.startswith("last "):
        return today - timedelta(days=(today.weekday() - WEEKDAYS.index(bare) - 1) % 7 + 1)
    return today + timedelta(days=(WEEKDAYS.index(bare) - today.weekday() - 1) % 7 + 1)


def _later_weekday(match: re.Match[str], today: date) -> date | None:
    """Return the day: "friday in 2 weeks" is the friday of that week; "friday next week" too."""
    length = span(match["away"].removeprefix("in ").replace("next week", "1 week"))
    if match["day"] not in WEEKDAYS or length is None or length.days % 7:
        return None
    monday: date = today - timedelta(days=today.weekday()) + length
    return monday + timedelta(days=WEEKDAYS.index(match["day"]))


def _dated(name: str, today: date, *, past: bool) -> date | None:
    """Return a feast, or a month and a day, with or without a year."""
    if match := _ISO.match(name):
        return _date(int(match["year"]), int(match["month"]), match["day"])
    match = next((found for pattern in _DATES if (found := pattern.match(name))), None)
    if match is not None:
        month, day = _SHORT_MONTHS.index(match["month"][:3]) + 1, match["day"]
        return _in_year(lambda year: _date(year, month, day), match["year"], today, past=past)
    match = _WITH_YEAR.match(name)
    feast = FEASTS.get(match["name"] if match else name)
    if feast is None:
        return None
    return _in_year(feast.of, match["year"] if match else None, today, past=past)


def _in_year(
    of: Callable[[int], date | None], year: str | None, today: date, *, past: bool
) -> date | None:
    """Return the day in the named year, or else the next one (the last one, if `past`)."""
    if year is not None:
        beside = {"this year": 0, "next year": 1, "last year": -1}
        return of(today.year + beside[year] if year in beside else int(year))
    step = -1 if past else 1
    years = range(today.year, today.year + step * _YEARS_AHEAD, step)
    return _nearest(map(of, years), today, past=past)


def _day_of_month(name: str, today: date, *, past: bool) -> date | None:
    match = _OF_MONTH.match(name)
    if match is None:
        return None
    number = re.sub(r"(?:st|nd|rd|th)$", "", match[1])
    step = -1 if past else 1
    months = (today.replace(day=1) + relativedelta(months=step * away) for away in range(4))
    days = (_date(month.year, month.month, number) for month in months)
    return _nearest(days, today, past=past)


def _nearest(days: Iterable[date | None], today: date, *, past: bool) -> date | None:
    """Return the first existing day that is still to come, or was if `past`."""
    return next((day for day in days if day and (day <= today if past else day >= today)), None)


def _date(year: int, month: int, day: str) -> date | None:
    try:
        return date(year, month, 2 if day == "second" else int(day))
    except ValueError:
        return None


def is_weekday(slots: Slots, context: SkillContext) -> Slots:
    now = WEEKDAYS[context.now().weekday()]
    return {"verdict": "Yes" if now == slots["weekday"] else "No", "today": now.capitalize()}


def tell_day(slots: Slots, context: SkillContext) -> Answer:
    """Return the weekday and date of "tomorrow", "in 3 days", "next friday" or "december 25th"."""
    name = slots["day"].removesuffix("'s")
    day = _day(name, context)
    verb = "was" if day < context.now().date() else "is"
    if name in RELATIVE:
        return Answer(f"{name.capitalize()} {verb} {date_phrase(day)}.")
    if feast := feast_named(name):
        return Answer(f"{feast.name} {verb} on {date_phrase(day)}.")
    return Answer(f"That {verb} {date_phrase(day)}.")


def tell_day_away(slots: Slots, context: SkillContext) -> Answer | None:
    """Answer "what is 30 days from january 15th"; a question without a distance means no date."""
    day = slots["away"]
    return tell_day({"day": day}, context) if _DISTANCE.search(day) else None


def tell_past_day(slots: Slots, context: SkillContext) -> Answer:
    """Return the last day of that name: "when was easter"."""
    if slots["day"] in RELATIVE:
        return tell_day(slots, context)
    return Answer(f"That was {date_phrase(_day(slots['day'], context, past=True))}.")


def days_until(slots: Slots, context: SkillContext) -> Answer | Slots:
    """Return the length of the time until a day, in weeks too if `unit` says so."""
    day = _day(slots["day"], context)
    days = (day - context.now().date()).days
    if days <= 0:
        return Answer("That's today." if days == 0 else "That has already been.")
    weeks, days = divmod(days, 7) if slots.get("unit") == "week" else (0, days)
    parts = [counted(weeks, "week")] if weeks else []
    parts += [counted(days, "day")] if days else []
    return {"length": " and ".join(parts), "name": _name(slots["day"], day)}


def days_since(slots: Slots, context: SkillContext) -> Answer | Slots | None:
    day = _day(slots["day"], context, past=True)
    days = (context.now().date() - day).days
    if days <= 0:
        return Answer("That's today.") if days == 0 else None
    return {"days": counted(days, "day"), "name": _name(slots["day"], day)}


def days_between(slots: Slots, context: SkillContext) -> Slots:
    first, last = (_day(slots[name], context) for name in ("first", "last"))
    return {"days": counted(abs((last - first).days), "day")}


def month_length(slots: Slots, context: SkillContext) -> Slots:
    """Return the number of days of a month, in this year unless another is named. NotMeant."""
    now = context.now()
    name, year = slots.get("month", MONTHS[now.month - 1]), slots.get("year", str(now.year))
    if not _CALENDAR_YEAR.match(year):
        raise NotMeant
    in_year = f" {year}" if name == "february" else ""  # the only one that differs
    days = monthrange(int(year), MONTHS.index(name) + 1)[1]
    return {"name": f"{name.capitalize()}{in_year}", "days": str(days)}


def the_day_beside(before: Slots, now: Slots, _context: SkillContext) -> Slots:
    """Return the day for "and the day after?"."""
    return {"day": f"the day {now['side']} {before.get('day', 'today')}"}


def in_another_year(before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    """Return the day for "and next year?" after a feast."""
    named = before["day"]
    return {"day": f"{named} {now['beside']}"} if named in FEASTS else None


def _day(said: str, context: SkillContext, *, past: bool = False) -> date:
    """Return the day of that name, the last one if `past`. NotMeant."""
    day = day_named(said, context.now().date(), past=past)
    if day is None:
        raise NotMeant
    return day


def _name(said: str, day: date) -> str:
    feast = feast_named(said)
    return feast.name if feast else date_phrase(day)
