"""Record crashes while the program runs, and report them once, at the next start.

Invariant: notes never stop the program; if they cannot be written, there are none. Only the user
can read the files, which together never exceed half a MiB.
"""

import faulthandler
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any

from engine.crash_notes import words
from engine.translatable import Translatable

log = logging.getLogger(__name__)

LOG, FATAL, CRASHES, LAST = "rubato.log", "fatal.txt", "crashes.txt", "last-crashes.txt"
_LOG_BYTES, _OLD_LOGS = 128 * 1024, 2
_MOST_BYTES = 64 * 1024  # of crashes in one run; a fault in a paint event recurs at every frame
_LOG_LINES = 200  # for diagnostics


class CrashNotes:
    """The notes in one folder. Only one program at a time calls begin(); any may read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fatal: TextIOWrapper | None = None  # kept open, as faulthandler uses its file number
        self._log: logging.Handler | None = None
        self._hooks: list[Callable[[], None]] = []  # each restores the previous hook
        self._was_watched = False
        self._written = 0

    # ------------------------------------------------------------------ keeping

    def begin(self) -> str:
        """Watch this process from now on. Return one sentence about a crash in the last run, or ""
        if there was none or it was already reported.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            last = self._set_aside()
            self._fatal = _private(self._folder / FATAL)
            self._log = _PrivateLog(self._folder / LOG)
        except OSError as error:
            log.info("no notes are kept error=%s", error)
            return ""
        self._was_watched = faulthandler.is_enabled()
        faulthandler.enable(self._fatal)
        logging.getLogger().addHandler(self._log)
        self._hook()
        return _sentence(last)

    def end(self) -> None:
        """Stop watching; restore the previous hooks."""
        while self._hooks:
            self._hooks.pop()()
        if self._log is not None:
            logging.getLogger().removeHandler(self._log)
            self._log.close()
        if self._fatal is not None:
            faulthandler.disable()
            self._fatal.close()
            if self._was_watched:  # by the calling program, to standard error
                faulthandler.enable()
        self._log = self._fatal = None

    def note(self, where: str, error: BaseException | None) -> None:
        """Record an uncaught error. `where` is a text of the program."""
        lines = [f"not caught in {where}", *(words.error_lines(error) if error else ())]
        self._append("\n".join(lines) + "\n")
        log.critical("not caught, see %s", CRASHES)

    def _append(self, text: str) -> None:
        if self._written + len(text) > _MOST_BYTES:
            return
        self._written += len(text)
        with suppress(OSError), _private(self._folder / CRASHES) as file:
            file.write(text)

    def _set_aside(self) -> list[str]:
        """Move the last run's notes to the file for diagnostics; return its lines."""
        lines = self._lines(CRASHES)
        with suppress(OSError):
            fatal = (self._folder / FATAL).read_text(encoding="utf-8", errors="replace")
            lines += words.fatal(fatal[-_MOST_BYTES:])
        if lines:
            fresh = self._folder / f"{LAST}.new"
            fresh.unlink(missing_ok=True)
            with _private(fresh) as file:
                file.write("\n".join(lines) + "\n")
            fresh.replace(self._folder / LAST)
        for name in (CRASHES, FATAL):
            (self._folder / name).unlink(missing_ok=True)
        return lines

    # ------------------------------------------------------------------ reading

    def crashes(self) -> list[str]:
        """Return the crashes of the previous run and of this one."""
        return self._lines(LAST) + self._lines(CRASHES)

    def log(self) -> list[str]:
        """Return the last lines of the log."""
        return self._lines(LOG)[-_LOG_LINES:]

    def _lines(self, name: str) -> list[str]:
        try:
            return (self._folder / name).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []

    # -------------------------------------------------------------------- hooks

    def _hook(self) -> None:
        """Record first, then call the previous hook, which prints to the terminal."""
        main, thread, unraisable = sys.excepthook, threading.excepthook, sys.unraisablehook

        def on_main(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            if issubclass(kind, Exception):
                self.note("the main thread", error)
            main(kind, error, trace)

        def on_thread(given: threading.ExceptHookArgs) -> None:
            if given.exc_value is not None and issubclass(given.exc_type, Exception):
                self.note("another thread", given.exc_value)
            thread(given)

        def on_unraisable(given: Any) -> None:
            self.note("a destructor or callback", given.exc_value)
            unraisable(given)

        for module, name, ours in (
            (sys, "excepthook", on_main),
            (threading, "excepthook", on_thread),
            (sys, "unraisablehook", on_unraisable),
        ):
            before = getattr(module, name)
            self._hooks.append(partial(setattr, module, name, before))
            setattr(module, name, ours)


class _PrivateLog(RotatingFileHandler):
    """Log file of warnings and errors that only its owner can read."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=_LOG_BYTES, backupCount=_OLD_LOGS, encoding="utf-8", delay=True
        )
        self.setLevel(logging.WARNING)
        self.setFormatter(words.PlainFormatter())

    def _open(self) -> TextIOWrapper:
        return _private(Path(self.baseFilename))

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore a full disk: the terminal has the message already."""


def _private(path: Path) -> TextIOWrapper:
    """Open a file for appending that only its owner can read."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return os.fdopen(number, "a", encoding="utf-8")


def _sentence(lines: list[str]) -> str:
    """Describe a crash to the user in one sentence."""
    kinds = [line.strip() for line in lines if line.startswith("  ") and line[2:3].strip()]
    if not lines:
        return ""
    what = next((kind for kind in kinds if not kind.startswith("a thread")), "a fault")
    return Translatable(
        "Something broke when Rubato last ran ({what}). Nothing was sent; More ▸ About Rubato ▸ "
        "Copy diagnostics puts what is known on the clipboard, without anything you said or wrote.",
        what=what,
    )
