"""Translate SQLite's errors into messages for the user.

Invariant: errors of SQLite leave this package only as HistoryErrors. A damaged file is
distinguished from one that cannot be used at the moment.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.atomic_write import unused_name
from engine.errors import HistoryError
from engine.translatable import Translatable

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY = (
    Translatable("another program is using the file"),
    Translatable("It is retried automatically."),
)
_WHY = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_FULL: (
        Translatable("the disk is full"),
        Translatable("Free some space; saving is then retried automatically."),
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


Identity = tuple[int, int]  # device and inode of a file, whatever its name


class Damaged(HistoryError):
    """The file is not a database, or its content is inconsistent. `file`: its identity."""

    file: Identity | None = None


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Translate errors of the file at `path` into HistoryErrors, Damaged for a damaged file."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _DAMAGED:
            raise Damaged("The kept conversations in {path} are damaged.", path=path) from error
        why, hint = _WHY.get(
            code, (str(error), Translatable("Check whether the disk is full or read-only."))
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
    """Return the identity of the file at the path; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def set_aside(path: Path, file: Identity | None) -> str:
    """Rename the damaged `file` at the path, so that a new one can begin. Return the new name, or
    "" if another instance has done so. HistoryError if it cannot be renamed.
    """
    kept = unused_name(path)
    with translate_errors(path):
        if identity(path) != file:
            return ""
        path.replace(kept)
        for tail in ("-wal", "-shm"):  # parts of the damaged file, which would spoil the new one
            beside = path.with_name(path.name + tail)
            if beside.exists():
                beside.replace(path.with_name(kept.name + tail))
    return kept.name
