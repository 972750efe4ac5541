"""Does what keys, the menu and requests in words ask of the window; words may have details ("open
the sound settings", "find the conversation about pasta").

Invariant: every command in words is a Shortcut or is listed here; an unknown one does nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication

from app.about import AboutPage
from app.keys import KeysCard, Shortcut
from app.language import tr
from engine import api

if TYPE_CHECKING:
    from app.window import Window

_VOLUME_STEP = 10  # per cent


def act(window: "Window", shortcut: Shortcut) -> None:
    """Do what a key or an entry of the menu stands for."""
    actions: dict[Shortcut, Callable[[], object]] = {
        Shortcut.STOP: window.stop_reply,
        Shortcut.SNOOZE: window.timers.snooze,
        Shortcut.DELETE: window.history.ask_removal_of_present,
        Shortcut.CLIPBOARD: lambda: read_aloud(
            window, QGuiApplication.clipboard().text(), tr("There is no text in the clipboard.")
        ),
        Shortcut.NEW: lambda: window.post(api.NewConversation(window.header.is_private)),
        Shortcut.HISTORY: window.header.history.toggle,
        Shortcut.HANDS_FREE: window.header.hands_free.toggle,
        Shortcut.MUTE: window.header.microphone.click,
        Shortcut.TYPE: lambda: window.composer.type(""),
        Shortcut.EDIT: window.conversation.tools.edit.click,
        Shortcut.FASTER: lambda: window.stage.rate.slider.step(1),
        Shortcut.SLOWER: lambda: window.stage.rate.slider.step(-1),
        Shortcut.LOUDER: lambda: window.header.change_volume(_VOLUME_STEP),
        Shortcut.QUIETER: lambda: window.header.change_volume(-_VOLUME_STEP),
        Shortcut.THEME: window.header.theme_button.click,
        Shortcut.VOICES: lambda: window.side.voices.open_page(),
        Shortcut.CHOOSE_FILE: window.side.voices.choose_file,
        Shortcut.READING: window.reading.open,
        Shortcut.EXPORT: window.export,
        Shortcut.DETAILS: window.header.details.toggle,
        Shortcut.MODELS: window.models.open,
        Shortcut.SETTINGS: lambda: window.open_settings(None),
        Shortcut.FIRST_START: window.begin_first_start,
        Shortcut.HELP: lambda: KeysCard(window.talk_key.label, window).show(),
        Shortcut.ABOUT: lambda: AboutPage(window).open_beside(),
        Shortcut.QUIT: window.quit,
    }
    actions[shortcut]()


def read_aloud(window: "Window", text: str, nothing: str) -> None:
    """Read a text that stays private; without one, show `nothing`."""
    if not text.strip():
        window.notice.on_event(api.Notice(nothing))
        return
    window.post(api.PauseReading())  # of a document
    window.post(api.Speak(text, private=True))


def carry_out(window: "Window", asked: api.UseWindow) -> None:
    """Carry out a request in words."""
    match asked.command, asked.value:
        case "history", "off":
            window.header.history.setChecked(False)
        case ("history" | "find") as command, words:
            window.header.history.setChecked(True)
            window.history.search.setText(words if command == "find" else "")
        case "new", ("private" | "public") as kind:
            window.post(api.NewConversation(private=kind == "private"))
        case "delete", _:  # confirmed by a "yes"
            window.post(api.RemoveConversations(()))
        case "settings", section:
            window.open_settings(None, section)
        case "details", _:
            window.header.details.setChecked(True)
        case "hide", _:
            window.close()
        case name, _ if name.upper() in Shortcut.__members__:
            act(window, Shortcut[name.upper()])
