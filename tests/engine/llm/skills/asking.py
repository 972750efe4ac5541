"""Asks the built-in skills one sentence after another, where they are sure."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from random import randint

import pytest

from engine.llm.base import Message, Role, Situation
from engine.llm.skills.matching.intent import Answer, Occasion
from engine.llm.skills.matching.matcher import matcher

NOW = datetime(2026, 1, 5, 15, 45)  # a Monday
HERE = Situation(rate=None, volume=0.5, voice="", voices=())
ELSEWHERE = Answer("A language model said this.")  # where no skill is sure


def asked(
    *said: str,
    here: Situation = HERE,
    now: datetime = NOW,
    draw: Callable[[int, int], int] = randint,
) -> Answer:
    """The answer to the last of these sentences."""
    history: list[Message] = []
    answer = ELSEWHERE
    for sentence in said:
        history = [*history, Message(Role.USER, sentence)]
        occasion = Occasion(lambda: now, lambda: here, Path("/nowhere"), history, draw)
        answer = matcher().answer(sentence, occasion, certain_only=True) or ELSEWHERE
        history = [*history, Message(Role.ASSISTANT, answer.text)]
    return answer


def in_zone(patch: pytest.MonkeyPatch, name: str) -> Iterator[None]:
    """For a fixture: the machine stands in a time zone."""
    patch.setenv("TZ", name)
    time.tzset()
    yield
    patch.undo()
    time.tzset()
