"""A reply is written into the document piece by piece, tables too, and each word costs the same."""

import random

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCursor, QTextTable
from PySide6.QtWidgets import QApplication

from app.conversation.reply.paragraph import LONGEST
from app.conversation.view import Conversation
from engine.api import Ending, Heard, ReplyDelta, WordHeard
from tests.benchmarks.long_reply import SHAPES
from tests.fakes_engine import spoken_turn

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
    cursor = conversation.cursorForPosition(rect.center().toPoint() - scrolled(conversation))
    cursor.select(QTextCursor.SelectionType.WordUnderCursor)
    assert cursor.selectedText() == "large"
    faint = [each.cursor.selectedText() for each in conversation.extraSelections()]
    assert faint == ["50", "That is all."]


def scrolled(conversation: Conversation) -> QPoint:
    return QPoint(0, conversation.verticalScrollBar().value())


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
