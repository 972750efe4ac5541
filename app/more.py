"""The menu behind the three dots: what is needed now and then.

Invariant: every entry is also a shortcut, and is listed with it.
"""

from collections.abc import Callable

from PySide6.QtWidgets import QMenu, QWidget

from app.keys import SHORTCUTS, Act, native
from app.language.words import mark, tr

_WORDS = {
    Act.VOICES: mark("Voices…"),
    Act.MODELS: mark("Models…"),
    Act.EXPORT: mark("Export the conversation…"),
    Act.RECORD: mark("Record both sides"),
    Act.TIMES: mark("Answer times"),
    Act.FIRST_START: mark("First steps…"),
    Act.HELP: mark("Keyboard shortcuts"),
    Act.ABOUT: mark("About Rubato"),
}


class MoreMenu(QMenu):
    """`act` is called with the chosen entry; `is_recording` is called each time the menu opens."""

    def __init__(
        self, act: Callable[[Act], None], is_recording: Callable[[], bool], parent: QWidget
    ) -> None:
        super().__init__(parent)
        keys = {shortcut.act: native(shortcut.keys) for shortcut in SHORTCUTS}
        self.entries = {
            each: self.addAction(f"{tr(_WORDS[each])}\t{keys[each]}") for each in _WORDS
        }
        for each, entry in self.entries.items():
            entry.triggered.connect(lambda _=False, each=each: act(each))
        self.insertSeparator(self.entries[Act.HELP])
        record = self.entries[Act.RECORD]
        record.setCheckable(True)
        self.aboutToShow.connect(lambda: record.setChecked(is_recording()))
