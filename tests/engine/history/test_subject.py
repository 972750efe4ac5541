"""What a talk is called after, as people begin talks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.history.subject import MOST_CHARACTERS, subject, written_title

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


TALK = (
    "How do I bake sourdough bread at home?",
    "Mix flour, water and a starter; then bake it.",
    "Und auf Deutsch: ein Sauerteigbrot? Ou du pain au levain ? 天気はどうですか",
)


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Sourdough bread", "Sourdough bread"),
        ('"Baking sourdough bread."', "Baking sourdough bread"),
        ("'Sourdough bread'\n", "Sourdough bread"),
        ("„Sauerteigbrot backen“", "Sauerteigbrot backen"),
        ("« Pain au levain »", "Pain au levain"),
        ("天気", "天気"),
        ("Title: sourdough bread", "Sourdough bread"),
        ("**Title:** Sourdough bread", "Sourdough bread"),
        ("## Subject of the conversation: Sourdough", "Sourdough"),
        ("Titel: Sauerteigbrot", "Sauerteigbrot"),
        ("Sujet : Pain au levain", "Pain au levain"),
        ("Sure! Here is a title:\n\n**Home *bread* baking**", "Home bread baking"),
        ("Sourdough bread\n\nLet me know if you want another one.", "Sourdough bread"),
        ("\n\n  Sourdough\tbread  \n", "Sourdough bread"),
        ("<b>Sourdough</b> bread", "Sourdough bread"),
        ("<script>alert(1)</script>", ""),
        ("[Sourdough bread](https://example.org/x)", "Sourdough bread"),
        ("`Sourdough` bread \u202eright to left\x07", "Sourdough bread right to left"),
        ("How to bake bread?", "How to bake bread?"),
        ("🍞 Bakery work", "Bakery work"),  # another form of a word
        ("", ""),
        ("***", ""),
        ("...\n?!", ""),
        ("bread " * 50, ""),
        ("b" * 300, ""),
        ("To bake bread you need flour and also a lot of time", ""),
        ("No, this is not a subject of this conversation.", ""),
        ("The subject of this conversation is the person.", ""),
        ("Two to five words, nothing else", ""),
        ("Рецепт хлеба", ""),
        ("Receta de cocina", ""),
        ("I cannot help with that", ""),
    ],
)
def test_what_a_model_writes_is_a_title_or_none(written, title):
    assert written_title(written, TALK) == title


@given(st.text(), st.lists(st.text()))
def test_a_written_title_is_a_short_printable_line(written, talk):
    title = written_title(written, talk)
    assert len(title) <= MOST_CHARACTERS + 2  # some letters are two as capitals
    assert title.isprintable()


def test_the_first_question_with_a_subject_gives_it():
    assert subject(["hello", "hm", "Tell me about otters", "and whales"]) == "Otters"


@given(st.lists(st.text()))
def test_a_title_is_a_short_line_of_what_was_said(said):
    title = subject(said)
    assert len(title) <= MOST_CHARACTERS
    assert len(title.splitlines()) <= 1
