"""What time it is, and what day it is or will be.

Invariant: the time comes from the occasion's clock; day arithmetic is done on calendar days, so a
change to summer time cannot shift a date.
"""

import re
from calendar import isleap
from dataclasses import dataclass
from datetime import date, timedelta

from engine.llm.skills.matching.intent import Answer, Family, Intent, Occasion, Slots, Tool
from engine.llm.skills.matching.moments import clock_face
from engine.llm.skills.matching.quantities import parse_duration

# English whatever the machine's locale: calendar.month_name would follow it.
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True)
class Feast:
    """A day people count towards, the same every year."""

    name: str
    month: int
    day: int


FEASTS = {
    "christmas": Feast("Christmas", 12, 25),
    "christmas day": Feast("Christmas Day", 12, 25),
    "christmas eve": Feast("Christmas Eve", 12, 24),
    "new year": Feast("New Year", 1, 1),
    "new years": Feast("New Year", 1, 1),
    "new years day": Feast("New Year's Day", 1, 1),
    "new years eve": Feast("New Year's Eve", 12, 31),
    "halloween": Feast("Halloween", 10, 31),
    "valentines day": Feast("Valentine's Day", 2, 14),
}
MAX_DAYS = 366 * 200  # two centuries either way: beyond it nobody asks for a weekday

_RELATIVE = {
    "today": 0,
    "now": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "yesterday": -1,
    "the day before yesterday": -2,
}
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in MONTHS) + "|sept"
_MONTH_DAY = re.compile(
    rf"^(?:the )?(?P<month>{_MONTH}) (?:the )?(?P<day>\d+|second)(?:st|nd|rd|th)?$"
)
_DAY_MONTH = re.compile(
    rf"^(?:the )?(?P<day>\d+|second)(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})$"
)


