"""How an installed Rubato and the bootstrapper that started it communicate.

Invariant: they use environment variables and one file, so that neither imports the other and a
Rubato started in any other way is not affected. The names are in installer/bootstrap/starting.py.
"""

import contextlib
import os
from pathlib import Path

_LAUNCHER = "RUBATO_LAUNCHER"
_STARTED = "RUBATO_STARTED"


def note_start() -> None:
    """Note that the program started; after the second time the previous version is removed."""
    path = os.environ.pop(_STARTED, "")
    if path:
        with contextlib.suppress(OSError), Path(path).open("a", encoding="utf-8") as file:
            file.write("up\n")


def launcher() -> Path | None:
    """The program that starts Rubato, even after an update; None if it was not installed."""
    path = os.environ.get(_LAUNCHER, "")
    return Path(path) if path and Path(path).is_file() else None
