"""The person's name: told, used, forgotten, kept to this computer."""

from dataclasses import replace

import pytest

from engine.llm.base import RememberName
from engine.llm.skills.matching.intent import Answer
from tests.engine.llm.skills.asking import ELSEWHERE, HERE, asked

MARTIN = replace(HERE, person="Martin")


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
    assert asked(said).actions == (RememberName(name),)
    assert asked(said).private


@pytest.mark.parametrize(
    "said", ["call me later", "call me a taxi", "my name is not martin", "call me at 5", "call me"]
)
def test_what_is_no_name_is_left_alone(said: str) -> None:
    assert asked(said) is ELSEWHERE


def test_a_name_is_told_back_in_private_and_forgotten() -> None:
    known = asked("what's my name", here=MARTIN)
    assert known == Answer("Your name is Martin.", private=True)
    assert "haven't told me" in asked("what's my name").text
    assert asked("forget my name", here=MARTIN).actions == (RememberName(""),)
    assert asked("forget my name") == Answer("I don't know your name.")
