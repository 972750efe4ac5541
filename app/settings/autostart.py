"""Starting at login, in each system's own way, and the switch for it in the settings.

Invariant: nothing is stored here; is_on() reads the system's state, because the person may have
changed it elsewhere. Only the person's own files or registry are changed.
"""

import contextlib
import os
import plistlib
import sys
from collections.abc import Sequence
from pathlib import Path

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

_RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"  # below HKEY_CURRENT_USER
_HIDDEN = "--start-hidden"


def is_on() -> bool:
    """True if the system will start Rubato at the next login."""
    if sys.platform == "win32":
        return _windows_command() is not None
    try:
        text = path().read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    if sys.platform == "darwin":
        return True
    lines = {line.replace(" ", "").casefold() for line in text.splitlines()}
    return not lines & {
        "hidden=true",
        "x-gnome-autostart-enabled=false",
    }  # how desktops switch it off


def turn(on: bool, command: Sequence[str] | None = None) -> None:
    """Switch the start at login on or off. OSError if the system does not allow it."""
    words = [*(command or own_command()), _HIDDEN]
    if sys.platform == "win32":
        _write_windows(words if on else None)
    elif not on:
        path().unlink(missing_ok=True)
    elif sys.platform == "darwin":
        agent = {"Label": APP_ID, "ProgramArguments": words, "RunAtLoad": True}
        put(path(), plistlib.dumps(agent).decode())
    else:
        put(path(), entry(words, at_login=True))


def path() -> Path:
    """Return the file that makes a Linux desktop or macOS start Rubato at login."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "LaunchAgents" / f"{APP_ID}.plist"
    chosen = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(chosen) if Path(chosen).is_absolute() else Path.home() / ".config"
    return folder / "autostart" / f"{APP_ID}.desktop"


def _windows_command() -> str | None:
    if sys.platform != "win32":
        return None
    import winreg

    with contextlib.suppress(OSError), winreg.OpenKey(winreg.HKEY_CURRENT_USER, _RUN) as key:
        return str(winreg.QueryValueEx(key, APP_ID)[0])
    return None


def _write_windows(words: Sequence[str] | None) -> None:
    if sys.platform != "win32":
        return
    import subprocess
    import winreg

    with winreg.CreateKey(winreg.HKEY_CURRENT_USER, _RUN) as key:
        if words is not None:
            line = subprocess.list2cmdline(words)
            winreg.SetValueEx(key, APP_ID, 0, winreg.REG_SZ, line)
        elif _windows_command() is not None:
            winreg.DeleteValue(key, APP_ID)


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
