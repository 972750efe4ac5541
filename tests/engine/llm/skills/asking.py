"""Asks the built-in skills one sentence after another, where they are sure; reads tables of
sentences, and writes what is answered as they do.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import randint
from typing import Any

import pytest

from engine.llm import base as llm
from engine.llm.base import AssistantState, ChooseVoice, Message, Role
from engine.llm.skills.matching.intent import Answer, SkillContext
from engine.llm.skills.matching.matcher import Matcher, matcher
from engine.messages.commands import ChangeSetting
from engine.messages.events import UseWindow
from engine.messages.models import FetchModels
from engine.messages.reading import OpenDocument
from engine.messages.timers import CancelTimers

NOW = datetime(2026, 1, 5, 15, 45)  # a Monday
HERE = AssistantState(rate=None, volume=0.5, voice="", voices=())
ELSEWHERE = Answer("A language model said this.")  # where no skill is sure


def understood(
    *said: str,
    here: AssistantState = HERE,
    now: datetime = NOW,
    draw: Callable[[int, int], int] = randint,
    by: Matcher | None = None,
) -> tuple[str, Answer]:
    """The intent of the last of these sentences, empty where no skill is sure, and the answer."""
    history: list[Message] = []
    intent, answer = "", ELSEWHERE
    for sentence in said:
        history = [*history, Message(Role.USER, sentence)]
        context = SkillContext(lambda: now, lambda here=here: here, Path("/nowhere"), history, draw)
        found = (by or matcher()).understand(sentence, context, certain_only=True)
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


def lines(table: Path) -> list[str]:
    """The lines of a table without its remarks."""
    text = table.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def notation(delta: llm.Delta) -> str:
    """A part of a reply as the tables write it."""
    match delta:
        case llm.TextDelta(text):
            return text
        case llm.ChangeRate(None, None):
            return "rate=own"
        case llm.ChangeRate(by, to) | llm.ChangeVolume(by, to):
            kind = "rate" if isinstance(delta, llm.ChangeRate) else "volume"
            return f"{kind}={to:g}" if by is None else f"{kind}{by:+g}"
        case ChooseVoice(name):
            return f"voice={name}"
        case llm.StopSpeaking():
            return "stop"
        case ChangeSetting(key, value):
            return f"{key}={value}"
        case OpenDocument(path):
            return f"open={path}"
        case UseWindow(command, value):
            return f"window={command}/{value}"
        case FetchModels(names):
            return f"fetch={','.join(names)}"
        case llm.StartTimer(seconds, label, text):
            return f"timer={seconds:g}/{label}/{text}"
        case CancelTimers(numbers):
            return f"cancel={','.join(map(str, numbers))}"
        case _:
            return type(delta).__name__
