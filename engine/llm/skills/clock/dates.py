"""The date today and on other days, and the distance of days.

Invariant: the day comes from the context's clock; day arithmetic is done on calendar days, so a
change to summer time cannot shift a date.
"""

import re
from calendar import monthrange
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
from engine.llm.skills.clock.hours import clock_face
from engine.llm.skills.matching.intent import Answer, NotMeant, SkillContext, Slots
from engine.llm.skills.matching.quantities import counted

_AWAY = re.compile(r" (?:from|after|before|ago)\b")


def weeks_until(slots: Slots, context: SkillContext) -> Answer | Slots:
    day, today = _day(slots["day"], context), context.now().date()
    if day <= today:
        return days_until(slots, context)
    weeks, days = divmod((day - today).days, 7)
    parts = [counted(weeks, "week")] if weeks else []
    parts += [counted(days, "day")] if days else []
    return {"length": " and ".join(parts), "name": _name(slots["day"], day)}


def now_in_words(_slots: Slots, context: SkillContext) -> Slots:
    """Return everything about now: time, date, month and year, and the days left in it."""
    now = context.now()
    days_left = (date(now.year, 12, 31) - now.date()).days
    return {
        "time": clock_face(now.hour, now.minute),
        "date": date_phrase(now.date()),
        "month": MONTHS[now.month - 1].capitalize(),
        "year": str(now.year),
        "days_left": counted(days_left, "day"),  # not counting today
    }


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
    """Answer "what is 30 days from january 15th"; without a distance, the question is not about a
    date.
    """
    day = slots["away"]
    return tell_day({"day": day}, context) if _AWAY.search(day) else None


def tell_past_day(slots: Slots, context: SkillContext) -> Answer:
    """Return the last day of that name: "when was easter"."""
    if slots["day"] in RELATIVE:
        return tell_day(slots, context)
    return Answer(f"That was {date_phrase(_day(slots['day'], context, past=True))}.")


def days_until(slots: Slots, context: SkillContext) -> Answer | Slots:
    day = _day(slots["day"], context)
    days = (day - context.now().date()).days
    if days <= 0:
        return Answer("That's today." if days == 0 else "That has already been.")
    return {"length": counted(days, "day"), "name": _name(slots["day"], day)}


def days_since(slots: Slots, context: SkillContext) -> Answer | Slots | None:
    day = _day(slots["day"], context, past=True)
    days = (context.now().date() - day).days
    if days <= 0:
        return Answer("That's today.") if days == 0 else None
    return {"days": counted(days, "day"), "name": _name(slots["day"], day)}


def days_between(slots: Slots, context: SkillContext) -> Slots:
    first, last = (_day(slots[name], context) for name in ("first", "last"))
    return {"days": counted(abs((last - first).days), "day")}


def month_length(slots: Slots, context: SkillContext) -> Slots | None:
    """Return the number of days of a month, in this year unless another is named."""
    month = month_named(slots.get("month", MONTHS[context.now().month - 1]))
    if month is None:
        return None
    year = _year(slots, context)
    in_year = f" {year}" if month == 2 else ""  # the only one that differs
    days = str(monthrange(year, month)[1])
    return {"name": f"{MONTHS[month - 1].capitalize()}{in_year}", "days": days}


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


def _year(slots: Slots, context: SkillContext) -> int:
    """Return the year that is named, or else this one. NotMeant."""
    said = slots.get("year", str(context.now().year))
    if not said.isdigit() or not 1 <= int(said) <= 9999:
        raise NotMeant
    return int(said)


def _name(said: str, day: date) -> str:
    feast = feast_named(said)
    return feast.name if feast else date_phrase(day)
