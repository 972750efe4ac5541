"""What a talk is called after, as people begin talks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.history.subject import MOST_CHARACTERS, subject

SUBJECTS = {
    "What is the capital of France?": "Capital of France",
    "hi there! can you help me with my tax return, please": "Tax return",
    "Set a timer for ten minutes": "Timer for ten minutes",
    "How far is it from Berlin to Paris": "Berlin to Paris",
    "Explain how photosynthesis works.": "Photosynthesis",
    "what do you think about the U.S. tariffs?": "U.S. tariffs",
    "Was ist die Hauptstadt von Frankreich?": "Hauptstadt von Frankreich",
    "parle-moi de l'histoire de France": "Histoire de France",
    "What's 3 plus 4?": "3 plus 4",
    "I have a leak. How do I mend a copper pipe?": "Leak",
    "hello": "",
    "Thanks!": "",
    "slower, please": "",
    "Who are you?": "",
    "What is 7?": "",
}


@pytest.mark.parametrize(("said", "title"), SUBJECTS.items())
def test_the_subject_is_what_remains_of_a_question(said, title):
    assert subject([said]) == title


def test_the_first_question_with_a_subject_gives_it():
    assert subject(["hello", "hm", "Tell me about otters", "and whales"]) == "Otters"


@given(st.lists(st.text()))
def test_a_title_is_a_short_line_of_what_was_said(said):
    title = subject(said)
    assert len(title) <= MOST_CHARACTERS
    assert len(title.splitlines()) <= 1
