"""What day it is, was or will be, and how far away days are.

Invariant: the day comes from the occasion's clock; day arithmetic is done on calendar days, so a
change to summer time cannot shift a date.
"""

import re
from calendar import isleap, monthrange
from datetime import date

from engine.llm.skills.clock.days import (
    FEASTS,
    MONTHS,
    RELATIVE,
    WEEKDAYS,
    date_phrase,
    day_named,
    feast_named,
    month_named,
)
from engine.llm.skills.clock.hours import tell_time
from engine.llm.skills.matching.intent import Answer, FollowUp, Intent, Occasion, Skill, Slots, Tool

_AWAY = re.compile(r" (?:from|after|before|ago)\b")


def tell_week(slots: Slots, occasion: Occasion) -> Answer | None:
    """Weeks as ISO 8601 counts them: from Monday, the first with a Thursday in it."""
    today = occasion.now().date()
    if "day" not in slots:
        return Answer(f"It's week {today.isocalendar().week}.")
    day = day_named(slots["day"], today)
    return (
        Answer(f"{_name(slots['day'], day)} is in week {day.isocalendar().week}.") if day else None
    )


def count_weeks(slots: Slots, occasion: Occasion) -> Answer | None:
    today = occasion.now().date()
    day = day_named(slots["day"], today)
    if day is None or day <= today:
        return count_days(slots, occasion)
    weeks, days = divmod((day - today).days, 7)
    parts = [_count(weeks, "week")] if weeks else []
    parts += [_count(days, "day")] if days else []
    return Answer(f"{' and '.join(parts)} until {_name(slots['day'], day)}.")


def tell_leap_year(slots: Slots, occasion: Occasion) -> Answer | None:
    said = slots.get("year", str(occasion.now().year))
    if not said.isdigit() or not 1 <= int(said) <= 9999:
        return None
    is_leap, verb = isleap(int(said)), "was" if int(said) < occasion.now().year else "is"
    return Answer(
        f"{'Yes' if is_leap else 'No'}, {said} {verb} {'' if is_leap else 'not '}a leap year."
    )


