"""Whose file dialog opens: the system's wherever it has one.

Windows and macOS always have, and Qt takes GTK's on a GTK desktop. Elsewhere under Linux (KDE,
sway) Qt would show its own, though most of those desktops have one behind the portal. Qt asks for
it when it is told to before it begins: its platform theme "xdgdesktopportal", which leaves colours
and fonts to the desktop's own theme.

Invariant: what the person set themselves stays.
"""

import sys
from collections.abc import MutableMapping
from pathlib import Path

_THEME = "QT_QPA_PLATFORMTHEME"
_CHOOSER = "org.freedesktop.impl.portal.FileChooser"  # what a desktop's part of the portal offers
_DATA_DIRS = "/usr/local/share:/usr/share"  # where XDG_DATA_DIRS names none


def prefer_the_systems(environment: MutableMapping[str, str]) -> None:
    """Have Qt ask the portal, where there is one that shows files. To be called before the
    QApplication is made, with os.environ.
    """
    if sys.platform == "linux" and not environment.get(_THEME) and _has_portal(environment):
        environment[_THEME] = "xdgdesktopportal"


def _has_portal(environment: MutableMapping[str, str]) -> bool:
    """Whether a desktop's file chooser is installed, and there is a bus to ask it on."""
    has_bus = environment.get("DBUS_SESSION_BUS_ADDRESS") or environment.get("XDG_RUNTIME_DIR")
    folders = (environment.get("XDG_DATA_DIRS") or _DATA_DIRS).split(":")
    return bool(has_bus) and any(
        _CHOOSER in _text(portal)
        for folder in folders
        for portal in Path(folder, "xdg-desktop-portal", "portals").glob("*.portal")
    )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
