"""The files by which a Linux desktop knows Rubato: its entry in the menu and its icon.

Invariant: standard library only, because setup installs them before anything else. A file is either
complete or unchanged.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

APP_ID = "org.rubato.Rubato"  # also the name that windows and the portal get
_RESERVED = " \t\n\"'\\><~|&;$*?#()`"


def entry(command: Sequence[str], *, at_login: bool = False) -> str:
    """A desktop entry that starts `command`."""
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        "Name=Rubato",
        "Comment=Talk with your computer, at your pace",
        f"Exec={' '.join(quoted(word) for word in command)}",
        f"Icon={APP_ID}",
        "Terminal=false",
    ]
    if at_login:
        lines += ["X-GNOME-Autostart-enabled=true"]
    else:
        lines += ["Categories=AudioVideo;Audio;Utility;", "Keywords=voice;assistant;speech;timer;"]
        lines += ["StartupNotify=true", "StartupWMClass=" + APP_ID]
    return "\n".join(lines) + "\n"


def quoted(word: str) -> str:
    """A word of Exec according to the Desktop Entry Specification: quoted if necessary, backslashes
    doubled for the file, and % doubled.
    """
    word = word.replace("%", "%%")
    if word and not any(letter in _RESERVED for letter in word):
        return word
    for letter in '\\"`$':
        word = word.replace(letter, "\\" + letter)
    return '"' + word.replace("\\", "\\\\") + '"'


def data_home() -> Path:
    """The folder of a person's desktop entries and icons."""
    chosen = os.environ.get("XDG_DATA_HOME", "")
    return Path(chosen) if Path(chosen).is_absolute() else Path.home() / ".local" / "share"


def install(command: Sequence[str], icon: Path, folder: Path) -> tuple[Path, ...]:
    """Write entry and icon below `folder` (data_home()) if they differ; return the files written.
    OSError if that is impossible.
    """
    entry_path = folder / "applications" / f"{APP_ID}.desktop"
    icon_path = folder / "icons" / "hicolor" / "scalable" / "apps" / f"{APP_ID}.svg"
    files = {entry_path: entry(command).encode(), icon_path: icon.read_bytes()}
    return tuple(path for path, content in files.items() if put(path, content))


def put(path: Path, content: bytes) -> bool:
    """Replace a file unless it has this content already; return whether it was written."""
    with suppress(OSError):  # one that cannot be read is replaced, too
        if path.read_bytes() == content:
            return False
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(content)
    fresh.replace(path)
    return True
