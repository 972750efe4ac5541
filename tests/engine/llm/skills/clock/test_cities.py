"""The time elsewhere, as seen from a machine in Berlin on a winter afternoon."""

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from engine.llm.base import Situation
from engine.llm.skills.matching.intent import Occasion
from engine.llm.skills.matching.matcher import matcher

NOWHERE = Situation(rate=None, volume=1.0, voice="", voices=())


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def asked(text: str) -> str | None:
    now = datetime(2026, 1, 5, 15, 45)
    occasion = Occasion(lambda: now, lambda: NOWHERE, Path("/nowhere"))
    answer = matcher().answer(text, occasion, certain_only=True)
    return answer.text if answer else None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("what time is it in london", "In London it's 2:45 PM."),
        ("What's the time in New York?", "In New York it's 9:45 AM."),
        ("time in tokyo", "In Tokyo it's 11:45 PM."),
        ("what time is it in sydney", "In Sydney it's 1:45 AM tomorrow."),
        ("what time is it in rio de janeiro", "In Rio de Janeiro it's 11:45 AM."),
        ("what time is it in munich right now", "In Munich it's 3:45 PM."),
        ("what time is it in UTC", "In UTC it's 2:45 PM."),
        ("what time is it in kathmandu", "In Kathmandu it's 8:30 PM."),
    ],
)
def test_the_time_is_the_citys_own(text: str, answer: str) -> None:
    assert asked(text) == answer


@pytest.mark.parametrize("text", ["what time is it in narnia", "what time is it in 1984"])
def test_what_is_no_place_is_left(text: str) -> None:
    assert asked(text) is None


def test_a_stretch_of_time_is_no_place() -> None:
    assert asked("what time is it in two hours") == "It will be 5:45 PM."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("if it is 6 am here what time is it in tokyo", "In Tokyo it's 2:00 PM then."),
        ("it is 10 pm in london what time is it here", "Here it's 11:00 PM then."),
        (
            "when it's 9 pm in berlin what time is it in sydney",
            "In Sydney it's 7:00 AM the next day then.",
        ),
        (
            "if it's 1 am in tokyo what time is it in new york",
            "In New York it's 11:00 AM the day before then.",
        ),
    ],
)
def test_a_time_of_one_place_is_told_for_another(text: str, answer: str) -> None:
    assert asked(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("what time zone is tokyo in", "Tokyo is on JST, UTC plus 9 hours."),
        ("what is the timezone for peru", "Peru is on UTC minus 5 hours."),
        ("time difference between here and new york", "Here is 6 hours ahead of New York."),
        ("how many hours are there between paris and berlin", "They have the same time."),
    ],
)
def test_zones_and_their_differences_are_told(text: str, answer: str) -> None:
    assert asked(text) == answer


def test_a_country_with_several_zones_is_left() -> None:
    assert asked("what time is it in russia") is None
