"""The time elsewhere, as seen from a machine in Berlin on a winter afternoon."""

from collections.abc import Iterator

import pytest

from tests.engine.llm.skills.asking import asked, in_zone


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from in_zone(monkeypatch, "Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("what time is it in london", "In London it's 2:45 PM."),
        ("what time is it in munich right now", "In Munich it's 3:45 PM."),
        ("what time is it in two hours", "It will be 5:45 PM."),  # no place
        ("if it is 6 am here what time is it in tokyo", "In Tokyo it's 2:00 PM then."),
        ("it is 10 pm in london what time is it here", "Here it's 11:00 PM then."),
        ("time difference between here and new york", "Here is 6 hours ahead of New York."),
    ],
)
def test_the_time_elsewhere_is_seen_from_here(text, answer):
    assert asked(text).text == answer
