"""The settings dialog, built from PAGES. Every change takes effect and is saved at once.

Invariant: it is never modal and asks for no confirmation; closing it loses nothing.
"""

import sys

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QPushButton, QTabWidget, QWidget

from app.language import tr
from app.look.controls import button, icon
from app.look.layout import LEFT, Item, Scrolled, Spring, column, page_in, placed, wide
from app.look.page import bring_to_front, in_lines
from app.look.theme import Theme
from app.settings.autostart import LoginRow
from app.settings.fields import Editor, SettingRow
from app.settings.form import PAGES, Field, Form, Page
from app.settings.names import NamesRow
from app.settings.server import ScreenReaderRow, Server, ServerRow
from app.settings.wake_training import WakeTrainingRow
from app.status.parts import Parts
from engine.api import DevicesChanged, Event, Part, Ready, SettingChanged, SettingKey, Value

_PHRASE = SettingKey.WAKE_PHRASE
_AUTOMATIC: dict[str, Part] = {
    SettingKey.RECOGNISER: Part.RECOGNISER,
    SettingKey.SYNTHESISER: Part.SYNTHESISER,
}


class SettingsDialog(QDialog):
    """Shows the current settings.

    Signals:
        edited(key, value): the person changed a setting, or the unchanged wake phrase was trained.
        hear(command): speak a name.
    """

    edited = Signal(str, object)
    hear = Signal(object)

    def __init__(
        self,
        form: Form,
        theme: Theme,
        parts: Parts,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._form = form
        self._values = form.values
        self._theme = theme
        self._parts = parts
        self._editors: list[Editor] = []
        self._rows: list[tuple[Field, SettingRow]] = []
        self.folds: list[QPushButton] = []  # one for each page with advanced settings
        self.wake_training = WakeTrainingRow(str(self._values[_PHRASE]), theme, self)
        self.wake_training.taught.connect(self._on_taught)
        self.names = NamesRow(self._values, self)
        self.names.hear.connect(self.hear)
        self.setWindowTitle(tr("Settings"))
        self.resize(in_lines(self, 620, 600))
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.setAccessibleName(tr("Settings pages"))
        for page in PAGES:
            self.tabs.addTab(self._make_page(page), tr(page.title))
        column(self.tabs, on=self, margins=(0, 8, 0, 0))
        self.resize(max(self.width(), self.tabs.tabBar().sizeHint().width()), self.height())
        self._show_values()
        self._tint_folds()
        theme.changed.connect(self._tint_folds)

    def on_event(self, event: Event) -> None:
        match event:
            case SettingChanged(key, value):
                self._values[key] = value
                self._show_values()
                if key == _PHRASE:
                    self.wake_training.show_phrase(str(value))
            case Ready():
                self._show_values()
            case DevicesChanged():
                for each in self._editors:
                    each.refresh()

    def show_part(self, part: Part | None, section: str = "") -> None:
        """Show the page with a part of the assistant or a section of the settings ("audio")."""
        for index, page in enumerate(PAGES):
            if part in page.parts or section in page.sections:
                self.tabs.setCurrentIndex(index)
        bring_to_front(self)

    def editors(self, key: str) -> list[Editor]:
        """The editors of a setting; some settings have one for each meaning."""
        return [each for each in self._editors if each.field.key == key]

    def _on_edited(self, key: str, value: Value) -> None:
        self._values[key] = value
        self._show_values()
        self.edited.emit(key, value)

    def _on_taught(self, phrase: str) -> None:
        if phrase == self._values[_PHRASE]:
            self.edited.emit(_PHRASE, phrase)  # said again, it is listened for as it was taught

    def _show_values(self) -> None:
        for each in self._editors:
            if each.field.key in self._values:
                each.show_value(self._values[each.field.key])
        for field, row in self._rows:
            row.setVisible(field.is_wanted(self._values))
            if part := _AUTOMATIC.get(field.key):
                is_automatic = self._values.get(field.key) == "auto"
                row.say_why(self._parts.record(part).why if is_automatic else "")

    def _make_page(self, page: Page) -> QWidget:
        content = page_in()
        shown: list[Item] = []
        if page.more == "login":
            shown.append(LoginRow(self._theme, self._parts, content))
        fields = page.fields(self._form.kind)
        shown += [self._make_row(each, content) for each in fields if not each.shown.advanced]
        if advanced := [each for each in fields if each.shown.advanced]:
            shown.append(self._make_fold(advanced, content))
        match page.more:
            case "server":
                shown += self._make_server_rows(content)
            case "lesson":
                shown.append(self.wake_training)
        shown.append(wide(self.names) if page.more == "names" else Spring())
        column(*shown, on=content, margins=(22, 18, 22, 18), spacing=18)
        return Scrolled(content, self)

    def _make_server_rows(self, content: QWidget) -> list[QWidget]:
        window = self.parentWidget()
        server = window.findChild(Server) if window is not None else None
        rows: list[QWidget] = [] if server is None else [ServerRow(server, content)]
        return [*rows, ScreenReaderRow(content)] if sys.platform == "linux" else rows

    def _make_fold(self, fields: list[Field], parent: QWidget) -> QWidget:
        """Create the button "Advanced" and the rows that it shows."""
        around = QWidget(parent)
        fold = button(tr("Advanced"), around, kind="fold")
        rows = QWidget(around)
        column(*(self._make_row(field, rows) for field in fields), on=rows, spacing=18)
        fold.setCheckable(True)
        fold.setCursor(Qt.CursorShape.PointingHandCursor)
        fold.toggled.connect(rows.setVisible)
        fold.toggled.connect(lambda _: self._tint_folds())
        rows.hide()
        self.folds.append(fold)
        column(placed(LEFT, fold), rows, on=around, spacing=12)
        return around

    def _tint_folds(self) -> None:
        for fold in self.folds:
            name = "chevron-up" if fold.isChecked() else "chevron-down"
            fold.setIcon(icon(name, self._theme.colour("muted")))

    def _make_row(self, field: Field, parent: QWidget) -> QWidget:
        row = SettingRow(field, self._theme, self._parts, parent)
        row.editor.edited.connect(lambda value, key=field.key: self._on_edited(key, value))
        self._editors.append(row.editor)
        self._rows.append((field, row))
        return row
