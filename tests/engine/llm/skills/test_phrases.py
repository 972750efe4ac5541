"""The tables of phrases: whose they are, what of them must come back, and what is left alone.

A line is "first sentence || second => skill : words (open)", see Row. The files are the topics;
elsewhere.txt has the rest. Most lines were written before anybody looked at the rules, as somebody
of a certain trade or age would talk.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from engine.llm.base import AssistantState, Timer
from engine.llm.skills.matching.repertoire import repertoire
from tests.engine.llm.skills.asking import in_zone, lines, understood

TABLES = sorted(Path(__file__).with_name("phrases").glob("*.txt"))
SITUATION = AssistantState(
    rate=None,
    volume=0.5,
    voice="Anna",
    voices=("Anna", "Bruno", "Clara"),
    timers=(Timer("pasta", 250.0, number=1, seconds=480), Timer("", 10.0, number=2, seconds=60)),
)
PRECISION = 0.99  # of the sentences that a skill takes, that are its own


@dataclass(frozen=True)
class Row:
    """Sentences said one after another, the last of them judged: its skill ('-' for none) and words
    of which one must be in the answer or in what is done. `is_open`: it is known to be missed.
    """

    said: tuple[str, ...]
    skill: str
    words: tuple[str, ...]
    is_open: bool


@cache
def rows(table: Path) -> tuple[Row, ...]:
    found = []
    for line in lines(table):
        said, _, wanted = line.partition(" => ")
        skill, _, words = wanted.partition(" (open)")[0].partition(" : ")
        any_of = tuple(words.split("|")) if words else ()
        found.append(Row(tuple(said.split(" || ")), skill, any_of, " (open)" in line))
    return tuple(found)


@pytest.fixture(autouse=True)
def greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tables name times in other cities, as seen from here."""
    yield from in_zone(monkeypatch, "UTC")


@cache
def skill_of() -> dict[str, str]:
    """The file of each intent, or the room that the file is in."""
    skills = repertoire().skills
    return {each.name: skill.name.split("/")[0] for skill in skills for each in skill.intents}


@cache
def heard(said: tuple[str, ...]) -> tuple[str, str]:
    """(the skill that takes the last sentence, '-' for none; its answer and actions)."""
    intent, answer = understood(*said, here=SITUATION, draw=lambda low, _high: low)
    return skill_of().get(intent, "-"), f"{answer.text} {answer.actions}"


def is_right(row: Row) -> bool:
    skill, answer = heard(row.said)
    has_word = not row.words or any(word.lower() in answer.lower() for word in row.words)
    return skill == row.skill and has_word


# One row after another takes ten seconds, too long for every run.
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("table", TABLES, ids=[table.stem for table in TABLES])
def test_a_phrase_is_taken_by_its_skill_or_left(table, every):
    wrong = [row for row in rows(table)[::every] if is_right(row) == row.is_open]
    assert not wrong, "\n".join(["these rows are not as they say:", *map(complaint, wrong)])


def complaint(row: Row) -> str:
    """A row that is wrong, or that is right and still called open."""
    wanted = "missed" if row.is_open else f"{row.skill} with one of {row.words}"
    return f"{' || '.join(row.said)}: wanted {wanted}; heard {heard(row.said)}"


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_a_skill_that_is_sure_is_right(every):
    everything = [row for table in TABLES for row in rows(table)]
    assert len({row.said for row in everything}) == len(everything) >= 3600
    judged = [row for table in TABLES for row in rows(table)[::every]]
    sure = [row for row in judged if heard(row.said)[0] != "-"]
    wrong = [row for row in sure if not is_right(row)]
    assert len(wrong) <= (1 - PRECISION) * len(sure), wrong
