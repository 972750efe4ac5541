"""Starting at login, in each system's own way; the system's state is the only one that counts. And
the launcher of an installed Rubato, which names itself in an environment variable.

Invariant: nothing is stored here; is_on() reads what the system would do, because the person may
have changed it elsewhere. Only the person's own files or registry are changed.
"""

import contextlib
import os
import plistlib
import sys
from collections.abc import Sequence
from pathlib import Path

from app.presence.desktop_entry import APP_ID, entry, put

_RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"  # below HKEY_CURRENT_USER
_HIDDEN = "--start-hidden"


def is_on() -> bool:
    """Whether the system will start Rubato at the next login."""
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
    """Start Rubato at login, or no longer. OSError if the system does not allow it."""
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
    """The file that makes a Linux desktop or macOS start it."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "LaunchAgents" / f"{APP_ID}.plist"
    chosen = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(chosen) if Path(chosen).is_absolute() else Path.home() / ".config"
    return folder / "autostart" / f"{APP_ID}.desktop"


def own_command() -> list[str]:
    """The command that starts this program again."""
    if started_by := launcher():
        return [str(started_by)]
    program = Path(sys.executable).with_name("rubato.exe" if sys.platform == "win32" else "rubato")
    return [str(program)] if program.exists() else [sys.executable, "-P", "-m", "app"]


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


_LAUNCHER = "RUBATO_LAUNCHER"


def launcher() -> Path | None:
    """The program that starts Rubato, even after an update; None if it was not installed."""
    path = os.environ.get(_LAUNCHER, "")
    return Path(path) if path and Path(path).is_file() else None
