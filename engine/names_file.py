"""The person's list of names, a file beside the settings.

Invariant: the file is complete or unchanged, and private. It is read again when it has changed, so
every reply and every utterance uses the newest list. A file with a bad line is never overwritten;
its other lines are used.
"""

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

from filelock import FileLock

from engine.atomic_write import replace_file
from engine.errors import InvalidInput, SettingsError
from engine.settings_file import LOCK_S, config_folder
from engine.text.names import MOST, Name, Names, checked, plain, read, written_out
from engine.translatable import Translatable
from engine.typed_values import read_text

log = logging.getLogger(__name__)

FILE: Final = "names.tsv"
LARGEST_BYTES: Final = 1_000_000
_LOCK: Final = ".names.lock"


def path() -> Path:
    """Return the place of the person's list."""
    return config_folder() / FILE


def in_force() -> Names:
    """Return the person's list, the newest name last. Lines that cannot be read are left out."""
    file = path()
    try:
        state = file.stat()
    except OSError:
        return ()
    return _usable(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=2)
def _usable(file: Path, _changed: int, _size: int) -> Names:
    try:
        text = read_text(file, LARGEST_BYTES)
    except (OSError, ValueError) as error:
        log.warning("the names are not read path=%s reason=%s", file, error)
        return ()
    return read(text, lambda line, error: log.warning("name left out line=%s %s", line, error))


def load(file: Path | None = None) -> Names:
    """Return the person's list, or (`file`) the names of another. InvalidInput if a line is bad,
    SettingsError if it is not read.
    """
    file = file or path()
    try:
        return read(read_text(file, LARGEST_BYTES))
    except InvalidInput as error:
        raise InvalidInput(
            "{file}: {error}", hint=error.hint, file=file, error=error.message
        ) from error
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise SettingsError(
            "The names in {file} cannot be read: {error}.", file=file, error=error
        ) from error


def read_file(file: Path) -> Names:
    """Return the names of any file, as load() does."""
    if not file.is_file():
        raise InvalidInput("There is no file {file}.", file=file)
    return load(file)


def write_file(names: Names, file: Path) -> None:
    """Write names to any file. SettingsError if the disk refuses."""
    try:
        replace_file(file, written_out(names))
    except OSError as error:
        raise SettingsError(
            "The names could not be written to {file}: {error}.",
            file=file,
            error=error.strerror or error,
        ) from error


def add(names: Iterable[Name]) -> Names:
    """Add names to the person's list; return those that were added. A name replaces the one that is
    written alike in the same language. InvalidInput if one is bad or there are too many,
    SettingsError if the list cannot be saved; then nothing has changed.
    """
    new = tuple(dict.fromkeys(map(checked, names)))
    keys = {each.key for each in new}
    _change(lambda before: (*(each for each in before if each.key not in keys), *new))
    return new


def remove(written: str, language: str | None = None) -> Names:
    """Remove names that are written so, in one language or (None) in all; return them. Errors as in
    add().
    """
    wanted = plain(written).casefold()

    def is_gone(name: Name) -> bool:
        return name.written.casefold() == wanted and language in (None, name.language)

    before = _change(lambda before: tuple(each for each in before if not is_gone(each)))
    return tuple(filter(is_gone, before))


def restore(written: Iterable[str], earlier: Names) -> None:
    """Give the names that are written so their entries of an earlier list. Errors as in add()."""
    wanted = {plain(each).casefold() for each in written}
    old = [each for each in earlier if each.written.casefold() in wanted]
    _change(lambda now: (*(each for each in now if each.written.casefold() not in wanted), *old))


def _change(changed: Callable[[Names], Names]) -> Names:
    """Change the list under its lock; return the list before."""
    folder = path().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / _LOCK, timeout=LOCK_S):
            before = load()
            names = changed(before)
            if len(names) > MOST:
                raise InvalidInput("There are more than {most} names.", most=MOST)
            if names != before:
                replace_file(path().resolve(), written_out(names))
            return before
    except (OSError, RuntimeError) as error:
        raise SettingsError(
            "The names could not be saved: {error}.",
            hint=Translatable("Make room or check the folder {folder}.", folder=folder),
            error=error,
        ) from error
