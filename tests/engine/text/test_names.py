# ruff: noqa: RUF001  IPA letters look like others on purpose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.names import Name
from engine.text.paced import PacedText
from engine.text.pronunciation.respelling import split_phones
from engine.text.word import PHONES
from tests.engine.text.cases import CASES

NAMES = (
    Name("Siobhan", "shiv"),
    Name("Xi Jinping", "shee jin"),
    Name("Xi Jinping Street", "big street"),
    Name("Xi", "kai"),
    Name("nginx", "engine ex"),
    Name("New York", "nyork"),
    Name("C++", "see plus"),
    Name("SQL", "sequel"),
    Name("May", "my"),
    Name("Paris", "paree", "fr"),
    Name("Jean-Luc", "john luke"),
    Name("Anna"),
    Name("Mr T", "tee"),
    Name("Dr. No", "Joseph"),
)


def said(text, names=NAMES, language="en", step=10_000):
    paced = PacedText(pacing=False, usual=language, names=names)
    pieces = [text[at : at + step] for at in range(0, len(text), step)]
    words = [word for piece in pieces for word in paced.push(piece).words]
    return [*words, *paced.end().words]


@pytest.mark.parametrize(("text", "voice"), CASES["said_forms"])
def test_the_voice_gets_the_said_form_at_the_borders_of_words(text, voice):
    assert " ".join(word.spoken for word in said(text)) == voice


def test_the_text_and_its_places_stay_those_that_are_shown():
    text = "Xi Jinping's nginx, Siobhan-led"
    shown = [word.text for word in said(text)]
    assert " ".join(shown) == "Xi Jinping's nginx, nginx, Siobhan-led Siobhan-led"
    assert [text[word.start : word.end] for word in said(text)] == shown


def test_a_name_of_one_language_is_said_so_in_that_language_alone():
    names = (Name("Paris", "paree", "fr"), Name("Paris", "pear"))
    assert [word.spoken for word in said("Paris", names, "fr")] == ["paree"]
    assert [word.spoken for word in said("Paris", names)] == ["pear"]
    assert next(word.spoken for word in said("Siobhan", language="es")) == "shiv"


def test_only_a_word_that_may_begin_a_longer_name_waits():
    def spoken(paced: PacedText, text: str) -> str:
        return " ".join(word.spoken for word in paced.push(text).words)

    assert spoken(PacedText(pacing=False, names=NAMES), "I met Siobhan today ") == "I met shiv"
    paced = PacedText(pacing=False, names=NAMES)
    assert spoken(paced, "A new way of New ") == "A new way of"
    assert spoken(paced, "York was ") == "nyork"


WORDS = "Xi Jinping Street Jinping's Xi, New York. york nginx Siobhan-led May may and C++ - “Xi”"


NAMED = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@given(NAMED | st.text(max_size=40), st.integers(1, 9))
def test_any_text_is_the_same_however_it_comes(text, step):
    assert said(text, step=step) == said(text)
    assert all(PHONES not in word.spoken for word in said(text))


def test_phones_come_behind_letters_that_any_voice_can_read():
    names = (Name("Niamh", "/niːv/"), Name("Rubato", "roo-BAH-toh"))
    words = [split_phones(word.spoken) for word in said("Niamh's Rubato.", names)]
    assert words == [
        ("Niamh's", ("n", "ˈiː", "v", "z")),
        ("roobahtoh", ("ɹ", "uː", "b", "ˈɑː", "t", "oʊ.")),
    ]
