"""The panel of kept conversations, driven by keys and mouse."""

from datetime import date, timedelta

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QListWidgetItem,
    QMenu,
    QMessageBox,
    QPushButton,
)

from app.history.panel import HistoryPanel
from app.history.rows import details, period
from app.window import Window
from engine import api
from engine.messages.words import Ending
from tests.help.window import tell

FOUND = (
    api.KeptConversation(3, "Weather", 1e9, 1e9 + 60, 2),
    api.KeptConversation(1, "<b>Recipes</b>\n& more", 1e9, 1e9, 1, "…with salt"),
)
PAST = (api.Turn(-2, Ending.COMPLETE, 0.0, "does it rain?", reply="It rains.", heard="It rains."),)


@pytest.fixture
def opened(window: Window, posted: list[api.Command]) -> Window:
    window.on_event(api.SettingChanged("history.keep", "forever"))
    window.header.history.click()
    assert posted[-1] == api.ListConversations("")
    assert window.history.search.hasFocus()
    tell(window, api.ConversationsListed("", FOUND, False, 3))
    posted.clear()
    return window


def key(qtbot, window: Window, pressed: Qt.Key) -> None:
    qtbot.keyClick(window.history.rows, pressed)


def select(window: Window, *rows: int) -> None:
    for row in rows:
        talk(window, row).setSelected(True)


def talk(window: Window, number: int) -> QListWidgetItem:
    """The row of the conversation that was listed there."""
    rows = window.history.rows
    return rows.findItems("*", Qt.MatchFlag.MatchWildcard)[1:][number]


def test_rows_are_text_name_what_goes_on_and_a_new_list_keeps_what_was_selected(opened):
    rows = opened.history.rows
    assert [talk(opened, n).text() for n in range(2)] == ["Weather", "<b>Recipes</b> & more"]
    spoken = [talk(opened, n).data(Qt.ItemDataRole.AccessibleTextRole) for n in range(2)]
    assert ["goes on now" in each for each in spoken] == [True, False]
    assert details(FOUND[1]) in spoken[1]
    select(opened, 1)
    opened.on_event(api.ConversationsListed("", FOUND[::-1], False, 3))
    assert [each.id for each in rows.selected] == [1]


def test_what_is_typed_is_looked_for_and_older_answers_are_dropped(qtbot, opened, posted):
    qtbot.keyClicks(opened.history.search, "salt")
    qtbot.waitUntil(lambda: posted[-1:] == [api.ListConversations("salt")])
    opened.on_event(api.ConversationsListed("sal", (), False, None))
    assert opened.history.rows.count() == 3
    opened.on_event(api.ConversationsListed("salt", FOUND[1:], False, None))
    assert opened.history.rows.count() == 1
    opened.on_event(api.ConversationsListed("salt", (), False, None))
    assert opened.history.nothing.text() == "Nothing was found."
    opened.on_event(api.ConversationsListed("salt", FOUND, True, None))
    assert "search" in opened.history.nothing.text()


def test_enter_and_a_click_open_and_f2_renames(qtbot, opened, posted):
    rows = opened.history.rows
    rows.setCurrentItem(talk(opened, 1))
    key(qtbot, opened, Qt.Key.Key_Return)
    assert posted == [api.OpenConversation(1)]
    centre: QPoint = rows.visualItemRect(talk(opened, 0)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    assert posted[-1] == api.OpenConversation(3)
    rows.setFocus()
    rows.setCurrentItem(talk(opened, 0))
    key(qtbot, opened, Qt.Key.Key_F2)
    editor = QApplication.focusWidget()
    qtbot.keyClicks(editor, "Rain")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: posted[-1] == api.RenameConversation(3, "Rain"))


def answer(panel: HistoryPanel, words: str) -> None:
    (box,) = (each for each in panel.findChildren(QMessageBox) if each.isVisible())
    next(each for each in box.buttons() if each.text() == words).click()


def test_deleting_takes_a_second_word(qtbot, opened, posted):
    panel = opened.history
    select(opened, 1)
    key(qtbot, opened, Qt.Key.Key_Delete)
    assert posted == []
    answer(panel, "Keep")
    select(opened, 0)
    key(qtbot, opened, Qt.Key.Key_Delete)
    answer(panel, "Delete")
    (command,) = posted
    assert isinstance(command, api.RemoveConversations)
    assert set(command.conversations) == {1, 3}


def test_what_is_asked_about_this_conversation_is_withdrawn_for_another(qtbot, opened, posted):
    panel = opened.history
    for _ in range(2):
        panel.ask_removal_of_present()
    (box,) = (each for each in panel.findChildren(QMessageBox) if each.isVisible())
    opened.on_event(api.ConversationOpened(3))
    assert not box.isVisible()
    assert api.RemoveConversations(()) not in posted


