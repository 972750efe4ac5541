"""Any string fits the text document, position by position."""

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument

from app.look.plain_text import displayable, units

ANY = st.text(st.characters(codec=None), max_size=40)


@given(ANY)
def test_displayable_text_has_as_many_characters_as_the_original(text):
    assert len(displayable(text)) == len(text)


@given(ANY)
def test_displayable_text_stays_in_one_block_and_takes_the_units_counted(text):
    document = QTextDocument()
    QTextCursor(document).insertText(displayable(text))
    assert document.blockCount() == 1
    assert document.firstBlock().length() - 1 == units(displayable(text)) == units(text)


def test_an_emoji_takes_two_units():
    assert units("a\U0001f600b") == 4
