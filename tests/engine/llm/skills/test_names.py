"""The person's name: told, used, forgotten, kept to this computer."""

from dataclasses import replace

from engine.llm.base import RememberName
from engine.llm.skills.matching.intent import Answer
from tests.engine.llm.skills.asking import HERE, asked

MARTIN = replace(HERE, person="Martin")


def test_a_name_is_told_back_in_private_and_forgotten():
    assert asked("my name is martin").private
    known = asked("what's my name", here=MARTIN)
    assert known == Answer("Your name is Martin.", private=True)
    assert "haven't told me" in asked("what's my name").text
    assert asked("forget my name", here=MARTIN).actions == (RememberName(""),)
    assert asked("forget my name") == Answer("I don't know your name.")
