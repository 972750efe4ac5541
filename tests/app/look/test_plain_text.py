"""Text from outside loses what could steer a terminal or Qt, and nothing else."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument

from app.look.plain_text import displayable, one_line, plain, tool_tip, units

ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ANY = st.text(st.characters(codec=None), max_size=60)


@given(ANY)
def test_nothing_that_steers_is_left_and_every_character_keeps_its_place(text):
    assert not ORDERS.search(plain(text))
    assert len(plain(text)) == len(text)
    assert plain(plain(text)) == plain(text)


@pytest.mark.parametrize(
    "text",
    ["two\nlines\tand a tab", "Grüße, 北京, 🙂", "שלום \u200f(world)\u200e", "<b>&amp;</b>", ""],
)
def test_text_of_every_language_is_left_as_it_is(text):
    assert plain(text) == text


@given(ANY)
def test_a_name_takes_one_line(text):
    assert len(one_line(text).splitlines()) <= 1


def test_a_tool_tip_shows_markup_instead_of_obeying_it():
    assert tool_tip("<img src='x'>&lt;").count("<") == 2  # our own paragraph


@given(ANY)
@example("a\U0001f600b")
def test_displayable_text_stays_in_one_block_and_takes_the_units_counted(text):
    assert len(displayable(text)) == len(text)
    document = QTextDocument()
    QTextCursor(document).insertText(displayable(text))
    assert document.blockCount() == 1
    assert document.firstBlock().length() - 1 == units(displayable(text)) == units(text)
    assert units("a\U0001f600b") == 4
