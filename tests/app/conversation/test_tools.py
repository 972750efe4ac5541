"""What can be done with a reply: copied as it was written, heard again from its beginning."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication

from app.conversation import bubbles
from app.window import Window
from engine.api import Command, Ending, Replay
from tests.app.test_window import tell
from tests.fakes_engine import READY, lacking_turn, speaking_turn, spoken_turn

FIRST = "# Cake\n\nTake **flour**."


@pytest.fixture
def talked(window: Window, posted: list[Command]) -> Window:
    tell(window, *READY, *spoken_turn(1, "a", FIRST), *spoken_turn(2, "b", "Ten."))
    posted.clear()
    return window


def hover(qtbot, window: Window, turn: int) -> None:
    view = window.conversation
    exchange = next(each for each in view.transcript.exchanges if each.turn == turn)
    block = view._document.reply_block(exchange)
    at = bubbles.text_rect(block).center().toPoint() - QPoint(0, view.verticalScrollBar().value())
    qtbot.mouseMove(view.viewport(), at + QPoint(1, 0))
    qtbot.mouseMove(view.viewport(), at)
    qtbot.waitUntil(lambda: view.tools.exchange is exchange)


def test_the_newest_reply_has_them_until_another_is_pointed_at(qtbot, talked, posted):
    tools = talked.conversation.tools
    assert tools.isVisible()
    tools.copy.click()
    assert QGuiApplication.clipboard().text() == "Ten."
    hover(qtbot, talked, 1)
    tools.copy.click()
    assert QGuiApplication.clipboard().text() == FIRST
    tools.again.click()
    assert posted == [Replay(1, 0)]
    talked.conversation.clear_all()
    tell(talked, *speaking_turn(3, "a", "It is ten.", word="is"))
    assert not tools.isVisible()  # it is still spoken


def test_they_stand_over_no_text_and_no_other_button(window):
    ends = spoken_turn(1, "a", "It is ten.", heard="It", ending=Ending.INTERRUPTED_BY_ESCAPE)
    for turn in (ends, lacking_turn(2, "b"), spoken_turn(3, "c", "Yes.")):
        tell(window, *turn)
        view = window.conversation
        rect = view.tools.geometry().translated(0, view.verticalScrollBar().value())
        block = view.document().begin().next()
        while block.isValid():
            if block.text().strip():
                assert not bubbles.text_rect(block).toRect().intersects(rect), block.text()
            block = block.next()
        if not view.model_link.isHidden():
            assert not view.model_link.geometry().intersects(view.tools.geometry())
