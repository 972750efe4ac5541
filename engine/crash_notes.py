"""Crash notes: a log and notes of crashes, kept on this machine for the user alone, and reported
once, at the next start.

Invariant: nothing is sent anywhere, and no note contains the user's words, names or paths. The
program's own log lines are reduced to source text and numbers, an error to its class and its places
in the code: text that was created at run time (an error's message, a text argument) may be private.
Notes never stop the program; if they cannot be written, there are none. Only the user can read the
files, which together never exceed half a MiB.
"""

import faulthandler
import logging
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import partial
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import TracebackType
from typing import Any

from engine.atomic_write import replace_file
from engine.translatable import Translatable

log = logging.getLogger(__name__)

LOG, FATAL, CRASHES, LAST = "rubato.log", "fatal.txt", "crashes.txt", "last-crashes.txt"
LEFT_OUT = "…"
OURS = ("app", "engine")  # loggers and packages with source text in this repository
_LOG_BYTES, _OLD_LOGS = 128 * 1024, 2
_MOST_BYTES = 64 * 1024  # of crashes in one run; a fault in a paint event recurs at every frame
_LOG_LINES = 200  # for diagnostics
_ROOT = Path(__file__).parent.parent
_FATAL_LINE = re.compile(r'^\s+File "(?P<file>.*)", line (?P<line>\d+) in (?P<name>\S+)$')
_FATAL_HEAD = re.compile(r"^(Fatal Python error|Windows fatal exception): (?P<kind>[\w :().-]+)$")
_MOST_FRAMES = 30  # the innermost; a recursion has a thousand


class CrashNotes:
    """The notes in one folder. Only one program at a time calls begin(); any may read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fatal: TextIOWrapper | None = None  # kept open, as faulthandler uses its file number
        self._log: logging.Handler | None = None
        self._hooks: list[Callable[[], None]] = []  # each restores the previous hook
        self._was_watched = False
        self._written = 0

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
        lines = [f"not caught in {where}", *(error_lines(error) if error else ())]
        text = "\n".join(lines) + "\n"
        if self._written + len(text) <= _MOST_BYTES:
            self._written += len(text)
            with suppress(OSError), _private(self._folder / CRASHES) as file:
                file.write(text)
        log.critical("not caught, see %s", CRASHES)

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

    def _set_aside(self) -> list[str]:
        """Move the last run's notes to the file for diagnostics; return its lines."""
        fatal = "\n".join(self._lines(FATAL))[-_MOST_BYTES:]
        lines = self._lines(CRASHES) + fatal_lines(fatal)
        if lines:
            replace_file(self._folder / LAST, "\n".join(lines) + "\n")
        for name in (CRASHES, FATAL):
            (self._folder / name).unlink(missing_ok=True)
        return lines

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
            self._hooks.append(partial(setattr, module, name, getattr(module, name)))
            setattr(module, name, ours)


class _PrivateLog(RotatingFileHandler):
    """Log file of warnings and errors that only its owner can read."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=_LOG_BYTES, backupCount=_OLD_LOGS, encoding="utf-8", delay=True
        )
        self.setLevel(logging.WARNING)
        self.setFormatter(PlainFormatter())

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
    if not lines:
        return ""
    kinds = (line.strip() for line in lines if line.startswith("  ") and line[2:3].strip())
    what = next((kind for kind in kinds if not kind.startswith("a thread")), "a fault")
    return Translatable(
        "Something broke when Rubato last ran ({what}). Nothing was sent; More ▸ About Rubato ▸ "
        "Copy diagnostics puts what is known on the clipboard, without anything you said or wrote.",
        what=what,
    )


# ------------------------------------------------------------ texts without private words


class PlainFormatter(logging.Formatter):
    """A line of the log. Of a library's lines only the logger's name stays, as the text may be
    private.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%SZ")
        self.converter = time.gmtime

    def format(self, record: logging.LogRecord) -> str:
        text = _message(record) if record.name.split(".")[0] in OURS else LEFT_OUT
        plain = logging.LogRecord(
            record.name, record.levelno, record.pathname, record.lineno, text, None, None
        )
        plain.created = record.created
        lines = [super().format(plain)]
        if record.exc_info and record.exc_info[1] is not None:
            lines += error_lines(record.exc_info[1])
        return "\n".join(lines)


def _message(record: logging.LogRecord) -> str:
    arguments = record.args if isinstance(record.args, tuple) else ()
    try:
        return str(record.msg) % tuple(_argument(each) for each in arguments)
    except (TypeError, ValueError):  # a number's format for an argument that was left out
        return str(record.msg)


def _argument(value: object) -> object:
    """Return the public form of an argument."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bool | int | float):
        return value
    return kind_of(value) if isinstance(value, BaseException) else LEFT_OUT


def kind_of(error: BaseException) -> str:
    """Return the class of an error, with the number of a system error."""
    number = getattr(error, "errno", None)
    return type(error).__name__ + (f" [{number}]" if isinstance(number, int) else "")


def error_lines(error: BaseException) -> list[str]:
    """Return an error and its causes: the class of each and its frames, innermost last."""
    lines: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        lines.append(f"  {kind_of(current)}")
        trace = traceback.walk_tb(current.__traceback__)
        frames = traceback.StackSummary.extract(trace, lookup_lines=False)[-_MOST_FRAMES:]
        lines += [f"    {place(each.filename)}:{each.lineno} in {each.name}" for each in frames]
        current = current.__cause__ or current.__context__
    return lines


def fatal_lines(text: str) -> list[str]:
    """Return faulthandler's report of a dead process, without folders."""
    lines: list[str] = []
    for line in text.splitlines():
        if head := _FATAL_HEAD.match(line):
            lines.append(f"  {head['kind']}")
        elif frame := _FATAL_LINE.match(line):
            lines.append(f"    {place(frame['file'])}:{frame['line']} in {frame['name']}")
        elif line.startswith(("Current thread", "Thread")):
            lines.append("  a thread, innermost first:")
    return lines


def place(file: str) -> str:
    """Return a source file's path inside its package; only the name of any other file."""
    path = PureWindowsPath(file) if "\\" in file else PurePosixPath(file)
    if "site-packages" in path.parts:
        return "/".join(path.parts[path.parts.index("site-packages") + 1 :])
    if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in OURS:
        return path.relative_to(_ROOT).as_posix()
    return path.name
