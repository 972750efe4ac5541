"""The time in another city, by the system's time zones.

Invariant: a place is known by the name of its zone, by one of the names in PLACES, or as a country
with one zone; anything else is left to a language model.
"""

import re
from datetime import timedelta
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, ZoneInfoNotFoundError, available_timezones

from engine.llm.skills.clock.hours import clock_face, parse_moment
from engine.llm.skills.matching.intent import Answer, NotMeant, SkillContext, Slots
from engine.llm.skills.matching.quantities import duration_phrase
from engine.resources import table

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
    return {"where": _titled(place), "time": f"{clock_face(there.hour, there.minute)}{day}"}


def time_zone(slots: Slots, context: SkillContext) -> Slots:
    """Return the difference of a place's clock from UTC, and the short name of its zone if it has
    one.
    """
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
    zones = [None if place == "here" else _zone(place) for place in places]
    if moment is None:
        return None
    there = moment.replace(tzinfo=zones[0]).astimezone(zones[1])
    days = (there.date() - moment.date()).days
    day = {1: " the next day", -1: " the day before"}.get(days, "")
    where = "Here" if places[1] == "here" else f"In {_titled(places[1])}"
    return {"where": where, "time": f"{clock_face(there.hour, there.minute)}{day}"}


def tell_difference(slots: Slots, context: SkillContext) -> Answer:
    first, second = (slots[name].strip() for name in ("first", "second"))
    zones = [None if place == "here" else _zone(place) for place in (first, second)]
    here = context.now().astimezone()
    left, right = (here.astimezone(zone).utcoffset() or timedelta() for zone in zones)
    if left == right:
        return Answer("They have the same time.")
    ahead, behind = (first, second) if left > right else (second, first)
    length = duration_phrase(abs((left - right).total_seconds()))
    said = f"{_titled(ahead)} is {length} ahead of {_titled(behind)}."
    return Answer(said[:1].upper() + said[1:])


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