def test_keeping_is_asked_and_can_be_changed(qtbot, window, posted):
    panel = window.history
    window.header.history.click()
    assert panel.question.isVisible()
    assert not panel.search.isVisible()
    days = panel.question.findChildren(QPushButton)[1]
    qtbot.mouseClick(days, Qt.MouseButton.LeftButton)
    assert api.ChangeSetting("history.keep", "30 days") in posted
    assert not panel.question.isVisible()
    window.on_event(api.SettingChanged("history.keep", "never"))
    assert panel.nothing.text() == "Conversations are not kept."


def test_a_private_conversation_shows_its_sign_until_it_ends(qtbot, opened, posted):
    qtbot.mouseClick(opened.history.private, Qt.MouseButton.LeftButton)
    assert posted == [api.NewConversation(private=True)]
    opened.on_event(api.ConversationOpened(None, private=True))
    sign = opened.header.private
    assert sign.isVisible()
    opened.header.new.click()
    assert posted[-1] == api.NewConversation(private=True)
    qtbot.mouseClick(sign, Qt.MouseButton.LeftButton)
    assert posted[-1] == api.NewConversation(private=False)
    opened.on_event(api.ConversationOpened(None))
    assert not sign.isVisible()
    assert not opened.history.private.isChecked()


def test_a_conversation_that_was_opened_is_shown_and_a_narrow_panel_makes_room(opened):
    opened.on_event(api.ConversationOpened(1, turns=PAST))
    assert "It rains." in opened.conversation.toPlainText()
    assert opened.history.isVisible()
    assert opened.conversation.isVisible()
    opened.resize(480, 640)
    QApplication.processEvents()
    assert not opened.conversation.isVisible()
    opened.on_event(api.ConversationOpened(1, turns=PAST))
    assert opened.conversation.isVisible()
    assert not opened.history.isVisible()
    assert opened.header.history.accessibleName().startswith("Conversations")


def test_export_all_asks_for_a_file(window, posted, tmp_path):
    dialog = window.history.export_all()
    dialog.fileSelected.emit(str(tmp_path / "all.md"))
    assert posted == [api.ExportConversations(tmp_path / "all.md")]
    dialog.close()


def menu_at(window: Window, at: QPoint) -> list[QAction]:
    """The actions offered by a click of the right button; [] = there is no menu."""
    rows = window.history.rows
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, rows.mapToGlobal(at))
    QApplication.sendEvent(rows.viewport(), asked)
    menu = rows.findChild(QMenu)
    return [] if menu is None else menu.actions()


@pytest.mark.qt_log_ignore("support grabbing the keyboard", extend=True)
def test_the_menu_of_a_row_opens_renames_and_deletes(opened, posted):
    rows = opened.history.rows
    rows.setCurrentItem(talk(opened, 1))
    actions = menu_at(opened, rows.visualItemRect(talk(opened, 1)).center())
    words = [action.text().partition("\t")[0] for action in actions]
    assert words == ["Open", "Rename", "Delete…"]
    opened.on_event(api.ConversationsListed("", FOUND, False, 3))  # rows are made anew meanwhile
    actions[0].trigger()
    assert posted == [api.OpenConversation(1)]
    actions[1].trigger()
    assert rows.state() is QAbstractItemView.State.EditingState
    actions[2].trigger()
    answer(opened.history, "Keep")
    rows.findChild(QMenu).close()


def test_conversations_stand_under_their_day_and_a_heading_is_none_of_them(qtbot, opened, posted):
    rows = opened.history.rows
    heading = rows.item(0)
    assert (rows.count(), heading.text()) == (3, "September 2001")
    at = rows.visualItemRect(heading).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=at)
    key(qtbot, opened, Qt.Key.Key_Home)
    assert rows.currentItem() is talk(opened, 0)
    assert menu_at(opened, at) == []
    key(qtbot, opened, Qt.Key.Key_Up)
    assert rows.currentItem() is talk(opened, 0)
    assert posted == []
    opened.history.search.setText("a")  # what is found is no diary
    opened.on_event(api.ConversationsListed("a", FOUND, False, None))
    assert rows.count() == 2


HEADINGS = {-1: "Today", 0: "Today", 1: "Yesterday", 2: "Last 7 days", 7: "Last 7 days"}
MONTHS = {8: "February", 40: "January", 100: "November 2025"}


@pytest.mark.parametrize(("days", "heading"), (HEADINGS | MONTHS).items())
def test_headings_are_those_of_a_diary(days, heading):
    today = date(2026, 2, 28)
    assert period(today - timedelta(days), today) == heading