def tell_date(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer(f"Today is {date_phrase(occasion.now().date())}.")


def tell_whether(slots: Slots, occasion: Occasion) -> Answer:
    today = WEEKDAYS[occasion.now().weekday()]
    said = "Yes" if today == slots["weekday"] else "No"
    return Answer(f"{said}, it's {today.capitalize()}.")


def tell_day(slots: Slots, occasion: Occasion) -> Answer | None:
    """The weekday and date of "tomorrow", "in 3 days", "next friday" or "december 25th"."""
    today, name = occasion.now().date(), slots["day"].removesuffix("'s")
    day = day_named(name, today)
    if day is None:
        return None
    verb = "was" if day < today else "is"
    if name in RELATIVE:
        return Answer(f"{name.capitalize()} {verb} {date_phrase(day)}.")
    if feast := feast_named(name):
        return Answer(f"{feast.name} {verb} on {date_phrase(day)}.")
    return Answer(f"That {verb} {date_phrase(day)}.")


def tell_day_away(slots: Slots, occasion: Occasion) -> Answer | None:
    """ "What is 30 days from january 15th"; what a day is otherwise, is not a date."""
    day = slots["away"]
    return tell_day({"day": day}, occasion) if _AWAY.search(day) else None


def tell_past_day(slots: Slots, occasion: Occasion) -> Answer | None:
    """The last day of that name: "when was easter"."""
    name, today = slots["day"], occasion.now().date()
    day = day_named(name, today, past=True)
    return tell_day({"day": name}, occasion) if name in RELATIVE else _told(day)


def count_days(slots: Slots, occasion: Occasion) -> Answer | None:
    today = occasion.now().date()
    day = day_named(slots["day"], today)
    if day is None:
        return None
    days = (day - today).days
    if days <= 0:
        return Answer("That's today." if days == 0 else "That has already been.")
    return Answer(f"{_count(days, 'day')} until {_name(slots['day'], day)}.")


def count_days_since(slots: Slots, occasion: Occasion) -> Answer | None:
    today = occasion.now().date()
    day = day_named(slots["day"], today, past=True)
    if day is None or day > today:
        return None
    if day == today:
        return Answer("That's today.")
    return Answer(f"{_count((today - day).days, 'day')} since {_name(slots['day'], day)}.")


def count_days_between(slots: Slots, occasion: Occasion) -> Answer | None:
    today = occasion.now().date()
    first, last = (day_named(slots[name], today) for name in ("first", "last"))
    if first is None or last is None:
        return None
    return Answer(f"{_count(abs((last - first).days), 'day')}.")


def count_days_left(_slots: Slots, occasion: Occasion) -> Answer:
    """Days left in this year, not counting today."""
    today = occasion.now().date()
    return Answer(f"{_count((date(today.year, 12, 31) - today).days, 'day')} are left this year.")


def tell_month_length(slots: Slots, occasion: Occasion) -> Answer | None:
    """How many days a month has, in this year unless another is named."""
    today = occasion.now().date()
    named = slots.get("month", MONTHS[today.month - 1])
    month, year = month_named(named), slots.get("year", str(today.year))
    if month is None or not year.isdigit() or not 1 <= int(year) <= 9999:
        return None
    in_year = f" {year}" if month == 2 else ""  # the only one that differs
    days = monthrange(int(year), month)[1]
    return Answer(f"{MONTHS[month - 1].capitalize()}{in_year} has {days} days.")


def tell_month(_slots: Slots, occasion: Occasion) -> Answer:
    now = occasion.now()
    return Answer(f"It's {MONTHS[now.month - 1].capitalize()} {now.year}.")


def tell_year(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer(f"It's {occasion.now().year}.")


def the_day_beside(before: Slots, now: Slots, _occasion: Occasion) -> Slots:
    """ "And the day after?" """
    return {"day": f"the day {now['side']} {before.get('day', 'today')}"}


def in_another_year(before: Slots, now: Slots, _occasion: Occasion) -> Slots | None:
    """ "And next year?" after a feast."""
    named = before["day"]
    return {"day": f"{named} {now['beside']}"} if named in FEASTS else None


def _tell_time_and_date(slots: Slots, occasion: Occasion) -> Answer:
    return Answer(f"{tell_time(slots, occasion).text} {tell_date(slots, occasion).text}")


def _told(day: date | None) -> Answer | None:
    return Answer(f"That was {date_phrase(day)}.") if day else None


def _name(said: str, day: date) -> str:
    feast = feast_named(said)
    return feast.name if feast else date_phrase(day)


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


_FALL = "(fall|land|be) [on] [this year]"
_OF = "(of the (week|month)|this year)"

SKILL = Skill(
    intents=(
        Intent(
            "week",
            (
                "(what|which) [calendar] week [of the year] (is it|are we in)",
                "what week number is it",
                "(what is the [calendar] week [number]|[calendar] week number)",
                "what is the [calendar] week [number] (of|on) {day}",
                "(what|which) [calendar] week is {day} [in]",
            ),
            tell_week,
        ),
        Intent("weeks until", ("how many weeks (until|till|to) {day}",), count_weeks),
        Intent(
            "leap year",
            ("(is|was|will) {year} [be] a leap year", "is (this|it) [year] a leap year"),
            tell_leap_year,
        ),
        Intent(
            "date",
            (
                f"(what|which) (weekday|date|day [{_OF}]) (is (it|today)|it is|today) [today]",
                "what is [the|todays|today's|today] [current|full] (day|date) [today]",
                "what is today",
                "what is the date",
                "[the|todays|today's] [current] date [today]",
                f"what (day|date) [{_OF}] are we (in|on) [today]",
                f"today is (what|which) (date|day [{_OF}])",
                "[the] (full|current) date [for] today",
            ),
            tell_date,
        ),
        Intent(
            "day",
            (
                f"(what|which) (day|date) [{_OF}] (is it|will it be|is|will be) {{day}}",
                f"(what|which) (day|date) [{_OF}] will {{day}} be",
                f"[on] (what|which) (day|date) [{_OF}] (does|will) {{day}} {_FALL}",
                f"{{day}} (falls|lands|is) on (what|which) (day|date) [{_OF}]",
                "{day} (what|which) (day|date) (is it|will it be)",
                "{day} what will (the (day|date) be|be the (day|date))",
                "what (is|was) {near:day}",
                "what (is|was|will be) the (day|date) [be] [of|on|for] {day}",
                "what (will|would) the (day|date) be {day}",
                "the date [it will be] {day} [is what]",
                "[what (is|was)] {day} date",
                "(when|on what day|on which day) is {day}",
            ),
            tell_day,
        ),
        Intent("day away", ("what (is|was) {away}",), tell_day_away),
        Intent(
            "past day",
            ("when was {day}", "(what|which) (day|date) [of the week] (was it|was) {day}"),
            tell_past_day,
        ),
        Intent(
            "days until",
            (
                "[how many] days [are there|is it|are left|are there left|to go] "
                "(until|till|to|before) {day}",
                "how long [is it|does it take] (until|till|to) {day}",
            ),
            count_days,
        ),
        Intent("is it a weekday", ("is (it|today) {weekday} [today]",), tell_whether),
        Intent(
            "days since",
            (
                "how many days [is it|has it been|have passed] since {day}",
                "how long [is it|has it been] since {day}",
            ),
            count_days_since,
        ),
        Intent(
            "days between",
            (
                "how many days [are there|are|is it] "
                "(between {day:first} and {day:last}|from {day:first} (to|until|till) {day:last})",
            ),
            count_days_between,
        ),
        Intent(
            "days left",
            ("how many days (are left|are there|are there left|left) [in] (this|the) year",),
            count_days_left,
        ),
        Intent(
            "month length",
            (
                "how many days [(are|are there)] in [the month of] {month} [{year}]",
                "how many days does {month} have [in {year}]",
                "how many days (are|are there) in (this|the) month",
                "how many days does this month have",
                "how long is {month}",
            ),
            tell_month_length,
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
    follow_ups=(
        FollowUp(("date", "day"), ("the day {side} [that]",), asks="day", combine=the_day_beside),
        FollowUp(
            ("date", "day", "week"),
            ("[(what|how) about] {day}", "what (is|was) {day}"),
            asks="day",
        ),
        FollowUp(
            ("days until", "weeks until"),
            ("[(what|how) about] [(until|till|to)] {day}", "how many (until|till|to) {day}"),
        ),
        FollowUp(
            ("day",),
            ("(how many days|how long) [is it] (until|till|to) [(then|that)]",),
            "days until",
        ),
        FollowUp(
            ("day", "days until", "weeks until", "days since"),
            ("(what|which) day [of the week] (is|was) (that|it)",),
            asks="day",
        ),
        FollowUp(
            ("days until",), ("how many weeks [is (that|it)]", "[in] weeks"), asks="weeks until"
        ),
        FollowUp(("weeks until",), ("how many days [is (that|it)]",), asks="days until"),
        FollowUp(("days since",), ("[(what|how) about] [since] {day}",)),
        FollowUp(("day", "days until"), ("[in] {beside}",), combine=in_another_year),
        FollowUp(("month length",), ("[(what|how) about] [in] {month}",)),
        FollowUp(("leap year",), ("[(what|how) about] {year}",)),
    ),
    lists={
        "near": tuple((name, name) for name in RELATIVE if name not in {"now", "today"}),
        "month": tuple((name, name) for name in MONTHS),
        "beside": tuple((name, name) for name in ("this year", "next year", "last year")),
        "side": (("after", "after"), ("before", "before")),
        "weekday": tuple((name, name) for name in WEEKDAYS),
    },
    examples={
        "year": ("2028", "2030"),
        "away": ("thirty days from today", "two weeks from friday", "a week after easter"),
        "day": (
            *RELATIVE,
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
