"""The time elsewhere, as seen from a machine in Berlin on a winter afternoon."""

from collections.abc import Iterator

import pytest

from tests.engine.llm.skills.asking import ELSEWHERE, asked, in_zone


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from in_zone(monkeypatch, "Europe/Berlin")


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
        ("what time is it in two hours", "It will be 5:45 PM."),  # no place
        *((f"what time is it in {place}", ELSEWHERE.text) for place in ("narnia", "1984")),
        ("what time is it in russia", ELSEWHERE.text),  # which has several zones
        ("if it is 6 am here what time is it in tokyo", "In Tokyo it's 2:00 PM then."),
        ("it is 10 pm in london what time is it here", "Here it's 11:00 PM then."),
        ("when it's 9 pm in berlin what time is it in sydney",
         "In Sydney it's 7:00 AM the next day then."),
        ("if it's 1 am in tokyo what time is it in new york",
         "In New York it's 11:00 AM the day before then."),
        ("what time zone is tokyo in", "Tokyo is on JST, UTC plus 9 hours."),
        ("what is the timezone for peru", "Peru is on UTC minus 5 hours."),
        ("time difference between here and new york", "Here is 6 hours ahead of New York."),
        ("how many hours are there between paris and berlin", "They have the same time."),
    ],
)  # fmt: skip
def test_the_time_is_the_citys_own_or_that_of_two_places(text: str, answer: str) -> None:
    assert asked(text).text == answer
