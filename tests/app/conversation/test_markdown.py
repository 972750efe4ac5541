"""Markdown becomes paragraphs whose characters have a place in the reply, and blocks to read."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCursor, QTextTable
from PySide6.QtWidgets import QApplication

from app.conversation.markdown import LONGEST, Paragraph, ParagraphShape, Run, Style, read
from app.conversation.transcript import Span
from app.conversation.view import Conversation
from engine.api import Ending, Heard, ReplyDelta, WordHeard
from tests.benchmarks.long_reply import SHAPES
from tests.help.fakes.engine import spoken_turn

RECIPE = Path(__file__).with_name("recipe.md").read_text("utf-8")


def texts(source: str) -> list[str]:
    return [each.text for each in read(source)]


def styled(paragraph: Paragraph, style: Style) -> list[str]:
    return [paragraph.text[run.start : run.end] for run in paragraph.runs if run.style == style]


def test_marks_become_looks():
    heading, needs, whisk, add, salt, pans, code, enjoy = read(RECIPE)
    assert (heading.text, heading.shape, heading.level) == (
        "Pancakes for four",
        ParagraphShape.HEADING,
        2,
    )
    assert heading.runs == (Run(9, 17, Style(slanted=True)),)
    assert needs.text == "You need flour, a * and 1 & 2:"
    assert styled(needs, Style(strong=True)) == ["flour"]
    assert (whisk.text, whisk.depth, whisk.marked) == ("1.\tWhisk 250 g of it\ntwice.", 1, True)
    assert styled(whisk, Style(code=True)) == ["250 g"]
    assert add.text == "2.\tAdd"
    assert (salt.text, salt.depth) == ("◦\tsalt.", 2)
    assert (pans.text, pans.quoted) == ("Hot pans (https://e.org/a_b_c) win.", True)
    assert (code.text, code.shape) == ("eat(**all)", ParagraphShape.CODE)
    assert enjoy.text == "<b>Enjoy</b> a pie (pie.png)"  # nothing is obeyed, nothing loaded


def test_a_table_becomes_cells():
    before, *cells, end, after = read(
        "Two:\n\n| Name | *Price* |\n|:---|---:|\n| a \\| b | 5 |\n| c\n\nSo."
    )
    assert (before.text, after.text) == ("Two:", "So.")
    assert [each.text for each in cells] == ["Name", "Price", "a | b", "5", "c", ""]
    places = [(each.cell.row, each.cell.column) for each in cells if each.cell]
    assert places == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert {each.cell.align for each in cells[1::2] if each.cell} == {"right"}
    assert (end.text, end.shape) == ("", ParagraphShape.AFTER)


@pytest.mark.parametrize(
    "literal",
    ["2 * 3 * 4", "snake_case_name", "a < b > c", "[x]: https://e.org", "    four spaces", "<br>"],
)
def test_what_only_looks_like_marks_is_shown_as_it_is(literal):
    assert texts(f"_so_ {literal}") == [f"so {literal}"]


def test_a_word_is_found_where_it_is_shown_and_back():
    paragraphs = read(RECIPE)
    for word in ("Pancakes", "flour", "Whisk", "250", "twice", "salt", "pans", "eat", "Enjoy"):
        start = RECIPE.index(word)
        found = [(each, each.shown(Span(start, start + len(word)))) for each in paragraphs]
        hits = [(each, span) for each, span in found if span.start < span.end]
        assert [each.text[span.start : span.end] for each, span in hits] == [word]
        assert hits[0][0].source(hits[0][1].start) == start


MARKS = (
    "|", "|--|--|", "\n| a | b |\n|--|--|\n", "**", "*", "_", "`", "```", "# ", "- ", "1. ", "> ",
    "---", "[", "](", ")", "!", "\\",
)  # fmt: skip
OTHERS = (
    "a", "b c ", " ", "\n", "\n\n", "&amp;", "&#x202e;", "<b>", "\U0001f600", "\t", "\r\n", "\0",
)  # fmt: skip
PIECES = st.sampled_from(MARKS + OTHERS)


@given(st.lists(PIECES, max_size=30))
def test_places_never_go_back_nor_leave_the_reply(pieces):
    source = "".join(pieces)
    places = []
    for paragraph in read(source):
        assert len(paragraph.origin) == len(paragraph.text)
        assert all(0 <= run.start < run.end <= len(paragraph.text) for run in paragraph.runs)
        places += paragraph.origin
    assert places == sorted(places)
    assert all(0 <= place <= len(source) for place in places)


def test_more_text_never_moves_a_cut_of_a_long_paragraph():
    for line in ("A sentence of some words. ", "word ", "x", "```\ncode that goes on\n"):
        source = line + line.removeprefix("```\n") * 400
        before = read(source[: len(source) // 2])[:-1]
        assert before == read(source)[: len(before)]
        assert all(len(each.text) <= LONGEST for each in read(source))


@given(st.text("abc *_#>-\n", max_size=60))
def test_no_letter_is_lost(source):
    shown = "".join(texts(source))
    assert [c for c in shown if c.isalpha()] == [c for c in source if c.isalpha()]


TABLE = "Two:\n\n| Name | *Price* |\n|:--|--:|\n| small one | 5 |\n| large | 50 |\n\nThat is all."
SQUARES = "| n | square |\n|---|---|\n" + "".join(f"| {n} | {n * n} |\n" for n in range(40))


@pytest.fixture
def conversation(qtbot, theme) -> Conversation:
    made = Conversation(theme, None)
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    made.on_event(Heard(1, "a question", 0.9, "sphinx"))
    return made


def write(conversation: Conversation, *deltas: str) -> None:
    for delta in deltas:
        conversation._pause.stop()  # as if each came later
        conversation.on_event(ReplyDelta(1, delta))


def tables(conversation: Conversation) -> list[QTextTable]:
    frames = conversation.document().rootFrame().childFrames()
    return [each for each in frames if isinstance(each, QTextTable)]


def cells(table: QTextTable) -> list[list[str]]:
    def text(row: int, column: int) -> str:
        return table.cellAt(row, column).firstCursorPosition().block().text()

    return [[text(row, at) for at in range(table.columns())] for row in range(table.rows())]


def looks(conversation: Conversation) -> list[tuple[str, object]]:
    block, found = conversation.document().firstBlock(), []
    while block.isValid():
        found.append((block.text(), block.blockFormat().topMargin()))
        block = block.next()
    return found


def test_a_table_is_shown_as_a_table(conversation):
    write(conversation, TABLE)
    (table,) = tables(conversation)
    assert cells(table) == [["Name", "Price"], ["small one", "5"], ["large", "50"]]
    assert "|" not in conversation.toPlainText()
    assert conversation.toPlainText().endswith("That is all.")


@pytest.mark.parametrize("text", [TABLE, SQUARES, TABLE + "\n\n" + SQUARES])
def test_a_table_that_comes_in_pieces_ends_as_if_it_had_come_at_once(
    conversation, qtbot, theme, text
):
    chance = random.Random(1)
    at = 0
    while at < len(text):
        size = chance.randint(1, 9)
        write(conversation, text[at : at + size])
        at += size
    whole = Conversation(theme, None)
    qtbot.addWidget(whole)
    whole.on_event(Heard(1, "a question", 0.9, "sphinx"))
    write(whole, text)
    assert looks(conversation) == looks(whole)
    assert list(map(cells, tables(conversation))) == list(map(cells, tables(whole)))


def test_a_word_is_marked_in_its_cell_and_found_there(conversation):
    write(conversation, TABLE)
    QApplication.processEvents()
    start = TABLE.index("large")
    conversation.on_event(WordHeard(1, start, start + 5))
    (rect,) = conversation.word_rects()
    offset = QPoint(0, conversation.verticalScrollBar().value())
    cursor = conversation.cursorForPosition(rect.center().toPoint() - offset)
    cursor.select(QTextCursor.SelectionType.WordUnderCursor)
    assert cursor.selectedText() == "large"
    faint = [each.cursor.selectedText() for each in conversation.extraSelections()]
    assert faint == ["50", "That is all."]


def test_another_reply_leaves_nothing_of_a_table_behind(conversation):
    write(conversation, TABLE)
    for event in spoken_turn(1, "a question", "Only this.", ending=Ending.COMPLETE)[4:]:
        conversation.on_event(event)
    assert tables(conversation) == []
    for event in spoken_turn(2, "b", TABLE):
        conversation.on_event(event)
    assert len(tables(conversation)) == 1
    conversation.rebuild()
    shown = conversation.toPlainText().split()
    assert shown[:5] == ["a", "question", "Only", "this.", "b"]
    assert shown.count("small") == 1


def test_a_long_cell_is_one_block_and_a_selection_in_a_growing_table_stays(conversation):
    write(conversation, "| a | b |\n|---|---|\n| one | two |\n| " + "long. " * 400 + "| c |\n")
    (table,) = tables(conversation)
    assert [len(row) for row in cells(table)] == [2, 2, 2]
    cursor = table.cellAt(1, 0).firstCursorPosition()
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    conversation.setTextCursor(cursor)
    scrolled = conversation.verticalScrollBar().value()
    write(conversation, "| three | four |\n")
    (table,) = tables(conversation)
    assert table.rows() == 4
    assert conversation.textCursor().selectedText() == "one"
    assert conversation.verticalScrollBar().value() >= scrolled


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_one_more_word_touches_only_the_end_of_a_long_reply(conversation, shape):
    write(conversation, "".join(map(shape, range(1_500))))
    QApplication.processEvents()
    touched: list[int] = []
    document = conversation.document()
    document.contentsChange.connect(lambda at, removed, added: touched.append(removed + added))
    begun: list[int] = []
    document.contentsChange.connect(lambda at, removed, added: begun.append(at))
    for number in range(100):
        write(conversation, shape(1_500 + number))
    assert max(touched) < 5 * LONGEST
    assert min(begun) > document.characterCount() - 3 * LONGEST
    assert len(conversation.extraSelections()) < 80
