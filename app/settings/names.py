"""The list of names in the settings: how each is written and said, with a preview.

Invariant: the page shows the list of the file, read again whenever the page appears; a refused name
changes nothing.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from app.language import mark, tr, tr_n, translated
from app.look.controls import ElidedBox, button
from app.look.file_dialogs import ask_for, ask_where
from app.look.label import Label, WrappingLabel
from app.look.layout import column, row, wide
from app.look.plain_text import one_line
from engine import api
from engine.api import SPOKEN, EngineError, PreviewVoice, SettingKey, Translatable, Value

_ROLE = Qt.ItemDataRole.UserRole
_FORMATS = {mark("Text with tabs (*.tsv)"): "tsv"}
_LINES = 8  # of the list, at least


class NamesRow(QWidget):
    """The list, the fields of one name, and the buttons. `values`: the settings by key.

    Signals:
        hear(command): speak the name of the fields.
    """

    hear = Signal(object)

    def __init__(self, values: Mapping[str, Value], parent: QWidget) -> None:
        super().__init__(parent)
        self._values = values
        about = WrappingLabel(
            tr(
                "How names are written and said. The voices say them so, and Whisper writes them so"
                " when it hears them. Example: Siobhan, shi-VAWN."
            ),
            self,
            kind="muted",
            size=0.88,
        )
        self.list = QListWidget(self)
        self.list.setProperty("kind", "names")
        self.list.setAccessibleName(tr("Names"))
        self.list.setMinimumHeight(_LINES * self.list.fontMetrics().lineSpacing())
        self.list.currentItemChanged.connect(self._on_chosen)
        self.written = self._line(tr("Written"))
        self.said = self._line(tr("Said"))
        self.language = ElidedBox(self)
        self.language.setAccessibleName(tr("Language"))
        self.language.addItem(tr("In all languages"), "")
        for code in SPOKEN:
            self.language.addItem(_title(code), code)
        self.save = button(tr("&Save"), self, self._on_save)
        self.try_it = button(tr("&Hear"), self, self._on_hear)
        self.remove = button(tr("&Remove"), self, self._on_remove)
        self.import_ = button(tr("&Import…"), self, self._on_import)
        self.export = button(tr("&Export…"), self, self._on_export)
        self.words = WrappingLabel("", self, size=0.88)
        keys = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.list)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        keys.activated.connect(self._on_remove)
        fields = row(
            wide(self._labelled(tr("Written"), self.written)),
            wide(self._labelled(tr("Said"), self.said)),
            wide(self._labelled(tr("Language"), self.language)),
            spacing=12,
        )
        one = row(self.save, self.try_it, self.remove, spacing=8)
        files = row(self.import_, self.export, spacing=8)
        one.addStretch()
        files.addStretch()
        column(about, wide(self.list), fields, one, self.words, files, on=self, spacing=12)
        self._show_buttons()

    def showEvent(self, event: QShowEvent) -> None:
        """Read the list again, because a voice command or a terminal may have changed it."""
        super().showEvent(event)
        self._try(self._show)

    # ------------------------------------------------------------------------ fields

    def _line(self, name: str) -> QLineEdit:
        line = QLineEdit(self)
        line.setAccessibleName(name)
        line.textChanged.connect(self._show_buttons)
        line.returnPressed.connect(self._on_save)
        return line

    def _labelled(self, text: str, field: QWidget) -> QWidget:
        around = QWidget(self)
        label = Label(text, around)
        label.setBuddy(field)
        column(label, field, on=around, spacing=4)
        return around

    @property
    def _name(self) -> "api.Name":
        language = self.language.currentData()
        return api.Name(self.written.text(), self.said.text(), language)

    def _chosen(self) -> "api.Name | None":
        item = self.list.currentItem()
        name: api.Name | None = item.data(_ROLE) if item is not None else None
        return name

    def _on_chosen(self) -> None:
        name = self._chosen()
        if name is not None:
            self.written.setText(name.written)
            self.said.setText(name.said)
            self.language.setCurrentIndex(max(0, self.language.findData(name.language)))
            self.words.say("")
        self._show_buttons()

    def _show_buttons(self) -> None:
        written = bool(self.written.text().strip())
        self.save.setEnabled(written)
        self.try_it.setEnabled(written)
        self.remove.setEnabled(self._chosen() is not None)
        self.export.setEnabled(self.list.count() > 0)

    # ------------------------------------------------------------------------ buttons

    def _on_save(self) -> None:
        def save() -> None:
            before, (name,) = self._chosen(), api.add_names([self._name])
            renamed = before is not None and before.key != name.key
            if before is not None and renamed and before.written.casefold() == name.key[0]:
                api.remove_names(before.written, before.language)  # the language was changed
            self._show()
            self._select(name)

        if self.save.isEnabled():
            self._try(save)

    def _on_hear(self) -> None:
        language = self.language.currentData()
        elsewhere = self._values.get(f"speech.voice_{language}") if language else ""
        voice = str(elsewhere or self._values.get(SettingKey.VOICE) or "")
        written, said = self.written.text().strip(), self.said.text().strip()
        self.words.say("")
        self.hear.emit(PreviewVoice(voice, written, said=said, language=language))

    def _on_remove(self) -> None:
        def remove(name: "api.Name") -> None:
            place = self.list.currentRow()
            api.remove_names(name.written, name.language)
            for each in (self.written, self.said):
                each.clear()
            self._show()
            self.list.setCurrentRow(min(place, self.list.count() - 1))

        name = self._chosen()
        if name is not None:
            self._try(lambda: remove(name))

    def _on_import(self) -> None:
        def read(file: Path) -> None:
            count = len(api.add_names(api.read_names(file)))
            self._show()
            said = tr_n("{count} name was imported.", "{count} names were imported.", count)
            self.words.say(said, kind="muted")

        title = tr("Import names")
        filters = tr("Lists (*.tsv *.csv *.txt)")
        ask_for(self, title, lambda file: self._try(lambda: read(file)), filters=filters)

    def _on_export(self) -> None:
        def write(file: Path) -> None:
            self._try(lambda: api.write_names(api.load_names(), file))

        ask_where(self, tr("Export the names"), "names", _FORMATS, write)

    # ------------------------------------------------------------------------ the list

    def _show(self) -> None:
        names = api.load_names()
        chosen = self._chosen()
        with QSignalBlocker(self.list):
            self.list.clear()
            for name in sorted(names, key=lambda each: each.key):
                language = _title(name.language) if name.language else ""
                parts = (one_line(name.written), one_line(name.said), language)
                item = QListWidgetItem("  ·  ".join(filter(None, parts)), self.list)
                item.setData(_ROLE, name)
        if chosen is not None:
            self._select(chosen)
        self._show_buttons()

    def _select(self, name: "api.Name") -> None:
        for place in range(self.list.count()):
            if self.list.item(place).data(_ROLE) == name:
                self.list.setCurrentRow(place)

    def _try(self, act: Callable[[], None]) -> None:
        """Do something with the list; say below the fields why it failed."""
        self.words.say("")
        try:
            act()
        except EngineError as error:
            texts = (translated(error.message), translated(error.hint))
            self.words.say("\n".join(filter(None, texts)), kind="danger")


def _title(code: str) -> str:
    """Return the name of a spoken language, as the page of the voice has it."""
    return translated(Translatable(SPOKEN[code].title))
