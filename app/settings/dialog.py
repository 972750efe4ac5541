"""The settings dialog, built from PAGES. Every change takes effect and is saved at once.

Invariant: it is never modal and asks for no confirmation; closing it loses nothing.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.devices import Devices
from app.language import tr
from app.look.controls import icon
from app.look.layout import OverlayBar
from app.look.page import in_lines
from app.look.theme import Theme
from app.presence.server import Server
from app.settings.fields import Editor, SettingRow
from app.settings.form import PAGES, Field, Form, Page
from app.settings.other_rows import Lesson, LoginRow, ServerRow
from app.status.parts import Parts
from engine.api import DevicesChanged, Event, Part, Ready, SettingChanged, Value

_PHRASE = "wake.phrase"
_AUTOMATIC = {"recogniser.engine": Part.RECOGNISER, "speech.engine": Part.SYNTHESISER}


class SettingsDialog(QDialog):
    """Shows the current settings.

    Signals:
        edited(key, value): the person changed a setting, or one is to be looked at again.
    """

    edited = Signal(str, object)

    def __init__(
        self,
        form: Form,
        theme: Theme,
        devices: Devices,
        parts: Parts,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._form = form
        self._values = form.values
        self._theme = theme
        self._devices = devices
        self._parts = parts
        self._editors: list[Editor] = []
        self._rows: list[tuple[Field, SettingRow]] = []
        self.folds: list[QPushButton] = []  # one for each page with advanced settings
        self.lesson = Lesson(str(self._values[_PHRASE]), theme, self)
        self.lesson.taught.connect(self._on_taught)
        self.setWindowTitle(tr("Settings"))
        self.setModal(False)
        self.resize(in_lines(self, 620, 600))
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.setAccessibleName(tr("Settings pages"))
        for page in PAGES:
            self.tabs.addTab(self._make_page(page), tr(page.title))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.addWidget(self.tabs)
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
                    self.lesson.show_phrase(str(value))
            case Ready():
                self._show_values()
            case DevicesChanged():
                for each in self._editors:
                    each.offer_devices(self._devices)
            case _:
                pass

    def show_part(self, part: Part | None) -> None:
        """Show the page of a part."""
        for index, page in enumerate(PAGES):
            if part is not None and page.part is part:
                self.tabs.setCurrentIndex(index)
        self.show()
        self.raise_()
        self.activateWindow()

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
                row.say_why(self._parts.why(part) if is_automatic else "")

    def _make_page(self, page: Page) -> QWidget:
        content = QWidget()
        content.setProperty("kind", "page")
        column = QVBoxLayout(content)
        column.setContentsMargins(22, 18, 22, 18)
        column.setSpacing(18)
        if page.at_login:
            column.addWidget(LoginRow(self._theme, self._devices, content))
        fields = page.fields(self._form.kind)
        for field in fields:
            if not field.shown.advanced:
                column.addWidget(self._make_row(field, content))
        advanced = [field for field in fields if field.shown.advanced]
        if advanced:
            column.addWidget(self._make_fold(advanced, content))
        window = self.parentWidget()
        if page.serves and window is not None and (server := window.findChild(Server)):
            column.addWidget(ServerRow(server, content))
        if page.teaches:
            column.addWidget(self.lesson)
        column.addStretch(1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(content)
        OverlayBar(area)
        return area

    def _make_fold(self, fields: list[Field], parent: QWidget) -> QWidget:
        """Settings that few people need, behind a button."""
        rows = QWidget(parent)
        inside = QVBoxLayout(rows)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(18)
        for field in fields:
            inside.addWidget(self._make_row(field, rows))
        fold = QPushButton(tr("Advanced"), parent)
        fold.setProperty("kind", "fold")
        fold.setCheckable(True)
        fold.setCursor(Qt.CursorShape.PointingHandCursor)
        fold.toggled.connect(rows.setVisible)
        fold.toggled.connect(lambda _: self._tint_folds())
        rows.hide()
        self.folds.append(fold)
        around = QWidget(parent)
        column = QVBoxLayout(around)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(fold, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(rows)
        return around

    def _tint_folds(self) -> None:
        for fold in self.folds:
            name = "chevron-up" if fold.isChecked() else "chevron-down"
            fold.setIcon(icon(name, self._theme.colour("muted")))

    def _make_row(self, field: Field, parent: QWidget) -> QWidget:
        row = SettingRow(field, self._theme, self._devices, parent)
        row.editor.edited.connect(lambda value, key=field.key: self._on_edited(key, value))
        self._editors.append(row.editor)
        self._rows.append((field, row))
        return row
