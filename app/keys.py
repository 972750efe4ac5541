"""The keyboard: every shortcut in one table, the card that shows them, and the menu behind three
dots.

Invariant: card and menu show exactly the shortcuts that work; all come from the same table.
"""

from collections.abc import Callable
from enum import Enum

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QMenu, QWidget

from app.language import mark, tr
from app.look.label import Label


class Act(Enum):
    """What a shortcut does: its keys, and its words on the card, in its order."""

    STOP = "Esc", mark("Stop what rings, or the reply")
    SNOOZE = "Alt+S", mark("Snooze what rings")
    TYPE = "Ctrl+L", mark("Type a message")
    FASTER = "Alt+Up", mark("Speak faster")
    SLOWER = "Alt+Down", mark("Speak slower")
    HANDS_FREE = "Ctrl+H", mark("Hands-free on or off")
    MUTE = "Ctrl+U", mark("Mute the microphone or open it")
    LOUDER = "Alt+Shift+Up", mark("Louder")
    QUIETER = "Alt+Shift+Down", mark("Quieter")
    THEME = "Ctrl+Shift+L", mark("Dark or light")
    NEW = "Ctrl+N", mark("New conversation")
    HISTORY = "Ctrl+B", mark("Kept conversations")
    CHOOSE_FILE = "Ctrl+O", mark("Choose a recording for a voice")
    VOICES = "Ctrl+J", mark("Voices: hear, rename, record, remove")
    EXPORT = "Ctrl+E", mark("Export the conversation")
    TIMES = "Ctrl+T", mark("Answer times")
    DETAILS = "Ctrl+D", mark("Voice and status (narrow window)")
    MODELS = "Ctrl+M", mark("Models: fetch, add, choose")
    SETTINGS = "Ctrl+,", mark("Settings")
    FIRST_START = "Ctrl+I", mark("The first steps once more")
    HELP = "F1", mark("These keys")
    ABOUT = "Shift+F1", mark("About Rubato: licences, diagnostics")
    QUIT = "Ctrl+Q", mark("Quit")

    def __init__(self, keys: str, words: str) -> None:
        self.keys = keys
        self.words = words


# The menu behind the three dots: what is needed now and then.
_MENU = {
    Act.VOICES: mark("Voices…"),
    Act.MODELS: mark("Models…"),
    Act.EXPORT: mark("Export the conversation…"),
    Act.TIMES: mark("Answer times"),
    Act.LOUDER: mark("Louder"),
    Act.QUIETER: mark("Quieter"),
    Act.THEME: mark("Dark or light"),
    Act.FIRST_START: mark("First steps…"),
    Act.HELP: mark("Keyboard shortcuts"),
    Act.ABOUT: mark("About Rubato"),
}


class Precedence(QObject):
    """Watches a window (its QWindow), so that its text fields do not take our shortcuts. On Linux
    Ctrl+E would go to the end of the line and Ctrl+D would delete.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._shortcuts = [QKeySequence(each.keys) for each in Act]

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
        lines = [(tr("Hold {key}", key=talk_label), tr("Talk"))]
        lines += [(native(each.keys), tr(each.words)) for each in Act]
        lines += [
            (tr("Ctrl + arrow keys, Enter"), tr("Mark a word of a reply, hear it again from there"))
        ]
        for number, (keys, words) in enumerate(lines):
            grid.addWidget(Label(keys, self, strong=True), number, 0)
            grid.addWidget(Label(words, self), number, 1)


class MoreMenu(QMenu):
    """`act` is called with the chosen entry."""

    def __init__(self, act: Callable[[Act], None], parent: QWidget) -> None:
        super().__init__(parent)
        self.entries = {
            each: self.addAction(f"{tr(words)}\t{native(each.keys)}")
            for each, words in _MENU.items()
        }
        for each, entry in self.entries.items():
            entry.triggered.connect(lambda _=False, each=each: act(each))
        for begin in (Act.LOUDER, Act.FIRST_START):
            self.insertSeparator(self.entries[begin])


def native(keys: str) -> str:
    """A key combination as this system writes it."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
