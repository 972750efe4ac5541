"""The time now, earlier and later, and in other places; and times of day as people say them: "7
am", "half past 7 tomorrow", "friday at noon", "8 tonight".

Invariant: the time comes from the context's clock. Parsing takes canonical text and gives a moment
that is still to come, or None if any part of the text is not a time of day. Without "am" or "pm"
the next such time is meant; on a later day, the one between 7 in the morning and 6 in the evening.
A place is known by the name of its zone, by one of the names in PLACES, or as a country with one
zone; anything else is left to a language model.

Moments are local and naive, with `fold`. Elapsed time is computed from timestamps, never by
subtracting moments: a day on which the clocks change has 23 or 25 hours.
"""

import re
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, ZoneInfoNotFoundError, available_timezones

from engine.llm.skills.clock.days import MONTHS, WEEKDAYS, date_phrase, day_named
from engine.llm.skills.matching.intent import Answer, NotMeant, SkillContext, Slots
from engine.llm.skills.matching.quantities import counted, duration, duration_phrase
from engine.resources import table

_PART = (
    r"(?:in the morning|in the afternoon|in the evening|at night|"
    r"this morning|this afternoon|this evening|tonight)"
)
_WHEN = re.compile(rf"^(?:(?P<part>{_PART}) )?(?:at )?(?P<time>.+?)(?: (?P<part_after>{_PART}))?$")
_DAYTIME = re.compile(r"\b(tomorrow|today|\w+day) (morning|afternoon|evening)\b")
_NIGHT = re.compile(r"\b(tomorrow|today|\w+day) night\b")
_FACE = re.compile(
    r"^(?P<hour>\d{1,2})(?:[: ]?(?P<minute>\d{2}))?(?: o'? ?clock)?(?: (?P<half>[ap]m))?$"
)
_PAST = re.compile(
    r"^(?P<share>a quarter|quarter|half|\d{1,2}(?: minutes)?) (?P<side>past|to|after|before) "
    r"(?P<hour>\d{1,2})(?: o'?clock)?(?: (?P<half>[ap]m))?$"
)
_BRITISH_HALF = re.compile(r"\bhalf (?=\d)")
_SHARES = {"a quarter": 15, "quarter": 15, "half": 30}
_NAMED = {"noon": 12 * 60, "midday": 12 * 60, "midnight": 0}
_MORNING = 7  # o'clock; a later day's hours without "am" are not before it
_DAY = timedelta(days=1)
_FARTHEST_S = 366 * 86400.0  # from now; beyond it the time of day is not a useful answer
MAX_WORDS = 9  # a longer text is not a time of day


def follow_zone() -> None:
    """Notice a change of the machine's time zone; on Windows it is noticed at the next start."""
    if hasattr(time, "tzset"):
        time.tzset()


def local_now() -> datetime:
    """Return the wall clock in the machine's current time zone."""
    follow_zone()
    return datetime.now()


def time_now(_slots: Slots, context: SkillContext) -> Slots:
    return {"time": clock_face(context.now())}


def now_in_words(_slots: Slots, context: SkillContext) -> Slots:
    """Return everything about now: time, date, month and year, and the days left in it."""
    now = context.now()
    days_left = (date(now.year, 12, 31) - now.date()).days
    return {
        "time": clock_face(now),
        "date": date_phrase(now.date()),
        "month": MONTHS[now.month - 1].capitalize(),
        "year": str(now.year),
        "days_left": counted(days_left, "day"),  # not counting today
    }


def time_away(slots: Slots, context: SkillContext) -> Slots | None:
    """Return the time a duration after now, or before it, as `side` says."""
    seconds = duration(slots["duration"])
    if seconds > _FARTHEST_S:
        return None
    then = moment_after(context.now(), seconds if slots["side"] == "after" else -seconds)
    return {"time": clock_face(then)}


def time_until(slots: Slots, context: SkillContext) -> Slots | None:
    """Return the duration until a time of day, to the minute."""
    now = context.now()
    said = slots["moment"].strip()
    moment = parse_moment("midnight" if said == "tomorrow" else said, now)
    if moment is None:
        return None
    minutes = max(1, round(seconds_until(moment, now) / 60))
    return {"length": duration_phrase(60 * minutes), "when": moment_phrase(moment, now)}


def parse_moment(text: str, now: datetime, *, morning: int = _MORNING) -> datetime | None:
    """Return the next moment that the text names; `now` is the user's wall clock, `morning` the
    first hour of another day that needs no "am".
    """
    if len(text.split()) > MAX_WORDS:
        return None
    text = _NIGHT.sub(r"\1 at night", _DAYTIME.sub(r"\1 in the \2", text.strip()))
    text = _BRITISH_HALF.sub("half past ", text)
    for day, rest in _readings(text.split(), now):
        match = _WHEN.match(rest)
        if match is None or (match["part"] and match["part_after"]):
            continue
        later = day is not None and day > now.date()
        part = match["part"] or match["part_after"] or ""
        minutes = _minutes(match["time"], part, now, morning=morning if later else None)
        if minutes is None:
            continue
        midnight = datetime.combine(day or now.date(), datetime.min.time())
        face = midnight + timedelta(minutes=minutes)
        moment = next_showing(face, now) or (
            next_showing(face + _DAY, now) if day is None else None
        )
        if moment is not None:
            return moment
    return None


