"""The keyboard: every shortcut in one table, and the card that shows them.

Invariant: the card lists exactly the shortcuts that work; both come from the same table.
"""

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QWidget

from app.language.words import mark, tr
from app.look.label import Label
from app.look.theme import scaled


class Act(Enum):
    """What a shortcut does."""

    STOP = "stop"
    NEW = "new"
    HISTORY = "history"
    HANDS_FREE = "hands-free"
    MUTE = "mute"
    TYPE = "type"
    FASTER = "faster"
    SLOWER = "slower"
    CHOOSE_FILE = "choose file"
    DETAILS = "details"
    EXPORT = "export"
    RECORD = "record"
    VOICES = "voices"
    TIMES = "times"
    MODELS = "models"
    SETTINGS = "settings"
    FIRST_START = "first start"
    HELP = "help"
    ABOUT = "about"
    QUIT = "quit"


@dataclass(frozen=True)
class Shortcut:
    act: Act
    keys: str
    words: str


SHORTCUTS = (
    Shortcut(Act.STOP, "Esc", mark("Stop the reply")),
    Shortcut(Act.TYPE, "Ctrl+L", mark("Type a message")),
    Shortcut(Act.FASTER, "Alt+Up", mark("Speak faster")),
    Shortcut(Act.SLOWER, "Alt+Down", mark("Speak slower")),
    Shortcut(Act.HANDS_FREE, "Ctrl+H", mark("Hands-free on or off")),
    Shortcut(Act.MUTE, "Ctrl+U", mark("Mute the microphone or open it")),
    Shortcut(Act.NEW, "Ctrl+N", mark("New conversation")),
    Shortcut(Act.HISTORY, "Ctrl+B", mark("Kept conversations")),
    Shortcut(Act.CHOOSE_FILE, "Ctrl+O", mark("Choose a recording for a voice")),
    Shortcut(Act.VOICES, "Ctrl+J", mark("Voices: hear, rename, record, remove")),
    Shortcut(Act.EXPORT, "Ctrl+E", mark("Export the conversation")),
    Shortcut(Act.RECORD, "Ctrl+R", mark("Record both sides, or end that")),
    Shortcut(Act.TIMES, "Ctrl+T", mark("Answer times")),
    Shortcut(Act.DETAILS, "Ctrl+D", mark("Voice and status (narrow window)")),
    Shortcut(Act.MODELS, "Ctrl+M", mark("Models: fetch, add, choose")),
    Shortcut(Act.SETTINGS, "Ctrl+,", mark("Settings")),
    Shortcut(Act.FIRST_START, "Ctrl+I", mark("The first steps once more")),
    Shortcut(Act.HELP, "F1", mark("These keys")),
    Shortcut(Act.ABOUT, "Shift+F1", mark("About Rubato: licences, diagnostics")),
    Shortcut(Act.QUIT, "Ctrl+Q", mark("Quit")),
)


class Precedence(QObject):
    """Watches a window (its QWindow), so that its text fields do not take our shortcuts. On Linux
    Ctrl+E would go to the end of the line and Ctrl+D would delete.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._shortcuts = [QKeySequence(each.keys) for each in SHORTCUTS]

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
        lines += [(native(each.keys), tr(each.words)) for each in SHORTCUTS]
        lines += [
            (tr("Ctrl + arrow keys, Enter"), tr("Mark a word of a reply, hear it again from there"))
        ]
        for number, (keys, words) in enumerate(lines):
            name = Label(keys, self)
            name.setFont(scaled(self.font(), 1.0, strong=True))
            grid.addWidget(name, number, 0)
            grid.addWidget(Label(words, self), number, 1)


def native(keys: str) -> str:
    """A key combination as this system writes it."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
