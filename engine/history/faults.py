"""What SQLite raises, as the person is told it.

Invariant: nothing of SQLite leaves this package but as a HistoryError, and a file that is damaged
is told from one that cannot be used at the moment.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from engine.errors import HistoryError
from engine.translatable import Translatable

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_WHY = {
    sqlite3.SQLITE_BUSY: (
        Translatable("another program is using the file"),
        Translatable("It is tried again by itself."),
    ),
    sqlite3.SQLITE_LOCKED: (
        Translatable("another program is using the file"),
        Translatable("It is tried again by itself."),
    ),
    sqlite3.SQLITE_FULL: (
        Translatable("the disk is full"),
        Translatable("Make room; it is tried again by itself."),
    ),
    sqlite3.SQLITE_READONLY: (
        Translatable("the file may not be written"),
        Translatable("Make it writable."),
    ),
    sqlite3.SQLITE_CANTOPEN: (
        Translatable("the file cannot be opened"),
        Translatable("Make its folder writable."),
    ),
}


Identity = tuple[int, int]  # of a file, whatever it is called


class Damaged(HistoryError):
    """The file is no database, or what it holds contradicts itself. `file`: which one it was."""

    file: Identity | None = None


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Raise HistoryError for what goes wrong with the file at `path`, Damaged where it is that."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _DAMAGED:
            raise Damaged("The kept conversations in {path} are damaged.", path=path) from error
        why, hint = _WHY.get(
            code, (str(error), Translatable("Look whether the disk is full or read-only."))
        )
        raise HistoryError(
            "Conversations cannot be kept: {error} ({path}).", hint=hint, error=why, path=path
        ) from error
    except OSError as error:
        why = error.strerror or str(error)
        raise HistoryError(
            "Conversations cannot be kept: {error} ({path}).",
            hint="Make its folder writable.",
            error=why,
            path=path,
        ) from error


def identity(path: Path) -> Identity | None:
    """Which file is at the path; None = none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def set_aside(path: Path, file: Identity | None) -> str:
    """Give the damaged `file` at the path another name, so that a new one can begin; returns the
    name, empty when another instance has done so. HistoryError when it cannot be moved.
    """
    names = (f"{path.stem}.damaged-{number}{path.suffix}" for number in count(1))
    kept = next(name for name in names if not path.with_name(name).exists())
    with told(path):
        if identity(path) != file:
            return ""
        path.replace(path.with_name(kept))
        for tail in ("-wal", "-shm"):  # they belong to it, and would spoil the new one
            beside = path.with_name(path.name + tail)
            if beside.exists():
                beside.replace(path.with_name(kept + tail))
    return kept
