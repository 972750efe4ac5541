"""Lists are asked for again when the person comes back, as others may have changed them."""

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.look.page import Returning
from engine.api import ListConversations, ListModels, ListVoices, SettingChanged

LEAVES, COMES = QEvent.Type.WindowDeactivate, QEvent.Type.WindowActivate


def send(window: QWidget, *kinds: QEvent.Type) -> None:
    for kind in kinds:
        QCoreApplication.sendEvent(window, QEvent(kind))


def test_only_who_was_away_returns(qtbot):
    window, returns = QWidget(), []
    qtbot.addWidget(window)
    Returning(window).returned.connect(lambda: returns.append(1))
    send(window, COMES, COMES)
    assert returns == []
    send(window, LEAVES, LEAVES, COMES, COMES)
    assert returns == [1]


@pytest.mark.parametrize("room", ["models", "voices", "history"])
def test_a_list_in_sight_is_asked_for_again(window, posted, room):
    window.on_event(SettingChanged("history.keep", "forever"))
    match room:
        case "models":
            place, wanted = window.models.open(), [ListModels()]
        case "voices":
            place, wanted = window.shelf.voices.open_page(), [ListVoices(), ListModels()]
        case _:
            window.header.history.click()
            place, wanted = window, [ListConversations("")]
    QApplication.processEvents()
    posted.clear()
    send(place, LEAVES, COMES)
    assert posted[-len(wanted) :] == wanted
