"""Commands and small talk in the languages other than English: a table each, in resources/commands.
A command there means an English sentence, which a skill carries out.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Final

from engine.languages import ENGLISH, SPOKEN
from engine.llm.skills.languages.times import Times, plain, times
from engine.resources import table
from engine.text import tables

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
    """Return the English sentence that a command means in any language; else the text. A word of
    English is never a command of another language.
    """
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
    """Return every word that commands consist of. A sentence with another word is about something
    else: "sube el volumen de ventas".
    """
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
