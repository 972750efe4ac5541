"""Durations and times of day in the words of a language, from its table in resources/commands."""

import re
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any, Final

from engine.resources import table
from engine.text.languages.vocabulary import vocabulary

HOUR: Final = 3600
DAY: Final = 24 * HOUR
_SIZES: Final = (DAY, HOUR, 60, 1)
_HIGHEST: Final = 100  # number that is understood in words
_NO_SIGNS: Final = re.compile(r"[^\w\s]|_")
_HOUR_AND_MINUTES: Final = re.compile(r"\b(\d{1,2})h(\d\d)?\b")


def plain(text: str) -> str:
    """Return the words of a text in small letters, without any sign: "l'heure" is two words."""
    words = " ".join(_NO_SIGNS.sub(" ", text.casefold()).split())
    return " ".join(_HOUR_AND_MINUTES.sub(r"\1 h \2", words).split())


class Times:
    """The times of one language."""

    def __init__(self, language: str) -> None:
        texts = table("commands", f"{language}.toml")
        self._words: dict[str, Any] = texts["times"]
        self._numbers = _numbers(language)
        self._units: dict[str, int] = self._words["units"]
        self._shares: dict[str, float] = self._words["shares"]
        self.number = rf"(?>\d{{1,4}}|{_any_of(self._numbers)})\b"

    @cached_property
    def _part(self) -> re.Pattern[str]:
        """A part of a duration: "una hora y media", "un cuarto de hora", "dos minutos treinta"."""
        number, unit, share = self.number, _any_of(self._units), _any_of(self._shares)
        joint, of, article = (self._words[name] for name in ("and", "of", "article"))
        follows = rf"(?! (?:(?:{of}) )?(?:{unit})\b)"  # else it is a part of its own
        return re.compile(
            rf"(?:(?P<count>{number}) )?(?P<unit>{unit})\b"
            rf"(?: {joint} (?P<more>{share})\b{follows}| (?:{joint} )?(?P<bare>{number}){follows})?"
            rf"|(?:{article} )?(?P<share>{share})\b(?: (?:{of}))? (?P<shared>{unit})\b"
        )

    @cached_property
    def _moment(self) -> re.Pattern[str]:
        """A time of day: "mañana a las siete y media", "quinze para as oito"."""
        number, words = self.number, self._words
        minutes = rf"(?:{number}|(?:{_any_of(self._shares)})\b)"
        hour = rf"(?:{number}|(?:{_any_of(words['hours'])})\b)(?: (?:{words['oclock']})\b)?"
        clock = (
            rf"(?P<hour>{hour})(?: (?:{words['and']} )?(?P<more>{minutes})"
            rf"| (?:{words['less']}) (?P<less>{minutes}))?"
        )
        before = rf"(?P<before>{minutes}) (?:{words['until']}) (?P<next>{hour})"
        halves = _any_of(words["halves"])
        return re.compile(
            rf"(?P<tomorrow>{words['tomorrow']} )?(?:(?:{words['at']}) )?(?:{before}|{clock})"
            rf"(?: (?P<half>{halves}))?(?P<later> {words['tomorrow']})?"
        )

    def number_of(self, said: str) -> int:
        return int(said) if said.isdecimal() else self._numbers[said]

    def seconds(self, said: str) -> int | None:
        """Return the length of a duration; None if the text is not one."""
        total, at = 0.0, 0
        while part := self._part.match(said, at):
            total += self._length(part)
            at = part.end()
            if joint := re.compile(rf" (?:{self._words['and']} )?").match(said, at):
                at = joint.end()
        return round(total) if at == len(said) > 0 else None

    def _length(self, part: re.Match[str]) -> float:
        if part["shared"]:
            return self._shares[part["share"]] * self._units[part["shared"]]
        unit = self._units[part["unit"]]
        more = self._shares[part["more"]] * unit if part["more"] else 0.0
        bare = self.number_of(part["bare"]) * unit / 60 if part["bare"] else 0.0
        return (self.number_of(part["count"]) if part["count"] else 1) * unit + more + bare

    def moment(self, said: str) -> str | None:
        """Return a time of day in English; None if the text is not one."""
        match = self._moment.fullmatch(said)
        if match is None:
            return None
        hour = re.sub(rf" (?:{self._words['oclock']})$", "", match["hour"] or match["next"])
        hours: dict[str, int] = self._words["hours"]
        full = hours[hour] if hour in hours else self.number_of(hour)
        after, before = map(self._minutes, (match["more"], match["less"] or match["before"]))
        if full > 24 or max(after, before) >= 60:
            return None
        minutes = (60 * full + after - before) % (24 * 60)
        half = self._words["halves"].get(match["half"], "")
        english = f"{minutes // 60}:{minutes % 60:02}"
        english += f" {half}" if half and minutes <= 12 * 60 + 59 else ""
        return f"{english} tomorrow" if match["tomorrow"] or match["later"] else english

    def _minutes(self, said: str | None) -> int:
        if not said:
            return 0
        share = self._shares.get(said)
        return round(60 * share) if share else self.number_of(said)

    def phrase(self, seconds: float) -> str:
        """Return a duration with figures: 5400 -> "1 hora y 30 minutos"."""
        rest, parts = max(0, round(seconds)), list[str]()
        for size, names in zip(_SIZES, self._words["names"], strict=True):
            count, rest = divmod(rest, size)
            if count or (size == 1 and not parts):
                parts.append(f"{count} {names.split('|')[count != 1]}")
        return self.joined(parts)

    def joined(self, items: list[str]) -> str:
        *first, last = items
        return f"{', '.join(first)} {self._words['and']} {last}" if first else last


@cache
def times(language: str) -> Times:
    return Times(language)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


def _numbers(language: str) -> dict[str, int]:
    """Numbers in words in every gender: "veintiuno", "veintiún", "veintiuna"."""
    numbers = vocabulary(language)
    each = ((n, form) for n in range(_HIGHEST + 1) for form in ("", "m", "f"))
    known = {plain(numbers.cardinal(n, form)): n for n, form in each}
    return known | {said.removesuffix("o"): n for said, n in known.items() if said.endswith("uno")}
