"""The time in another city, by the system's time zones.

Invariant: a place is known by the name of its zone or by one of the names in PLACES; anything else
is left to a language model.
"""

from functools import lru_cache
from types import MappingProxyType
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from engine.llm.skills.clock.moments import clock_face
from engine.llm.skills.matching.intent import Answer, Family, FollowUp, Intent, Occasion, Slots

_PACIFIC, _EASTERN = "America/Los_Angeles", "America/New_York"
# Cities and countries that no zone is named after.
PLACES = MappingProxyType(
    {
        **dict.fromkeys(("san francisco", "la", "seattle", "san diego", "las vegas"), _PACIFIC),
        **dict.fromkeys(("boston", "washington", "miami", "atlanta", "nyc", "montreal"), _EASTERN),
        **dict.fromkeys(("dallas", "houston", "austin"), "America/Chicago"),
        **dict.fromkeys(("rio", "rio de janeiro", "brasilia"), "America/Sao_Paulo"),
        **dict.fromkeys(("england", "britain", "the uk", "manchester"), "Europe/London"),
        **dict.fromkeys(("edinburgh", "scotland", "wales"), "Europe/London"),
        **dict.fromkeys(("munich", "hamburg", "frankfurt", "cologne", "germany"), "Europe/Berlin"),
        **dict.fromkeys(("france", "lyon", "marseille"), "Europe/Paris"),
        **dict.fromkeys(("barcelona", "spain"), "Europe/Madrid"),
        **dict.fromkeys(("milan", "venice", "florence", "italy"), "Europe/Rome"),
        **dict.fromkeys(("geneva", "switzerland"), "Europe/Zurich"),
        **dict.fromkeys(("beijing", "china"), "Asia/Shanghai"),
        **dict.fromkeys(("delhi", "new delhi", "mumbai", "bangalore", "india"), "Asia/Kolkata"),
        **dict.fromkeys(("osaka", "kyoto", "japan"), "Asia/Tokyo"),
        "south korea": "Asia/Seoul",
        "cape town": "Africa/Johannesburg",
        "utc": "UTC",
        "gmt": "UTC",
    }
)
_REGIONS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Pacific")


def tell_time_there(slots: Slots, occasion: Occasion) -> Answer | None:
    place = slots["place"].strip()
    zone = _zone(place)
    if zone is None:
        return None
    here = occasion.now().astimezone()
    there = here.astimezone(zone)
    days = (there.date() - here.date()).days
    day = {1: " tomorrow", -1: " yesterday"}.get(days, "")
    name = place.upper() if place in {"utc", "gmt", "nyc"} else _titled(place)
    return Answer(f"In {name} it's {clock_face(there.hour, there.minute)}{day}.")


def _zone(place: str) -> ZoneInfo | None:
    bare = place.removesuffix(" city")
    key = PLACES.get(place) or _zones().get(place) or _zones().get(bare)
    try:
        return ZoneInfo(key) if key else None
    except ZoneInfoNotFoundError:  # a system without the data
        return None


@lru_cache(maxsize=1)
def _zones() -> dict[str, str]:
    """The last part of every zone's name, as people say it, to the zone."""
    return {
        zone.rsplit("/", 1)[1].replace("_", " ").lower(): zone
        for zone in sorted(available_timezones())
        if zone.startswith(_REGIONS)
    }


def _titled(place: str) -> str:
    small = {"de", "of", "the"}
    return " ".join(word if word in small else word.capitalize() for word in place.split())


FAMILY = Family(
    intents=(
        Intent(
            "time elsewhere",
            (
                "what time is it [over] in {place}",
                "(what is the|the) [current|local] time [over] in {place}",
                "[local|current] time in {place}",
            ),
            tell_time_there,
        ),
    ),
    follow_ups=(
        FollowUp(("time elsewhere",), ("[(what|how) about] here",), asks="time"),
        FollowUp(
            ("time", "time elsewhere"),
            ("[(what|how) about] [in] {place}",),
            asks="time elsewhere",
        ),
    ),
    open_lists={"place": ("london", "new york", "tokyo", "paris", "berlin", "sydney")},
)
