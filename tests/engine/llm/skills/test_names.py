"""The person's name: told, used, forgotten, kept to this computer."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from engine.llm.base import Message, RememberName, Role, Situation
from engine.llm.skills.matching.intent import Answer, Occasion
from engine.llm.skills.matching.matcher import matcher

NOBODY = Situation(rate=None, volume=0.5, voice="", voices=())


def answer(said: str, person: str = "") -> Answer | None:
    here = replace(NOBODY, person=person)
    history = (Message(Role.USER, said),)
    occasion = Occasion(lambda: datetime(2026, 1, 5), lambda: here, Path(), history)
    return matcher().answer(said, occasion, certain_only=True)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("my name is martin", "Martin"),
        ("My name is Anna-Lena.", "Anna-Lena"),
        ("Call me McKenzie, please.", "McKenzie"),
        ("you can call me mary jane", "Mary Jane"),
    ],
)
def test_a_name_is_remembered_as_names_are_written(said: str, name: str) -> None:
    told = answer(said)
    assert told is not None
    assert told.actions == (RememberName(name),)
    assert told.private


@pytest.mark.parametrize(
    "said", ["call me later", "call me a taxi", "my name is not martin", "call me at 5", "call me"]
)
def test_what_is_no_name_is_left_alone(said: str) -> None:
    assert answer(said) is None


def test_a_name_is_told_back_in_private_and_only_while_it_is_known() -> None:
    known = answer("what's my name", "Martin")
    assert known == Answer("Your name is Martin.", private=True)
    unknown = answer("what's my name")
    assert unknown is not None
    assert "haven't told me" in unknown.text


def test_a_name_is_forgotten() -> None:
    forgotten = answer("forget my name", "Martin")
    assert forgotten is not None
    assert forgotten.actions == (RememberName(""),)
    nothing = answer("forget my name")
    assert nothing is not None
    assert nothing.actions == ()
