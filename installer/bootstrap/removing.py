"""Removes Rubato from a machine: what was installed and, only on request, what the person made.

Invariant: voices, conversations and settings are removed only after a clear yes; the rest always
is.
"""

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from installer.bootstrap import desktop, windows
from installer.bootstrap.paths import Home, opened

NAME = "rubato"


def uninstall(home: Home, *, own_files: bool, env: Mapping[str, str]) -> list[Path]:
    """Remove environments, cache, launcher, menu entry and start at login; with `own_files` also
    voices, models, conversations and settings. Returns what could not be removed.
    """
    if not home.folder.exists():
        left = []
    else:
        with opened(home):
            home.current_file.unlink(missing_ok=True)  # first: nothing incomplete is started
        left = _remove(home.folder)
    for path in desktop.files(env):
        path.unlink(missing_ok=True)
    if own_files:
        for folder in own_folders(env):
            left += _remove(folder)
    return left


def own_folders(env: Mapping[str, str]) -> list[Path]:
    """The folders of what the person made: settings, and data such as voices."""
    chosen = [Path(env[name]) for name in ("RUBATO_CONFIG", "RUBATO_DATA") if env.get(name)]
    return list(dict.fromkeys([*chosen, *_usual_folders(env)]))


def _usual_folders(env: Mapping[str, str]) -> list[Path]:
    """The folders that platformdirs gives for the name 'rubato', without an author."""
    person = Path.home()
    if sys.platform == "win32":
        local = env.get("LOCALAPPDATA")
        return [(Path(local) if local else person / "AppData" / "Local") / NAME]
    if sys.platform == "darwin":
        return [person / "Library" / "Application Support" / NAME]
    pairs = {"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"}
    return [
        (Path(env[name]) if Path(env.get(name, "")).is_absolute() else person / usual) / NAME
        for name, usual in pairs.items()
    ]


def _remove(folder: Path) -> list[Path]:
    failed: list[Path] = []

    def note(_: Callable[..., object], path: str, __: object) -> None:
        failed.append(Path(path))

    if folder.exists():
        shutil.rmtree(windows.verbatim(folder), onerror=note)
    return failed
