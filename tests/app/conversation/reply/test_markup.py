"""Markdown becomes paragraphs whose characters know where they come from, piece by piece."""

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCursor, QTextTable
from PySide6.QtWidgets import QApplication

from app.conversation.reply.markup import Markup
from app.conversation.reply.paragraph import LONGEST, Align, Paragraph, Run, Shape, Style
from app.conversation.reply.start import Start
from app.conversation.transcript import Span
from app.conversation.view import Conversation
from engine.api import Ending, Heard, ReplyDelta, WordHeard
from tests.benchmarks.long_reply import SHAPES
from tests.fakes_engine import spoken_turn

RECIPE = Path(__file__).with_name("recipe.md").read_text("utf-8")


def read(source: str) -> list[Paragraph]:
    markup = Markup()
    markup.show(source)
    return markup.paragraphs


def texts(source: str) -> list[str]:
    return [each.text for each in read(source)]


def styled(paragraph: Paragraph, style: Style) -> list[str]:
    return [paragraph.text[run.start : run.end] for run in paragraph.runs if run.style == style]


def test_marks_become_looks():
    heading, needs, whisk, add, salt, pans, code, enjoy = read(RECIPE)
    assert (heading.text, heading.shape, heading.level) == ("Pancakes for four", Shape.HEADING, 2)
    assert heading.runs == (Run(9, 17, Style(slanted=True)),)
    assert needs.text == "You need flour, a * and 1 & 2:"
    assert styled(needs, Style(strong=True)) == ["flour"]
    assert (whisk.text, whisk.depth, whisk.marked) == ("1.\tWhisk 250 g of it\ntwice.", 1, True)
    assert styled(whisk, Style(code=True)) == ["250 g"]
    assert add.text == "2.\tAdd"
    assert (salt.text, salt.depth) == ("◦\tsalt.", 2)
    assert (pans.text, pans.quoted) == ("Hot pans (https://e.org/a_b_c) win.", True)
    assert (code.text, code.shape) == ("eat(**all)", Shape.CODE)
    assert enjoy.text == "<b>Enjoy</b> a pie (pie.png)"  # nothing is obeyed, nothing loaded


def test_what_bears_no_marks_loads_no_parser(monkeypatch):
    monkeypatch.setitem(sys.modules, "markdown_it", None)  # an import of it would fail
    assert texts("It is ten.\n\nOr so: 5 + 3 - 1,\nthat's 7.") == [
        "It is ten.",
        "Or so: 5 + 3 - 1,\nthat's 7.",
    ]


def test_a_table_becomes_cells():
    before, *cells, end, after = read(
        "Two:\n\n| Name | *Price* |\n|:---|---:|\n| a \\| b | 5 |\n| c\n\nSo."
    )
    assert (before.text, after.text) == ("Two:", "So.")
    assert [each.text for each in cells] == ["Name", "Price", "a | b", "5", "c", ""]
    places = [(each.cell.row, each.cell.column) for each in cells if each.cell]
    assert places == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert {each.cell.align for each in cells[1::2] if each.cell} == {Align.RIGHT}
    assert (end.text, end.shape) == ("", Shape.AFTER)


GROWING = (
    ("", "word{} and "),
    ("", "word{}. So "),
    ("", "**word{}**. So "),
    ("", "word{}\n\n"),
    ("", "- word{}\n"),
    ("", "{}. word and more\n"),
    ("", "> word{}\n>\n"),
    ("```\n", " word{}\n"),
    ("| a | b |\n|---|---|\n", "| word{} | b |\n"),
)


@pytest.mark.parametrize(("head", "more"), GROWING)
def test_a_word_is_read_with_little_of_what_stands_before_it(head, more, monkeypatch):
    markup = Markup()
    source = head + "".join(map(more.format, range(2_000)))
    for at in range(40):  # each lets the next begin a little later
        source += more.format(at)
        markup.show(source)
    begun: list[Start] = []
    nothing: tuple[list[Paragraph], list[Start]] = ([], [])
    parse = "app.conversation.reply.markup._parse"
    monkeypatch.setattr(parse, lambda _, start: begun.append(start) or nothing)
    markup.show(source + "more")
    assert len(source) - begun[0].place < 3 * LONGEST


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


@given(st.lists(PIECES, max_size=30))
def test_however_it_arrives_it_ends_as_if_it_had_come_at_once(pieces):
    markup = Markup()
    source = ""
    for piece in pieces:
        source += piece
        before = list(markup.paragraphs)
        first = markup.show(source)
        assert markup.paragraphs[:first] == before[:first]
    assert markup.paragraphs == read(source)


# Not bars, which may make a table of a paragraph, nor links longer than a piece.
CUT = ("**", "*", "_", "`", "```", "# ", "- ", "> ", "a", "a. b ", "cc dd ee ", "\n", "\n\n")


@given(st.lists(st.sampled_from(CUT), max_size=40))
def test_nor_does_it_matter_where_long_paragraphs_are_cut(pieces):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.conversation.reply.paragraph.LEAST", 4)
        patch.setattr("app.conversation.reply.paragraph.LONGEST", 12)
        markup = Markup()
        source = ""
        for piece in pieces:
            source += piece
            markup.show(source)
        assert markup.paragraphs == read(source)


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
    assert max(touched) < 3 * LONGEST
    assert min(begun) > document.characterCount() - 3 * LONGEST
    assert len(conversation.extraSelections()) < 80
