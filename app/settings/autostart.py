"""Starting at login, in each system's own way, and the switch for it in the settings.

Invariant: nothing is stored here; is_on() reads the system's state, because the person may have
changed it elsewhere. Only the person's own files or registry are changed.
"""

import plistlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSettings, QStandardPaths
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.background_job import own_command
from app.desktop_entry import APP_ID, entry, put
from app.language import mark, tr
from app.look.label import WrappingLabel
from app.look.theme import Theme
from app.settings.fields import SettingRow
from app.settings.form import Field
from app.status.parts import Parts
from engine.api import settings

_RUN = r"HKEY_CURRENT_USER\Software\Microsoft\Windows\CurrentVersion\Run"
_HIDDEN = "--start-hidden"


def is_on() -> bool:
    """True if the system will start Rubato at the next login."""
    if sys.platform == "win32":
        return _run_key().contains(APP_ID)
    try:
        text = path().read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    if sys.platform == "darwin":
        return True
    lines = {line.replace(" ", "").casefold() for line in text.splitlines()}
    switched_off = {"hidden=true", "x-gnome-autostart-enabled=false"}  # by a desktop
    return not lines & switched_off


def turn(on: bool, command: Sequence[str] | None = None) -> None:
    """Switch the start at login on or off. OSError if the system does not allow it."""
    words = [*(command or own_command()), _HIDDEN]
    if sys.platform == "win32":
        _write_windows(words, on=on)
    elif not on:
        path().unlink(missing_ok=True)
    elif sys.platform == "darwin":
        agent = {"Label": APP_ID, "ProgramArguments": words, "RunAtLoad": True}
        put(path(), plistlib.dumps(agent))
    else:
        put(path(), entry(words, at_login=True).encode())


def path() -> Path:
    """Return the file that makes a Linux desktop or macOS start Rubato at login."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "LaunchAgents" / f"{APP_ID}.plist"
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.ConfigLocation)
    return Path(folder, "autostart", f"{APP_ID}.desktop")


def _run_key() -> QSettings:
    """The part of Windows' registry with the programs that start at login."""
    return QSettings(_RUN, QSettings.Format.NativeFormat)


def _write_windows(words: Sequence[str], *, on: bool) -> None:
    key = _run_key()
    if on:
        key.setValue(APP_ID, subprocess.list2cmdline(words))
    else:
        key.remove(APP_ID)
    key.sync()
    if key.status() is not QSettings.Status.NoError:
        raise OSError(_RUN)


_FIELD = Field(
    "",
    settings.Flag(),
    settings.Shown(
        mark("Start at login"), help=mark("Without its window, so that the talk key works.")
    ),
)


class LoginRow(SettingRow):
    """The switch for the start at login. It reads the system's state whenever it becomes visible,
    because the person may have changed that elsewhere. `fault`: the reason why a change failed.
    """

    def __init__(self, theme: Theme, parts: Parts, parent: QWidget) -> None:
        super().__init__(_FIELD, theme, parts, parent)
        self.fault = WrappingLabel("", self)
        self.fault.hide()
        self.column.addWidget(self.fault)
        self.editor.edited.connect(self._on_edited)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.editor.show_value(is_on())

    def _on_edited(self, on: object) -> None:
        self.fault.say("")
        try:
            turn(bool(on))
        except OSError as error:
            reason = error.strerror or error
            self.fault.say(tr("The system did not allow it: {error}.", error=reason))
        self.editor.show_value(is_on())
