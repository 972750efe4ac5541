"""File dialogs that do not block the program: the system's own wherever it has one.

Windows and macOS always have one, and Qt uses GTK's on a GTK desktop. Elsewhere under Linux (KDE,
sway) Qt would show its own, though most of those desktops have one behind the portal. Qt uses that
with its platform theme "xdgdesktopportal", which must be chosen before Qt starts and leaves colours
and fonts to the desktop's own theme.

Invariant: what the person set themselves stays.
"""

import sys
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.language import tr

Take = Callable[[Path], object]

_THEME = "QT_QPA_PLATFORMTHEME"
_CHOOSER = "org.freedesktop.impl.portal.FileChooser"  # what a desktop's part of the portal offers
_DATA_DIRS = "/usr/local/share:/usr/share"  # where XDG_DATA_DIRS names none


def ask_for(
    parent: QWidget,
    title: str,
    take: Take,
    *,
    within: str = "",
    filters: str = "",
    mode: QFileDialog.FileMode = QFileDialog.FileMode.ExistingFile,
) -> QFileDialog:
    """Open a dialog for a file, or with another `mode` for a folder. `take` gets the path."""
    dialog = QFileDialog(parent, title, within, filters)
    dialog.setFileMode(mode)
    return _opened(dialog, take)


def ask_where(
    parent: QWidget, title: str, name: str, formats: Mapping[str, str], take: Take
) -> QFileDialog:
    """Open a dialog for the file to write. `take` gets the path with the suffix of the chosen
    format.

    `formats`: marked words -> suffix, the default first. An empty suffix is not appended.
    """
    dialog = QFileDialog(parent, title, name)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    suffixes = {tr(words): suffix for words, suffix in formats.items()}
    dialog.setNameFilters(list(suffixes))
    dialog.setDefaultSuffix(next(iter(suffixes.values())))
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(suffixes[chosen]))
    return _opened(dialog, take)


def _opened(dialog: QFileDialog, take: Take) -> QFileDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda name: take(Path(name)))
    dialog.open()
    return dialog


def prefer_the_systems(environment: MutableMapping[str, str]) -> None:
    """Set Qt's platform theme to the portal if the portal has a file chooser. Call this with
    os.environ before the QApplication is created.
    """
    if sys.platform == "linux" and not environment.get(_THEME) and _has_portal(environment):
        environment[_THEME] = "xdgdesktopportal"


def _has_portal(environment: MutableMapping[str, str]) -> bool:
    """True if a desktop's file chooser is installed and a bus to reach it is running."""
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