def next_showing(face: datetime, now: datetime) -> datetime | None:
    """Return the first moment after `now` at which clocks here show `face`, a day and a time; None
    if it has passed. A time that the clocks skip counts from before the change: 2:30 is 3:30 then.
    """
    for fold in (0, 1):  # in an hour that comes twice, the first or the second
        moment = moment_after(face.replace(fold=fold), 0.0)
        if seconds_until(moment, now) > 0:
            return moment
    return None


def seconds_until(moment: datetime, now: datetime) -> float:
    """Return the elapsed time, also across a change of the clocks."""
    return moment.timestamp() - now.timestamp()


def moment_after(moment: datetime, seconds: float) -> datetime:
    """Return the local time `seconds` later, also across a change of the clocks."""
    return datetime.fromtimestamp(moment.timestamp() + seconds)


def _readings(words: list[str], now: datetime) -> Iterator[tuple[date | None, str]]:
    """Yield every way to split the words into a day, today or later, and a time."""
    yield None, " ".join(words)
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            day = day_named(" ".join(words[start:end]), now.date())
            rest = " ".join((*words[:start], *words[end:]))
            if rest and day is not None and day >= now.date():
                yield day, rest


def clock_face(now: datetime) -> str:
    """ "7:05 AM" """
    return f"{now.hour % 12 or 12}:{now.minute:02d} {'AM' if now.hour < 12 else 'PM'}"


def moment_phrase(moment: datetime, now: datetime) -> str:
    """ "7:00 AM", "7:00 AM tomorrow", "9:00 AM on Friday", "9:00 AM on Friday, March 6th, 2026"."""
    face, days = clock_face(moment), (moment.date() - now.date()).days
    if days <= 1:
        return f"{face} tomorrow" if days == 1 else face
    day = WEEKDAYS[moment.weekday()].capitalize() if days < 7 else date_phrase(moment.date())
    return f"{face} on {day}"


def _minutes(time: str, part: str, now: datetime, *, morning: int | None) -> int | None:
    """Return minutes since midnight."""
    if time in _NAMED:
        return _NAMED[time]
    face = _face(time)
    if face is None:
        return None
    minutes, half = face
    if not half and minutes < 13 * 60:
        half = _half(minutes % (12 * 60), part, now, morning=morning)
    if half:
        minutes = minutes % (12 * 60) + (12 * 60 if half == "pm" else 0)
    return minutes if 0 <= minutes < 24 * 60 else None


def _face(time: str) -> tuple[int, str] | None:
    """Return minutes since midnight as written, and "am", "pm" or ""."""
    if match := _FACE.match(time):
        hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"] or ""
        allowed = hour <= (12 if half else 23) and minute < 60
        return (hour * 60 + minute, half) if allowed else None
    if match := _PAST.match(time):
        share = match["share"].removesuffix(" minutes")
        offset = _SHARES.get(share) or int(share)
        hour = int(match["hour"])
        if not 1 <= hour <= 12 or not 0 < offset < 60:
            return None
        sign = 1 if match["side"] in {"past", "after"} else -1
        return (hour * 60 + sign * offset) % (12 * 60), match["half"] or ""
    return None


def _half(minutes: int, part: str, now: datetime, *, morning: int | None) -> str:
    """Return the half of the day that is meant if it was not said."""
    if "morning" in part:
        return "am"
    if part:
        return "pm"
    if morning is not None:
        return "am" if minutes >= morning * 60 else "pm"
    passed = now.hour * 60 + now.minute
    return "pm" if minutes <= passed < minutes + 12 * 60 else "am"


PLACES = {
    name.strip(): zone
    for zone, names in table("skills", "places.toml").items()
    for name in names.split(",")
}
# A country's code and names; its zones: the tables that come with every copy of the zones.
_COUNTRIES, _ZONES_OF_COUNTRIES = "iso3166.tab", "zone.tab"
# Words around a name: "the central time zone".
_AROUND = re.compile(r"^the |(?: standard| daylight)?(?: time ?zone| time)$|'s$| city$")
_SMALL = frozenset(("de", "of", "the", "and", "here", "time", "zone", "timezone", "standard"))
_ABBREVIATED = re.compile(r"^(?:utc|gmt|nyc|la|uk|bst|cet|ist|jst|[ecmp][sd]t)$")
_REGIONS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Pacific")


