"""Whether words leave something open: sentences of each kind, and the rule for each witness."""

import pytest

from engine.asr.completeness import Completeness, Judge, chance_of_end
from tests.engine.asr.conftest import CASES

OPEN, UNSURE, WHOLE, _ = Completeness
PHRASES = (
    "what time is it",
    "what time is it in tokyo",
    "set a timer for ten minutes",
    "set a timer for twenty minutes",
    "speak slower",
)


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(PHRASES, set(PHRASES).__contains__, chance_of_end())


@pytest.mark.parametrize(
    ("text", "expected"),
    [(text, state.upper()) for state, texts in CASES["judged"].items() for text in texts],
)
def test_words_are_whole_where_sentences_end_and_open_where_more_follows(judge, text, expected):
    assert judge.judge(text) is Completeness[expected]


@pytest.mark.parametrize(("text", "expected"), CASES["please"])
def test_a_please_ends_a_request_and_opens_others(text, expected):
    asked = Judge(PHRASES, lambda said: "slower" in said.lower(), chance_of_end())
    assert asked.judge(text) is Completeness[expected]


def judging(answers: bool, ends: float, text: str) -> Completeness:
    """With a skill that answers or none, and ends of sentences as likely as that everywhere."""
    return Judge(PHRASES, lambda _: answers, lambda _: ends).judge(text)


def test_the_more_words_the_likelier_they_are_all():
    order = [OPEN, UNSURE, WHOLE]
    judged = [order.index(judging(False, -1.0, "word " * count)) for count in range(1, 12)]
    assert judged == sorted(judged)
    assert set(judged) == {0, 1, 2}


def test_a_skill_that_answers_speaks_for_the_end_and_so_does_a_number_but_no_article():
    text = "please spell xylophone now"
    assert judging(True, -1.0, text) is WHOLE
    assert judging(False, -1.0, text) is OPEN
    assert judging(True, -3.0, "spell xylophone") is UNSURE
    lenient = Judge(PHRASES, lambda _: True, chance_of_end())
    assert lenient.judge("what is the root of two hundred") is WHOLE
    assert lenient.judge("say after me the") is OPEN
