"""Carries out requests to the window in words, as keys and menu do, with their details ("open the
sound settings", "find the conversation about pasta").

Invariant: every command is a Shortcut or is listed here; an unknown one does nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QClipboard, QGuiApplication

from app.keys import Shortcut
from app.language import tr
from engine import api

if TYPE_CHECKING:
    from app.window import Window


def ask_removal(window: "Window") -> None:
    """Ask in the panel of conversations whether to delete the present one."""
    window.header.history.setChecked(True)
    window.history.ask_removal_of_present()


def read_clipboard(window: "Window") -> None:
    _read(window, QGuiApplication.clipboard().text(), tr("There is no text in the clipboard."))


def read_selection(window: "Window") -> None:
    """Read the text that is selected in any program, or else what was copied."""
    clipboard = QGuiApplication.clipboard()
    selected = clipboard.text(QClipboard.Mode.Selection) if clipboard.supportsSelection() else ""
    nothing = tr("Nothing is selected, and there is no text in the clipboard.")
    _read(window, selected if selected.strip() else clipboard.text(), nothing)


def _read(window: "Window", text: str, nothing: str) -> None:
    if not text.strip():
        window.notice.on_event(api.Notice(nothing))
        return
    window.post(api.PauseReading())  # of a document
    window.post(api.Speak(text, private=True))


def carry_out(window: "Window", act: Callable[[Shortcut], None], asked: api.UseWindow) -> None:
    """Carry out the command of `asked`; `act` carries out a shortcut."""
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
            act(Shortcut[name.upper()])
