"""The table of phrases: whose they are, and what a language model should have."""

import importlib
from datetime import datetime
from pathlib import Path

import pytest

from engine.llm.base import Message, Role, Situation, Timer
from engine.llm.skills.matching.intent import Occasion
from engine.llm.skills.matching.matcher import FAMILIES, matcher

TABLE = Path(__file__).with_name("phrases.txt")
SKILLS = Path(importlib.import_module("engine.llm.skills").__path__[0])
SITUATION = Situation(
    rate=None,
    volume=0.5,
    voice="Anna",
    voices=("Anna", "Bruno", "Clara"),
    timers=(Timer("pasta", 250.0), Timer("", 10.0)),
)
PRECISION = 0.99  # of the sentences that a skill takes, that are its own


def rows() -> list[tuple[str, str, bool]]:
    """(phrase, skill or '-', whether it is known to be missed)."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            phrase, _, rest = line.partition(" => ")
            skill, _, mark = rest.partition(" ")
            found.append((phrase, skill, mark == "(open)"))
    return found


def skill_of() -> dict[str, str]:
    """The file of each intent."""
    files = (path.stem for path in SKILLS.glob("*.py"))
    modules = [importlib.import_module(f"engine.llm.skills.{name}") for name in files]
    return {
        intent.name: module.__name__.rsplit(".", 1)[1]
        for module in modules
        if (family := getattr(module, "FAMILY", None)) in FAMILIES
        for intent in family.intents
    }


SKILL_OF = skill_of()


def sure_skill(phrase: str) -> str:
    """The skill that takes the phrase from a language model; '-' when none does."""
    history = (Message(Role.USER, phrase),)
    now = datetime(2026, 1, 5, 15, 45)
    occasion = Occasion(lambda: now, lambda: SITUATION, Path("/nowhere"), history)
    understood = matcher().understand(phrase, occasion, certain_only=True)
    return SKILL_OF[understood.intent.name] if understood else "-"


@pytest.mark.parametrize(
    ("phrase", "skill"),
    [
        pytest.param(
            phrase,
            skill,
            id=phrase,
            marks=[pytest.mark.xfail(strict=True, reason="missed so far")] if is_open else [],
        )
        for phrase, skill, is_open in rows()
    ],
)
def test_a_phrase_is_taken_by_its_skill_or_left(phrase: str, skill: str) -> None:
    assert sure_skill(phrase) == skill


def test_a_skill_that_is_sure_is_right() -> None:
    taken = [(phrase, skill, sure_skill(phrase)) for phrase, skill, _ in rows()]
    sure = [(phrase, skill, by) for phrase, skill, by in taken if by != "-"]
    wrong = [each for each in sure if each[1] != each[2]]
    assert len(wrong) <= (1 - PRECISION) * len(sure), wrong


def test_the_table_has_no_phrase_twice() -> None:
    phrases = [phrase for phrase, _, _ in rows()]
    assert len(set(phrases)) == len(phrases)