def tell_time(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer(f"It's {clock_face(occasion.now().hour, occasion.now().minute)}.")


def tell_later_time(slots: Slots, occasion: Occasion) -> Answer | None:
    """What time it will be (or was) a stretch of time from now."""
    seconds = parse_duration(slots["duration"])
    if seconds is None or seconds > MAX_DAYS * 86400:
        return None
    then = occasion.now() + timedelta(seconds=seconds)
    return Answer(f"It will be {clock_face(then.hour, then.minute)}.")


def tell_week(_slots: Slots, occasion: Occasion) -> Answer:
    """Weeks as ISO 8601 counts them: from Monday, the first with a Thursday in it."""
    return Answer(f"It's week {occasion.now().isocalendar().week}.")


def count_weeks(slots: Slots, occasion: Occasion) -> Answer | None:
    today = occasion.now().date()
    day = _day_named(slots["day"], today)
    if day is None or day <= today:
        return None
    weeks, days = divmod((day - today).days, 7)
    parts = [f"{weeks} week{'' if weeks == 1 else 's'}"] if weeks else []
    parts += [f"{days} day{'' if days == 1 else 's'}"] if days else []
    feast = FEASTS.get(slots["day"])
    return Answer(f"{' and '.join(parts)} until {feast.name if feast else _date_phrase(day)}.")


def tell_leap_year(slots: Slots, _occasion: Occasion) -> Answer | None:
    if not slots["year"].isdigit() or not 1 <= int(slots["year"]) <= 9999:
        return None
    is_leap = isleap(int(slots["year"]))
    return Answer(
        f"{'Yes' if is_leap else 'No'}, {slots['year']} is {'' if is_leap else 'not '}a leap year."
    )


def tell_date(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer(f"Today is {_date_phrase(occasion.now().date())}.")


def tell_day(slots: Slots, occasion: Occasion) -> Answer | None:
    """The weekday and date of "tomorrow", "in 3 days", "next friday" or "december 25th"."""
    today = occasion.now().date()
    day = _day_named(slots["day"], today)
    if day is None:
        return None
    verb = "was" if day < today else "is"
    if slots["day"] in _RELATIVE:
        return Answer(f"{slots['day'].capitalize()} {verb} {_date_phrase(day)}.")
    if slots["day"] in FEASTS:
        return Answer(f"{FEASTS[slots['day']].name} is on {_date_phrase(day)}.")
    return Answer(f"That {verb} {_date_phrase(day)}.")


def count_days(slots: Slots, occasion: Occasion) -> Answer | None:
    today = occasion.now().date()
    day = _day_named(slots["day"], today)
    if day is None:
        return None
    days = (day - today).days
    if days <= 0:
        return Answer("That's today." if days == 0 else "That has already been.")
    feast = FEASTS.get(slots["day"])
    name = feast.name if feast else _date_phrase(day)
    return Answer(f"{days} day{'' if days == 1 else 's'} until {name}.")


def tell_month(_slots: Slots, occasion: Occasion) -> Answer:
    now = occasion.now()
    return Answer(f"It's {MONTHS[now.month - 1].capitalize()} {now.year}.")


def tell_year(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer(f"It's {occasion.now().year}.")


def _tell_time_and_date(slots: Slots, occasion: Occasion) -> Answer:
    return Answer(f"{tell_time(slots, occasion).text} {tell_date(slots, occasion).text}")


def _day_named(name: str, today: date) -> date | None:
    """The day a person means by a name, looking forward from today; None when it is no day."""
    name = name.removeprefix("on ").removeprefix("until ").strip()
    if name in _RELATIVE:
        return today + timedelta(days=_RELATIVE[name])
    if name.startswith("in ") or name.endswith((" from now", " from today", " ago")):
        return _days_away(name, today)
    weekday = name.removeprefix("next ").removeprefix("this ")
    if weekday in WEEKDAYS:
        return today + timedelta(days=(WEEKDAYS.index(weekday) - today.weekday() - 1) % 7 + 1)
    return _yearly_day(name, today)


def _days_away(name: str, today: date) -> date | None:
    length = name.removeprefix("in ").removesuffix(" from now").removesuffix(" from today")
    seconds = parse_duration(length.removesuffix(" ago"))
    if seconds is None or seconds % 86400 or seconds > MAX_DAYS * 86400:
        return None
    days = int(seconds // 86400)
    return today + timedelta(days=-days if name.endswith(" ago") else days)


def _yearly_day(name: str, today: date) -> date | None:
    """The next feast or "25th of december", today included."""
    if name in FEASTS:
        month, number = FEASTS[name].month, FEASTS[name].day
    elif match := _MONTH_DAY.match(name) or _DAY_MONTH.match(name):
        month = [name[:3] for name in MONTHS].index(match["month"][:3]) + 1
        number = 2 if match["day"] == "second" else int(match["day"])
    else:
        return None
    for year in range(today.year, today.year + 9):  # February 29th can be eight years away
        try:
            day = date(year, month, number)
        except ValueError:
            continue
        if day >= today:
            return day
    return None


def _date_phrase(day: date) -> str:
    weekday, month = WEEKDAYS[day.weekday()].capitalize(), MONTHS[day.month - 1].capitalize()
    return f"{weekday}, {month} {_ordinal(day.day)}, {day.year}"


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"


FAMILY = Family(
    intents=(
        Intent(
            "week",
            (
                "(what|which) [calendar] week (is it|are we in)",
                "what week number is it",
                "what is the [calendar] week [number]",
            ),
            tell_week,
        ),
        Intent("weeks until", ("how many weeks (until|till|to) {day}",), count_weeks),
        Intent("leap year", ("is {year} a leap year",), tell_leap_year),
        Intent(
            "time",
            (
                "what time (is it|it is)",
                "what (is the [current] time|the [current] time is)",
                "[the] time",
                "(got|do you have|have you got) the time",
                "how late is it",
                "what time do we have",
                "do you have the time",
                "what does the clock say",
            ),
            tell_time,
        ),
        Intent(
            "later time",
            (
                "what time (is it|will it be|is it going to be) in {duration}",
                "what (is|will) the time [be] in {duration}",
            ),
            tell_later_time,
        ),
        Intent(
            "date",
            (
                "what (date|day) (is (it|today)|it is [today])",
                "what date is it today",
                "what is (the|todays|today's) date [today]",
                "what is the day [today]",
                "(what is|what day is it) today",
                "[the|todays|today's] date",
                "which day is (it|today)",
                "what day of the (week|month) is it [today]",
            ),
            tell_date,
        ),
        Intent(
            "day",
            (
                "(what|which) (day|date) [of the week] "
                "(is it|will it be|was it|is|was|will be) {day}",
                "what is the date {day}",
                "(when|on what day) is {day}",
            ),
            tell_day,
        ),
        Intent(
            "days until",
            (
                "[how many] days [are there|is it|are left] (until|till|to|before) {day}",
                "how long [is it|does it take] (until|till|to) {day}",
            ),
            count_days,
        ),
        Intent(
            "month",
            (
                "what month is (it|this)",
                "(which|what) month are we in",
                "what is the [current] month",
            ),
            tell_month,
        ),
        Intent(
            "year",
            (
                "what year is (it|this)",
                "(which|what) year are we in",
                "what is the [current] year",
            ),
            tell_year,
        ),
    ),
    tools=(
        Tool("tell_time", "The current local time and date.", _tell_time_and_date),
        Tool(
            "days_until",
            "Count the days from today until a day.",
            count_days,
            {"day": "'friday', 'christmas', 'december 24th' or 'in 3 weeks'"},
        ),
    ),
    open_lists={
        "year": ("2028", "2030"),
        "day": (
            *_RELATIVE,
            *WEEKDAYS,
            *(f"next {day}" for day in WEEKDAYS),
            *FEASTS,
            *(f"the first of {month}" for month in MONTHS),
            "in three days",
            "in two weeks",
            "a week from now",
        ),
    },
)
