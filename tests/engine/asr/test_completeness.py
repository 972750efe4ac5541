"""Whether words leave something open: sentences of each kind, and the rule for each witness."""

from collections.abc import Sequence

import pytest

from engine.asr.completeness import Completeness, Judge, chance_of_end

OPEN, UNSURE, WHOLE, SETTLED = (
    Completeness.OPEN,
    Completeness.UNSURE,
    Completeness.WHOLE,
    Completeness.SETTLED,
)
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
    [
        ("set a timer for", OPEN),
        ("set a timer for ten", OPEN),
        ("set a timer for ten minutes", SETTLED),
        ("speak slower", SETTLED),
        ("what time is it", WHOLE),
        ("what time is it in", OPEN),
    ],
)
def test_a_skills_sentence_is_whole_where_it_can_end(judge, text, expected):
    assert judge.judge(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "my sister is going to",
        "tell me a story about a",
        "i was in london last week and",
        "i do not like coffee but",
        "if i leave at five",
        "because it is late",
        "in the morning",
        "could you please",
        "i would like to know",
        "well um",
        "okay so",
        "please",
        "what",
        "Let me see,",
        "I think that…",
    ],
)
def test_words_after_which_something_must_follow_are_open(judge, text):
    assert judge.judge(text) is OPEN


@pytest.mark.parametrize(
    "text", ["yes", "stop", "she never liked the taste of coffee", "tell me a joke", "thank you"]
)
def test_a_sentence_no_skill_knows_is_whole_where_sentences_end(judge, text):
    assert judge.judge(text) is WHOLE


@pytest.mark.parametrize("text", ["", "...", "my sister"])
def test_what_tells_nothing_is_unsure(judge, text):
    assert judge.judge(text) is UNSURE


def test_what_a_skill_answers_is_whole_even_if_it_seldom_ends_so():
    def seldom(_words: Sequence[str]) -> float:
        return -3.0

    assert Judge(PHRASES, lambda _: True, seldom).judge("spell xylophone") is WHOLE
    assert Judge(PHRASES, lambda _: False, seldom).judge("spell xylophone") is UNSURE


def test_a_number_ends_what_a_skill_answers_and_an_article_does_not():
    lenient = Judge(PHRASES, lambda _: True, chance_of_end())
    assert lenient.judge("what is the root of two hundred") is WHOLE
    assert lenient.judge("say after me the") is OPEN
