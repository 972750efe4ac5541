"""What keys, the menu and words ask of the window."""

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox

from app import language
from app.about import AboutPage
from app.actions import act as do
from app.keys import _MENU, KeysCard, MoreMenu, Shortcut
from app.models import ModelsPage
from app.presence.command_handler import CommandHandler
from app.presence.ipc_client import Message, Order
from engine import api
from engine.llm.skills.matching.repertoire import repertoire
from tests.engine.llm.skills.test_first_hour import conversation

OTHERS = {"find", "hide"}  # commands that are no Shortcut


def ask(window, command: str, value: str = "") -> None:
    window.on_event(api.UseWindow(command, value))
    QApplication.processEvents()


@pytest.mark.parametrize("act", [act for act in Shortcut if act.said])
def test_what_the_card_says_is_understood(act):
    """Faster, slower, stop and the microphone are the engine's own."""
    _, _, deltas = conversation(act.said)
    asked = [each.command for each in deltas if isinstance(each, api.UseWindow)]
    own = {Shortcut.STOP, Shortcut.FASTER, Shortcut.SLOWER, Shortcut.HANDS_FREE, Shortcut.MUTE}
    own |= {Shortcut.LOUDER, Shortcut.QUIETER, Shortcut.THEME}
    if act is Shortcut.DELETE:
        deltas = conversation(f"{act.said} || yes")[2]
        assert api.UseWindow("delete") in deltas
    else:
        assert asked == ([] if act in own else [act.name.lower()])


def test_every_command_of_the_skills_is_one_of_the_windows():
    known = {act.name.lower() for act in Shortcut} | OTHERS
    text = api.resource("skills", "window.yaml").read_text(encoding="utf-8")
    named = {word.split(",")[0].split("}")[0] for word in text.split("command: ")[1:]}
    assert named <= known | {"is a name of the window's table (app/keys.py)"}
    assert len(repertoire().intents) > 200


def test_card_and_menu_show_the_table(window):
    card = KeysCard("Space", window)
    shown = {label.text() for label in card.findChildren(QLabel)}
    assert {f"“{act.said}”" for act in Shortcut if act.said} <= shown
    assert set(MoreMenu(print, window).entries) == set(_MENU)


def test_the_card_names_what_is_understood_in_the_language_of_the_window(window):
    language.choose("es")
    said = {label.text() for label in KeysCard("Space", window).findChildren(QLabel)}
    assert {"“más despacio”", "“para”", "“show the models”"} <= said
    assert "“slower”" not in said


@pytest.mark.parametrize(
    ("command", "value", "sent"),
    [
        ("new", "", api.NewConversation()),
        ("new", "private", api.NewConversation(private=True)),
        ("delete", "", api.RemoveConversations(())),
    ],
)
def test_a_conversation_begins_or_goes(window, posted, command, value, sent):
    ask(window, command, value)
    assert sent in posted


def test_the_history_is_opened_searched_and_closed(window):
    ask(window, "find", "pasta")
    assert window.history.isVisible()
    assert window.history.search.text() == "pasta"
    ask(window, "history")
    assert window.history.search.text() == ""
    ask(window, "history", "off")
    assert not window.history.isVisible()


def test_pages_open(window):
    for command, page in (("models", ModelsPage), ("about", AboutPage), ("help", KeysCard)):
        ask(window, command)
        assert any(each.isVisible() for each in window.findChildren(page))
    ask(window, "settings", "recogniser")
    assert window.open_settings(None).tabs.currentIndex() == 1
    ask(window, "nonsense")


def test_the_clipboard_is_read_aloud_and_stays_here(window, posted):
    QGuiApplication.clipboard().setText("A text.")
    ask(window, "clipboard")
    assert posted == [api.PauseReading(), api.Speak("A text.", private=True)]
    QGuiApplication.clipboard().clear()
    ask(window, "clipboard")
    assert len(posted) == 2
    assert "clipboard" in window.notice.text()


def test_deleting_by_the_menu_asks_first(window, posted):
    do(window, Shortcut.DELETE)
    assert api.RemoveConversations(()) not in posted
    window.history.findChild(QMessageBox).accept()
    assert posted[-1] == api.RemoveConversations(())


def test_the_selection_is_read_aloud_and_where_there_is_none_what_was_copied(window, posted):
    """A selection needs X11, which tests do not have."""
    handler = CommandHandler()
    handler.serve(window)
    QGuiApplication.clipboard().setText("A text.")
    assert handler.on_message(Message(Order.SELECTION)) == ""
    assert posted == [api.PauseReading(), api.Speak("A text.", private=True)]
    QGuiApplication.clipboard().clear()
    handler.do(Order.SELECTION)
    assert len(posted) == 2
    assert "selected" in window.notice.text()
