"""What an open slot may be filled with, and what is a sentence of its own."""

from collections.abc import Callable
from functools import partial

import pytest

from engine.llm.skills.matching.fillings import (
    goes_on,
    is_change_of_subject,
    is_name,
    is_person,
    is_task,
    is_word,
)


@pytest.mark.parametrize(
    ("fits", "yes", "no"),
    [
        # a name has no clause in it
        (
            is_name,
            ["tea", "the chicken soup", "mac and cheese", "quiet reading"],
            ["", "that", "you", "the one I like", "pasta in the oven", "pasta and play music",
             "what to do"],
        ),
        # something to do begins with a bare verb; no question, no condition, no rhythm
        (
            is_task,
            ["call my mother", "be on time", "turn it off", "take out the bins at 5"],
            ["what she said", "the meeting", "do you know him", "tell me a joke", "thanks",
             "never go there", "call if it rains", "take a pill every day",
             "call mum and tell me a joke", "phone margaret about"],
        ),
        # a word alone or a name of a few can be spelled
        (
            is_word,
            ["their", "necessary", "ice cream", "New York City"],
            ["", "&", "it", "the rules", "love in french", "check", "cat backwards"],
        ),
        (partial(is_person, has_capitals=True), ["Alfred"], ["paranoid"]),
        (partial(is_person, has_capitals=False), ["bob"], ["skeptical", "&"]),
        (goes_on, ["is a game", "in French"], ["I am a robot"]),
        (is_change_of_subject, ["thanks"], ["zebra"]),
    ],
)  # fmt: skip
def test_what_fills_a_slot(fits: Callable[[str], bool], yes: list[str], no: list[str]) -> None:
    assert [said for said in (*yes, *no) if fits(said)] == yes
