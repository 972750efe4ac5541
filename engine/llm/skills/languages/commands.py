"""Commands and small talk in the languages other than English, with their times:
a table each, in resources/commands. A command there means an English sentence, which a skill
carries out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any, Final

from engine.languages import ENGLISH, SPOKEN
from engine.llm.skills.matching.quantities import enumeration
from engine.resources import table
from engine.text import tables
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
        self._words: dict[str, Any] = texts_of(language)["times"]
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
        return enumeration(items, self._words["and"])


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


_CLAUSE_END: Final = re.compile(r"[,.;:!?…]+(?:\s|$)")
_GROUP_NAME: Final = re.compile(r"\?P<\w+>")
_ENDINGS: Final = re.compile(r"([^\W\d_]+)\(([^\W\d_]+(?:\|[^\W\d_]+)*)\)")
_WORD: Final = re.compile(r"[^\W\d_]+")
_MOST_CLAUSES: Final = 3
_MOST_CHARS: Final = 60  # of a sentence that some words in it decide
_ENGLISH_TOO: Final = frozenset(table("skills", "words.toml")["english_too"].split())
OFFER: Final = "offer"  # a row for replies to the offer to fetch a language model


@dataclass(frozen=True)
class Command:
    """`means`: English sentences, of which the first that can be done is meant; none for small
    talk. `row`: its texts. `certain`: by a pattern of the whole sentence, not by words in it.
    """

    means: tuple[str, ...]
    row: Mapping[str, str]
    certain: bool = True


def texts_of(language: str) -> dict[str, Any]:
    return table("commands", f"{language}.toml")


def command(text: str, language: str, before: str = "") -> Command | None:
    """Return the command that is the whole text, apart from courtesy, small talk and a reason; None
    if it is none. `before`: the assistant's last answer, to which some are a reply.
    """
    if language == ENGLISH:
        return None
    whole = _entire(text, language, before)
    if whole is not None and whole.certain:
        return whole
    texts = texts_of(language)
    reason, courtesy = (re.compile(_plain_pattern(texts[name])) for name in ("reason", "courtesy"))
    said = [(each, plain(each)) for each in _CLAUSE_END.split(text)]
    clauses = [each for each, bare in said if bare and not courtesy.fullmatch(bare)]
    if not 2 <= len(clauses) <= _MOST_CLAUSES:
        return whole
    commands = [
        _entire(each, language, before) for each in clauses if not reason.match(plain(each))
    ]
    meant = [each for each in commands if each is not None]
    acting = [each for each in meant if each.means] or meant[-1:]
    one = len({each.means for each in acting}) == 1 and len(meant) == len(commands)
    return acting[0] if one else whole


def _entire(text: str, language: str, before: str) -> Command | None:
    texts, words = texts_of(language), plain(text)
    courtesy, fillers = (_plain_pattern(texts[name]) for name in ("courtesy", "fillers"))
    bare = " ".join(re.sub(rf"(?<=\w )(?:{fillers})(?= \w)", "", words).split())
    bare = re.sub(rf"^(?:(?:{courtesy}|{fillers}) )+|(?: (?:{courtesy}|{fillers}))+$", "", bare)
    rows = _rows(language)
    for (pattern, row), said in product(rows, (words, bare)):
        if "loose" in row and not _vocabulary(language).issuperset(said.split()):
            continue
        if "after" in row and not before.startswith(texts[row["after"]].partition("{")[0]):
            continue
        match = pattern.fullmatch(said)
        if match and (means := _filled(row["means"], match, times(language))) is not None:
            return Command(means, row, certain="loose" not in row)
    return None


def may_be_english(text: str) -> bool:
    """Return whether a text is a command of another language that is a word of English too."""
    return plain(text) in _ENGLISH_TOO


def in_english(text: str) -> str:
    """Return the English sentence that a command of any language means, else the text."""
    if may_be_english(text):
        return text
    found = (command(text, language) for language in SPOKEN)
    certain = (each for each in found if each is not None and each.certain)
    return next((each.means[0] for each in certain if each.means), text)


def _filled(means: str, match: re.Match[str], times: Times) -> tuple[str, ...] | None:
    """Return English sentences with the values of a match; None if a value is not understood."""
    slots = match.groupdict()
    values: dict[str, str | int | None] = {}
    if "duration" in slots:
        values["seconds"] = times.seconds(slots["duration"])
    if "moment" in slots:
        values["moment"] = times.moment(slots["moment"])
    if "n" in slots:
        values["n"] = times.number_of(slots["n"])
    if None in values.values():
        return None
    return tuple(means.format_map(values).split("|")) if means else ()


@cache
def _rows(language: str) -> tuple[tuple[re.Pattern[str], dict[str, str]], ...]:
    """Patterns and their texts; replies to a question come first."""
    rows = _compiled(texts_of(language), language)
    return tuple(sorted(rows, key=lambda row: "after" not in row[1]))


@cache
def _vocabulary(language: str) -> frozenset[str]:
    """Return every word of commands; a sentence with another one is about something else."""
    texts = texts_of(language)
    patterns = [pattern.pattern for pattern, _ in _rows(language)]
    patterns += [_plain_pattern(texts[name]) for name in ("courtesy", "fillers", "reason", "frame")]
    written = _GROUP_NAME.sub("", " ".join(patterns))
    longer = (stem + end for stem, ends in _ENDINGS.findall(written) for end in ends.split("|"))
    return frozenset((*_WORD.findall(written), *longer))


def _compiled(texts: dict[str, Any], language: str) -> Iterator[tuple[re.Pattern[str], Any]]:
    halts = tables.phrases("barge_in_words", "halts", language)
    yield re.compile("|".join(map(plain, halts))), {"means": "stop", "answer": ""}
    for row in texts["commands"]:
        for said in row["said"]:
            pattern = _with_parts(said, texts).replace("{n}", f"(?P<n>{times(language).number})")
            pattern = re.sub(r"\{(duration|moment)\}", r"(?P<\1>.+)", pattern)
            yield re.compile(pattern), {"means": "", **row}
    for row in texts["commands"]:
        if words := row.get("words"):
            each = "".join(rf"(?=.*\b(?:{_with_parts(word, texts)})\b)" for word in words)
            never = rf"(?!.*\b(?:{_plain_pattern(texts['never'])})\b)"
            yield re.compile(f"{never}{each}.{{1,{_MOST_CHARS}}}"), {**row, "loose": "yes"}


def _with_parts(pattern: str, texts: dict[str, Any]) -> str:
    pattern = _plain_pattern(pattern)
    for name, part in texts["parts"].items():
        pattern = pattern.replace(f"<{name}>", f"(?:{_plain_pattern(part)})")
    return pattern


def _plain_pattern(pattern: str) -> str:
    """Return a pattern for the results of plain()."""
    return re.sub(r"['-](?=\w)", " ", pattern).replace("'", "")
