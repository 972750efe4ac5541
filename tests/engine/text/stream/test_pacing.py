"""Which words are said slower or quicker than the rest."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.text.stream import pacing
from engine.text.stream.pace_tags import OFFER, PACES, PaceTags
from engine.text.stream.paced import Growth, PacedText
from engine.text.stream.pacing import CODE, NAME, QUICKEST, SLOWEST
from tests.engine.text.cases import CASES
from tests.engine.text.test_speakable import MARKDOWNISH, TEXTS

SCRAPS = (
    *("<pace slow>", "</pace>", "<pace fast>", "<pace odd>", " (", ") ", " — ", '"', "“", "”"),
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


@pytest.mark.parametrize(
    ("text", "words", "pace"),
    CASES["said_slower"],
)
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


def test_a_wish_of_the_language_model_moves_the_words_in_it():
    found = paces("Take <pace slow>these</pace> and, <pace fast>you know this now</pace>, go.")
    assert found["these"] == 0.8
    assert found["now,"] > 1.1


def test_wishes_and_content_together_stay_within_bounds():
    words = grown("<pace slow>555-1234</pace> <pace fast>(by and by and so on and on)</pace>").words
    assert min(word.pace for word in words) == SLOWEST
    assert max(word.pace for word in words) == pytest.approx(QUICKEST, abs=0.03)


def test_without_pacing_every_word_has_the_rate_and_the_tags_are_gone():
    text = "Take <pace slow>two pills</pace> (of 35) today."
    plain = grown(text, pacing=False)
    assert {word.pace for word in plain.words} == {1.0}
    assert plain.text == grown(text).text == "Take two pills (of 35) today."


def test_no_word_waits_for_its_pace():
    """The words come when Speakable gives them; only the beginning of a tag is held back."""
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
def test_no_tag_is_shown_or_spoken_and_words_stand_in_the_text(text, pacing):
    whole = grown(text, pacing=pacing)
    assert not TAG.search(whole.text)
    assert not any("pace" in word.text.lower() for word in whole.words)
    for word in whole.words:
        assert 0 <= word.start < word.end <= len(whole.text)
        assert SLOWEST <= word.pace <= QUICKEST


def test_a_character_cut_into_halves_is_shown_whole_and_counted_once():
    text = PacedText(pacing=True)
    grown = [text.push("Great \ud83c"), text.push("\udf89 news"), text.push("\ud83c"), text.end()]

    assert "".join(growth.text for growth in grown) == "Great \U0001f389 news\ufffd"
    words = [word for growth in grown for word in growth.words]
    assert [(word.text, word.start) for word in words] == [("Great", 0), ("news", 8)]


# -------------------------------------------------------------------------------------------- tags


TAG = re.compile(r"</?pace(?:[ \t/][^<>\n]{0,40})?>", re.IGNORECASE)


def read(*deltas: str) -> list[tuple[str, float]]:
    """Every character that is left, with the pace wished for it."""
    tags = PaceTags()
    passages = [passage for delta in deltas for passage in tags.push(delta)] + tags.end()
    return [(char, passage.pace) for passage in passages for char in passage.text]


def text_of(*deltas: str) -> str:
    return "".join(char for char, _ in read(*deltas))


def as_signs(text: str) -> str:
    """The text with every character of a slow passage as s, of a fast one as f."""
    signs = {1.0: "-", PACES["slow"]: "s", PACES["fast"]: "f"}
    return "".join(signs[pace] for _, pace in read(text))


@pytest.mark.parametrize(("text", "left", "paces"), CASES["pace_tags"])
def test_a_tag_is_obeyed_and_gone(text, left, paces):
    assert text_of(text) == left
    assert as_signs(text) == paces


def test_what_a_model_is_told_is_what_is_understood():
    assert "<pace" in OFFER
    assert "<pace" not in text_of(OFFER)
    assert {pace for _, pace in read(OFFER)} == {1.0, PACES["slow"], PACES["fast"]}
