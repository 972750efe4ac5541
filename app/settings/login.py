"""The row that switches starting Rubato at login on and off.

Invariant: it shows what the system would do. It reads this each time it becomes visible, because
the person may have changed it elsewhere.
"""

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.devices import Devices
from app.language.words import mark, tr
from app.look.label import Label
from app.look.theme import Theme
from app.presence import autostart
from app.settings.fields import SettingRow
from app.settings.form import Field
from engine.api import settings

_FIELD = Field(
    "",
    settings.Flag(),
    settings.Shown(
        mark("Start at login"), help=mark("Without its window, so that the talk key works.")
    ),
)


class LoginRow(SettingRow):
    """A switch like those of the settings; `fault` says why it could not be changed."""

    def __init__(self, theme: Theme, devices: Devices, parent: QWidget) -> None:
        super().__init__(_FIELD, theme, devices, parent)
        self.fault = Label("", self)
        self.fault.setWordWrap(True)
        self.fault.hide()
        layout = self.layout()
        assert layout is not None  # SettingRow made it
        layout.addWidget(self.fault)
        self.editor.edited.connect(self._on_edited)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.editor.show_value(autostart.is_on())

    def _on_edited(self, on: object) -> None:
        self.fault.hide()
        try:
            autostart.turn(bool(on))
        except OSError as error:
            self.fault.setText(
                tr("The system did not allow it: {error}.", error=error.strerror or error)
            )
            self.fault.show()
        self.editor.show_value(autostart.is_on())
