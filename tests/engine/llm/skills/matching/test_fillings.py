"""What an open slot may be filled with, and what is a sentence of its own."""

import pytest

from engine.llm.skills.matching.fillings import (
    goes_on,
    has_several_sentences,
    is_change_of_subject,
    is_name,
    is_person,
    is_task,
    is_word,
)


@pytest.mark.parametrize("said", ["tea", "the chicken soup", "mac and cheese", "quiet reading"])
def test_a_name_has_no_clause_in_it(said: str) -> None:
    assert is_name(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "that",
        "you",
        "the one I like",
        "pasta in the oven",
        "pasta and play music",
        "what to do",
    ],
)
def test_what_is_said_about_a_thing_is_not_its_name(said: str) -> None:
    assert not is_name(said)


@pytest.mark.parametrize(
    "said", ["call my mother", "be on time", "turn it off", "take out the bins at 5"]
)
def test_something_to_do_begins_with_a_bare_verb(said: str) -> None:
    assert is_task(said)


@pytest.mark.parametrize(
    "said",
    [
        "what she said",
        "the meeting",
        "do you know him",
        "tell me a joke",
        "never go there",
        "call if it rains",
        "take a pill every day",
        "call mum and tell me a joke",
        "phone margaret about",
        "thanks",
    ],
)
def test_a_question_a_condition_or_a_rhythm_is_not_something_to_do(said: str) -> None:
    assert not is_task(said)


@pytest.mark.parametrize("said", ["their", "necessary", "ice cream", "New York City"])
def test_a_word_alone_or_a_name_of_a_few_can_be_spelled(said: str) -> None:
    assert is_word(said)


@pytest.mark.parametrize(
    "said", ["", "&", "it", "the rules", "love in french", "check", "cat backwards"]
)
def test_what_is_to_be_done_with_a_word_is_not_the_word(said: str) -> None:
    assert not is_word(said)


def test_where_a_sentence_has_capitals_a_person_has_one_as_well() -> None:
    assert is_person("Alfred", has_capitals=True)
    assert not is_person("paranoid", has_capitals=True)
    assert is_person("bob", has_capitals=False)
    assert not is_person("skeptical", has_capitals=False)
    assert not is_person("&", has_capitals=False)


@pytest.mark.parametrize(
    ("said", "several"),
    [
        ("Remind me to call Ben. Who is Ben?", True),
        ("Remind me at 5 p.m. to call Mr. Smith.", False),
        ("Remind me to call Ben.", False),
    ],
)
def test_sentences_are_counted_by_their_marks(said: str, *, several: bool) -> None:
    assert has_several_sentences(said) is several


def test_what_goes_on_with_the_words_before_it_is_told_from_new_words() -> None:
    assert goes_on("is a game")
    assert goes_on("in French")
    assert not goes_on("I am a robot")


def test_what_is_no_thing_at_all_changes_the_subject() -> None:
    assert is_change_of_subject("thanks")
    assert not is_change_of_subject("zebra")
