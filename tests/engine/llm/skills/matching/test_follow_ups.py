"""What only means something after the sentence before it."""

from datetime import datetime
from pathlib import Path

import pytest

from engine.llm.base import Message, Role, Situation
from engine.llm.skills.matching.intent import Occasion
from engine.llm.skills.matching.matcher import MAX_BACK, matcher

HERE = Situation(rate=None, volume=0.5, voice="", voices=())
ELSEWHERE = "A language model said this."


def last_answer(*said: str) -> str:
    """The answer to the last of these; ELSEWHERE where no skill is sure."""
    history: list[Message] = []
    text = ""
    for sentence in said:
        history.append(Message(Role.USER, sentence))
        occasion = Occasion(lambda: datetime(2026, 1, 5, 15, 45), lambda: HERE, Path(), history)
        answer = matcher().answer(sentence, occasion, certain_only=True)
        text = ELSEWHERE if answer is None else answer.text
        history = [*history, Message(Role.ASSISTANT, text)]
    return text


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
    assert last_answer(*said).startswith(answer)


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
def test_where_the_sentence_before_was_another_ones_nothing_is_followed(
    said: tuple[str, ...],
) -> None:
    assert last_answer(*said) == ELSEWHERE


def test_it_reaches_back_so_far_and_no_further() -> None:
    reached = ("3 plus 4", *["plus one"] * (MAX_BACK - 1))
    assert last_answer(*reached) == f"The answer is {7 + MAX_BACK - 1}."
    assert last_answer(*reached, "plus one") == ELSEWHERE


def test_which_timer_is_answered_only_where_it_was_asked() -> None:
    assert last_answer("cancel the timer", "pasta") == ELSEWHERE
