"""Takes down what goes wrong while the program runs, and tells of it once, at the next start.

Invariant: keeping notes never stops the program: where they cannot be written there are none. The
files are the person's alone, and never larger than half a MiB in all.
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
_MOST_BYTES = 64 * 1024  # of crashes in one run; a fault in a paint event comes at every frame
_LOG_LINES = 200  # that diagnostics take


class CrashNotes:
    """The notes in one folder. One program at a time begins; anybody may read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fatal: TextIOWrapper | None = None  # faulthandler keeps its number: held while open
        self._log: logging.Handler | None = None
        self._hooks: list[Callable[[], None]] = []  # each gives back what was there before
        self._was_watched = False
        self._written = 0

    # ------------------------------------------------------------------ keeping

    def begin(self) -> str:
        """Watch this process from now on. What broke in the last run, in one sentence; empty where
        nothing did, or it was told already.
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
        """Stop watching; whatever was there before is in force again."""
        while self._hooks:
            self._hooks.pop()()
        if self._log is not None:
            logging.getLogger().removeHandler(self._log)
            self._log.close()
        if self._fatal is not None:
            faulthandler.disable()
            self._fatal.close()
            if self._was_watched:  # by whoever started us, to standard error
                faulthandler.enable()
        self._log = self._fatal = None

    def note(self, where: str, error: BaseException | None) -> None:
        """Take down an error that nobody caught. `where` is the program's own words."""
        lines = [f"not caught in {where}", *(words.told(error) if error else ())]
        self._append("\n".join(lines) + "\n")
        log.critical("not caught, see %s", CRASHES)

    def _append(self, text: str) -> None:
        if self._written + len(text) > _MOST_BYTES:
            return
        self._written += len(text)
        with suppress(OSError), _private(self._folder / CRASHES) as file:
            file.write(text)

    def _set_aside(self) -> list[str]:
        """Move what the last run left to where diagnostics find it; its lines."""
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
        """What broke: in the run before this one, and in this one."""
        return self._lines(LAST) + self._lines(CRASHES)

    def log(self) -> list[str]:
        """The last lines of the log."""
        return self._lines(LOG)[-_LOG_LINES:]

    def _lines(self, name: str) -> list[str]:
        try:
            return (self._folder / name).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []

    # -------------------------------------------------------------------- hooks

    def _hook(self) -> None:
        """Notes first, then what was there before: it prints to the terminal."""
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
    """Warnings and worse, in files that only their owner reads."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=_LOG_BYTES, backupCount=_OLD_LOGS, encoding="utf-8", delay=True
        )
        self.setLevel(logging.WARNING)
        self.setFormatter(words.PlainFormatter())

    def _open(self) -> TextIOWrapper:
        return _private(Path(self.baseFilename))

    def handleError(self, record: logging.LogRecord) -> None:
        """A full disk is no reason to say more than the terminal was told already."""


def _private(path: Path) -> TextIOWrapper:
    """A file to write on at its end, that only its owner reads."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return os.fdopen(number, "a", encoding="utf-8")


def _sentence(lines: list[str]) -> str:
    """For the person: what it was, as far as one line can say it."""
    kinds = [line.strip() for line in lines if line.startswith("  ") and line[2:3].strip()]
    if not lines:
        return ""
    what = next((kind for kind in kinds if not kind.startswith("a thread")), "a fault")
    return Translatable(
        "Something broke when Rubato last ran ({what}). Nothing was sent; More ▸ About Rubato ▸ "
        "Copy diagnostics puts what is known on the clipboard, without anything you said or wrote.",
        what=what,
    )
