"""The keyboard: every shortcut in one table, the card that shows them, and the menu behind three
dots.

Invariant: card and menu show exactly the shortcuts that work; all come from the same table.
"""

from collections.abc import Callable
from enum import Enum

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QMenu, QWidget

from app.language import commands, mark, tr
from app.look.label import Label


class Shortcut(Enum):
    """A command of the window: its keys, its description on the card, in the card's order, and its
    spoken form. A skill requests it by name (resources/skills/window.yaml).
    """

    STOP = "Esc", mark("Stop what rings, or the reply"), "stop"
    SNOOZE = "Alt+S", mark("Snooze what rings")
    TYPE = "Ctrl+L", mark("Type a message")
    EDIT = "Ctrl+R", mark("Edit a question and send it again")
    FASTER = "Alt+Up", mark("Speak faster"), "faster"
    SLOWER = "Alt+Down", mark("Speak slower"), "slower"
    HANDS_FREE = "Ctrl+H", mark("Hands-free on or off"), "hands-free on"
    MUTE = "Ctrl+U", mark("Mute the microphone or open it"), "stop listening"
    LOUDER = "Alt+Shift+Up", mark("Louder"), "louder"
    QUIETER = "Alt+Shift+Down", mark("Quieter"), "quieter"
    THEME = "Ctrl+Shift+L", mark("Dark or light"), "switch the theme"
    NEW = "Ctrl+N", mark("New conversation"), "new conversation"
    DELETE = "Ctrl+Shift+Del", mark("Delete this conversation"), "delete this conversation"
    HISTORY = "Ctrl+B", mark("Kept conversations"), "show my conversations"
    CHOOSE_FILE = "Ctrl+O", mark("Choose a recording for a voice"), "choose a recording"
    VOICES = "Ctrl+J", mark("Voices: hear, rename, record, remove"), "show the voices"
    CLIPBOARD = "Ctrl+Shift+V", mark("Read the clipboard aloud"), "read the clipboard"
    READING = "Ctrl+P", mark("Documents to read aloud")
    EXPORT = "Ctrl+E", mark("Export the conversation"), "export this conversation"
    DETAILS = "Ctrl+D", mark("Voice and status (narrow window)"), "show the status"
    MODELS = "Ctrl+M", mark("Models: fetch, add, choose"), "show the models"
    SETTINGS = "Ctrl+,", mark("Settings"), "open the settings"
    FIRST_START = "Ctrl+I", mark("The first steps once more"), "show me around"
    HELP = "F1", mark("These keys"), "show the keys"
    ABOUT = "Shift+F1", mark("About Rubato: version, diagnostics"), "what version are you"
    QUIT = "Ctrl+Q", mark("Quit"), "quit Rubato"

    def __init__(self, keys: str, words: str, said: str = "") -> None:
        self.keys = keys
        self.words = words
        self.said = said


# The menu behind the three dots: what is needed now and then.
_MENU = {
    Shortcut.VOICES: mark("Voices…"),
    Shortcut.MODELS: mark("Models…"),
    Shortcut.READING: mark("Documents…"),
    Shortcut.EXPORT: mark("Export the conversation…"),
    Shortcut.DELETE: mark("Delete the conversation…"),
    Shortcut.CLIPBOARD: mark("Read the clipboard"),
    Shortcut.LOUDER: mark("Louder"),
    Shortcut.QUIETER: mark("Quieter"),
    Shortcut.THEME: mark("Dark or light"),
    Shortcut.FIRST_START: mark("First steps…"),
    Shortcut.HELP: mark("Keyboard shortcuts"),
    Shortcut.ABOUT: mark("About Rubato"),
}


class ShortcutFilter(QObject):
    """Watches a window (its QWindow), so that its text fields do not take our shortcuts. On Linux
    Ctrl+E would go to the end of the line and Ctrl+D would delete.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._shortcuts = [QKeySequence(each.keys) for each in Shortcut]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A field claims a key by accepting ShortcutOverride, so we do not offer it ours."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            return QKeySequence(event.keyCombination()) in self._shortcuts
        return super().eventFilter(watched, event)


class KeysCard(QDialog):
    """A list of the keys; not modal."""

    def __init__(self, talk_label: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keyboard"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        grid = QGridLayout(self)
        grid.setContentsMargins(26, 22, 30, 24)
        grid.setHorizontalSpacing(26)
        grid.setVerticalSpacing(9)
        lines = [("", "", tr("Or say")), (tr("Hold {key}", key=talk_label), tr("Talk"), "")]
        lines += [(native(each.keys), tr(each.words), _quoted(each.said)) for each in Shortcut]
        mark_word = tr("Mark a word of a reply, hear it again from there")
        lines += [(tr("Ctrl + arrow keys, Enter"), mark_word, "")]
        for number, (keys, words, said) in enumerate(lines):
            grid.addWidget(Label(keys, self, strong=True), number, 0)
            grid.addWidget(Label(words, self), number, 1)
            grid.addWidget(Label(said, self, kind="muted"), number, 2)


class MoreMenu(QMenu):
    """`act` is called with the chosen entry."""

    def __init__(self, act: Callable[[Shortcut], None], parent: QWidget) -> None:
        super().__init__(parent)
        self.entries = {
            each: self.addAction(f"{tr(words)}\t{native(each.keys)}")
            for each, words in _MENU.items()
        }
        for each, entry in self.entries.items():
            entry.triggered.connect(lambda _=False, each=each: act(each))
        for begin in (Shortcut.LOUDER, Shortcut.FIRST_START):
            self.insertSeparator(self.entries[begin])


def _quoted(said: str) -> str:
    """The spoken form: English, unless the window's language has one."""
    own = commands().get("phrases", {}).get(said, said)
    return f"“{own}”" if own else ""


def native(keys: str) -> str:
    """A key combination as this system writes it."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
