"""What only means something after the sentence before it."""

import pytest

from engine.llm.skills.matching.matcher import MAX_BACK
from tests.engine.llm.skills.asking import ELSEWHERE, asked


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (("12 times 12", "divided by four", "plus ten", "double that"), "The answer is 92."),
        (("20 percent of 80", "and 30 percent", "and 40 percent"), "40 percent of 80 is 32."),
        (("10 miles in km", "slower", "repeat that", "and in feet"), "10 miles is 52,800 feet."),
        (("10 miles in km", "and in feet", "and 20"), "20 miles is 105,600 feet."),
        (("when is easter", "how many days until then"), "90 days until Easter."),
        (("what day is it", "what about tomorrow", "and yesterday"), "Yesterday was Sunday, Janua"),
    ],
)
def test_follow_ups_follow_one_another_past_asides(said: tuple[str, ...], answer: str) -> None:
    assert asked(*said).text.startswith(answer)


@pytest.mark.parametrize(
    "said",
    [
        ("10 miles in km", "who invented the mile", "and in feet"),
        ("what is the capital of france", "divided by four"),
        ("and in feet",),
        ("what day is it", "what about lunch"),
        ("spell necessary", "thank you"),
    ],
)
def test_where_another_one_was_asked_before_nothing_is_followed(said: tuple[str, ...]) -> None:
    assert asked(*said) is ELSEWHERE


def test_it_reaches_back_so_far_and_no_further() -> None:
    reached = ("3 plus 4", *["plus one"] * (MAX_BACK - 1))
    assert asked(*reached).text == f"The answer is {7 + MAX_BACK - 1}."
    assert asked(*reached, "plus one") is ELSEWHERE


def test_which_timer_is_answered_only_where_it_was_asked() -> None:
    assert asked("cancel the timer", "pasta") is ELSEWHERE