def time_there(slots: Slots, context: SkillContext) -> Slots:
    place = slots["place"].strip()
    here = context.now().astimezone()
    there = here.astimezone(_zone(place))
    days = (there.date() - here.date()).days
    day = {1: " tomorrow", -1: " yesterday"}.get(days, "")
    return {"where": _titled(place), "time": f"{clock_face(there)}{day}"}


def time_zone(slots: Slots, context: SkillContext) -> Slots:
    """Return the difference of a place's clock from UTC, and the short name of its zone, if any."""
    there = context.now().astimezone(_zone(slots["place"].strip()))
    short = f"{there.tzname()}, " if (there.tzname() or "").isalpha() else ""
    name = _titled(slots["place"].strip().removesuffix("'s"))
    seconds = (there.utcoffset() or timedelta()).total_seconds()
    offset = f"UTC {'plus' if seconds > 0 else 'minus'} {duration_phrase(abs(seconds))}"
    return {"where": name, "zone": short + (offset if seconds else "the same time as UTC")}


def convert_time(slots: Slots, context: SkillContext) -> Slots | None:
    """Convert a time of day from one place to another; without a place, it is here."""
    moment = parse_moment(slots["moment"], context.now())
    places = [slots.get(name, "here").strip() for name in ("first", "second")]
    zones = [_zone_or_here(place) for place in places]
    if moment is None:
        return None
    there = moment.replace(tzinfo=zones[0]).astimezone(zones[1])
    days = (there.date() - moment.date()).days
    day = {1: " the next day", -1: " the day before"}.get(days, "")
    where = "Here" if places[1] == "here" else f"In {_titled(places[1])}"
    return {"where": where, "time": f"{clock_face(there)}{day}"}


def tell_difference(slots: Slots, context: SkillContext) -> Answer:
    first, second = (slots[name].strip() for name in ("first", "second"))
    here = context.now().astimezone()
    left, right = (
        here.astimezone(_zone_or_here(place)).utcoffset() or timedelta()
        for place in (first, second)
    )
    if left == right:
        return Answer("They have the same time.")
    ahead, behind = (first, second) if left > right else (second, first)
    length = duration_phrase(abs((left - right).total_seconds()))
    said = f"{_titled(ahead)} is {length} ahead of {_titled(behind)}."
    return Answer(said[:1].upper() + said[1:])


def _zone_or_here(place: str) -> ZoneInfo | None:
    return None if place == "here" else _zone(place)


def _zone(place: str) -> ZoneInfo:
    """Return the zone of a place. NotMeant."""
    bare = _bare(place)
    city, _, country = bare.rpartition(" ")
    if city and country in _countries():  # "adelaide, australia"
        return _zone(city)
    tables = (PLACES, _zones(), _countries())
    keys = (names.get(said) for names in tables for said in (place, bare))
    try:
        return ZoneInfo(next(filter(None, keys), ""))
    except (ZoneInfoNotFoundError, ValueError) as error:  # no such place, or no data here
        raise NotMeant from error


@lru_cache(maxsize=1)
def _zones() -> dict[str, str]:
    """Return the zone by the last part of its name, as people say it."""
    return {
        zone.rsplit("/", 1)[1].replace("_", " ").lower(): zone
        for zone in sorted(available_timezones())
        if zone.startswith(_REGIONS) and zone != "Pacific/Easter"  # "what time is easter"
    }


@lru_cache(maxsize=1)
def _countries() -> dict[str, str]:
    """Return the zone of every country, empty if it has several."""
    zones: dict[str, set[str]] = {}
    for code, _, zone, *_ in _table(_ZONES_OF_COUNTRIES):
        zones.setdefault(code, set()).add(zone)
    named = {code: name.lower().rstrip(")").split(" (") for code, name in _table(_COUNTRIES)}
    return {
        " ".join(reversed(name)): next(iter(zones[code])) if len(zones.get(code, ())) == 1 else ""
        for code, name in named.items()
    }


def _table(name: str) -> list[list[str]]:
    """Return the rows of a table beside the zones; none on a system without it."""
    folders: list[Traversable] = [Path(folder) for folder in TZPATH]
    if find_spec("tzdata"):  # Windows
        folders.append(files("tzdata") / "zoneinfo")
    for folder in folders:
        if (table := folder / name).is_file():
            lines = table.read_text(encoding="utf-8").splitlines()
            return [line.split("\t") for line in lines if line and not line.startswith("#")]
    return []


def _bare(place: str) -> str:
    """Return the text without the words around a name: "the central time zone" -> "central"."""
    return _AROUND.sub("", _AROUND.sub("", place))


def _titled(place: str) -> str:
    if _ABBREVIATED.match(_bare(place)):
        return _bare(place).upper()
    return " ".join(word if word in _SMALL else word.capitalize() for word in place.split())
