"""Asks the built-in skills one sentence after another, where they are sure."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import randint
from typing import Any

import pytest

from engine.llm.base import AssistantState, ChooseVoice, Message, Role
from engine.llm.skills.matching.intent import Answer, SkillContext
from engine.llm.skills.matching.matcher import matcher

NOW = datetime(2026, 1, 5, 15, 45)  # a Monday
HERE = AssistantState(rate=None, volume=0.5, voice="", voices=())
ELSEWHERE = Answer("A language model said this.")  # where no skill is sure


def understood(
    *said: str,
    here: AssistantState = HERE,
    now: datetime = NOW,
    draw: Callable[[int, int], int] = randint,
) -> tuple[str, Answer]:
    """The intent of the last of these sentences, empty where no skill is sure, and the answer."""
    history: list[Message] = []
    intent, answer = "", ELSEWHERE
    for sentence in said:
        history = [*history, Message(Role.USER, sentence)]
        context = SkillContext(lambda: now, lambda here=here: here, Path("/nowhere"), history, draw)
        found = matcher().understand(sentence, context, certain_only=True)
        intent, answer = (found.intent.name, found.answer) if found else ("", ELSEWHERE)
        history = [*history, Message(Role.ASSISTANT, answer.text)]
        for action in answer.actions:
            if isinstance(action, ChooseVoice):
                here = replace(here, voice=action.name, voice_before=here.voice)
    return intent, answer


def asked(*said: str, **circumstances: Any) -> Answer:
    """The answer to the last of these sentences."""
    return understood(*said, **circumstances)[1]


BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"  # its rule: no database of zones is needed


def in_zone(patch: pytest.MonkeyPatch, name: str) -> Iterator[None]:
    """For a fixture: the machine stands in a time zone."""
    patch.setenv("TZ", name)
    time.tzset()
    yield
    patch.undo()
    time.tzset()
