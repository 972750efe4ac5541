"""Which words are said slower or quicker than the rest."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.text import pacing
from engine.text.paced import Growth, PacedText
from engine.text.pacing import ASIDE, CODE, NAME
from tests.engine.text.cases import CASES
from tests.engine.text.test_speakable import MARKDOWNISH, TEXTS

SCRAPS = (
    *(" (", ") ", " — ", '"', "“", "”"),
    *("555-1234", " N, A, ", " 12 Main Street ", "By the way, ", "Marie Curie", ". ", " word "),
    *("\n", "\n\n"),
)
REPLIES = st.lists(st.sampled_from(SCRAPS), max_size=30).map("".join)


def grown(*deltas: str, pacing: bool = True) -> Growth:
    paced = PacedText(pacing=pacing)
    growths = [*map(paced.push, deltas), paced.end()]
    words = tuple(word for growth in growths for word in growth.words)
    return Growth("".join(growth.text for growth in growths), words)


def paces(text: str) -> dict[str, float]:
    return {word.text: word.pace for word in grown(text).words}


@pytest.mark.parametrize(("text", "words", "pace"), CASES["said_slower"])
def test_what_must_be_caught_is_said_slower(text, words, pace):
    found = paces(text)
    assert {found[word] for word in words.split()} == {getattr(pacing, pace)}
    twice = paces("They saw Paris. We all love Paris, too.")
    assert (twice["Paris."], twice["Paris,"]) == (NAME, 1.0)  # only the first mention


@pytest.mark.parametrize(("text", "inside", "after"), CASES["in_passing"])
def test_what_is_said_in_passing_is_quicker(text, inside, after):
    found = paces(text)
    assert found[inside] > 1.08
    assert found[after] == 1.0


@pytest.mark.parametrize("text", CASES["plain"])
def test_plain_words_keep_the_rate(text):
    assert {word.pace for word in grown(text).words} == {1.0}


def test_the_rate_comes_back_word_by_word():
    found = [word.pace for word in grown("Call 555-1234 and then we can go there.").words]
    back = found[found.index(CODE) + 7 :]
    assert back == sorted(back)
    assert CODE < back[0] < 1.0
    assert back[3:] == [1.0] * len(back[3:])


@pytest.mark.parametrize("opened", ["(", '"', "“", " — "])
def test_what_is_never_closed_ends_with_the_paragraph(opened):
    text = f"We walk {opened}and go on\n\nand here we are again in the end"
    assert grown(text).words[-1].pace == 1.0


def test_without_pacing_every_word_has_the_rate():
    text = "Take two pills (of 35) today."
    assert {word.pace for word in grown(text, pacing=False).words} == {1.0}
    assert grown(text, pacing=False).text == grown(text).text == text


def test_no_word_waits_for_its_pace():
    """The words come when Speakable gives them."""
    paced = PacedText(pacing=True)
    assert [word.text for word in paced.push("Hello ").words] == ["Hello"]
    assert [word.text for word in paced.push("(everybody here ").words] == ["everybody"]


@settings(max_examples=150, deadline=None)
@given(text=REPLIES | MARKDOWNISH | st.sampled_from(TEXTS), size=st.integers(1, 12))
def test_cut_anywhere_it_is_the_same_text_with_the_same_paces(text, size):
    deltas = [text[begin : begin + size] for begin in range(0, len(text), size)]
    assert grown(*deltas) == grown(text)


@settings(max_examples=100, deadline=None)
@given(text=REPLIES, pacing=st.booleans())
def test_words_stand_in_the_text_and_none_is_too_slow_or_quick(text, pacing):
    whole = grown(text, pacing=pacing)
    for word in whole.words:
        assert 0 <= word.start < word.end <= len(whole.text)
        assert CODE <= word.pace <= ASIDE


def test_a_character_cut_into_halves_is_shown_whole_and_counted_once():
    text = PacedText(pacing=True)
    grown = [text.push("Great \ud83c"), text.push("\udf89 news"), text.push("\ud83c"), text.end()]

    assert "".join(growth.text for growth in grown) == "Great \U0001f389 news\ufffd"
    words = [word for growth in grown for word in growth.words]
    assert [(word.text, word.start) for word in words] == [("Great", 0), ("news", 8)]
