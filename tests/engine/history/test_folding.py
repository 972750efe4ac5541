"""Comparing text as a person does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.history.folding import excerpt, folded, shortened, terms


@given(st.text())
def test_folding_keeps_every_place(text):
    assert len(folded(text)) == len(text)


@pytest.mark.parametrize(("text", "plain"), [("Ärger", "arger"), ("ÎLE", "ile"), ("İ", "i")])
def test_accents_and_capitals_make_no_difference(text, plain):
    assert folded(text) == plain


@settings(max_examples=40)
@given(st.text(), st.text())
def test_any_search_of_any_text_ends_in_a_line(text, search):
    assert "\n" not in excerpt((text,), terms(search))


def test_a_word_is_found_where_it_begins_only_and_a_long_text_is_cut():
    assert excerpt(("Berlin", "a linden tree"), ("lin",)) == "a linden tree"
    assert excerpt(("Berlin",), ("lin",)) == ""
    assert shortened("one  two\nthree", 20) == "one two three"
    assert shortened("one two three", 8) == "one two…"
