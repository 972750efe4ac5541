"""Errors and log lines without private text: only source text and numbers remain.

Invariant: text that was created at run time (an error's message, a text argument) is left out,
because it may be private.
"""

import logging
import re
import time
import traceback
from collections.abc import Iterator
from enum import Enum
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import TracebackType

LEFT_OUT = "…"
_ROOT = Path(__file__).parent.parent.parent
OURS = ("app", "engine")  # loggers and packages with source text in this repository
_FATAL_LINE = re.compile(r'^\s+File "(?P<file>.*)", line (?P<line>\d+) in (?P<name>\S+)$')
_FATAL_HEAD = re.compile(r"^(Fatal Python error|Windows fatal exception): (?P<kind>[\w :().-]+)$")
_MOST_FRAMES = 30  # the innermost; a recursion has a thousand


class PlainFormatter(logging.Formatter):
    """A line of the log. Of a library's lines only the logger's name stays, as the text may be
    private.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%SZ")
        self.converter = time.gmtime

    def format(self, record: logging.LogRecord) -> str:
        words = _message(record) if record.name.split(".")[0] in OURS else LEFT_OUT
        plain = logging.LogRecord(
            record.name, record.levelno, record.pathname, record.lineno, words, None, None
        )
        plain.created = record.created
        lines = [super().format(plain)]
        if record.exc_info and record.exc_info[1] is not None:
            lines += error_lines(record.exc_info[1])
        return "\n".join(lines)


def error_lines(error: BaseException) -> list[str]:
    """Return an error and its causes: the class of each and its frames, innermost last."""
    lines: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        lines.append(f"  {kind(current)}")
        lines += [f"    {frame}" for frame in frames(current.__traceback__)]
        current = current.__cause__ or current.__context__
    return lines


def kind(error: BaseException) -> str:
    """Return the class of an error, with the number of a system error."""
    number = getattr(error, "errno", None)
    return type(error).__name__ + (f" [{number}]" if isinstance(number, int) else "")


def frames(trace: TracebackType | None) -> list[str]:
    """Return the places in the code of a traceback, innermost last."""
    summary = traceback.StackSummary.extract(traceback.walk_tb(trace), lookup_lines=False)
    return [f"{place(f.filename)}:{f.lineno} in {f.name}" for f in summary][-_MOST_FRAMES:]


def place(file: str) -> str:
    """Return a source file's path inside its package; only the name of any other file."""
    path = PureWindowsPath(file) if "\\" in file else PurePosixPath(file)
    if "site-packages" in path.parts:
        return "/".join(path.parts[path.parts.index("site-packages") + 1 :])
    if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in OURS:
        return path.relative_to(_ROOT).as_posix()
    return path.name


def fatal(text: str) -> list[str]:
    """Return faulthandler's report of a dead process, without folders."""
    return list(_fatal(text))


def _fatal(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if head := _FATAL_HEAD.match(line):
            yield f"  {head['kind']}"
        elif frame := _FATAL_LINE.match(line):
            yield f"    {place(frame['file'])}:{frame['line']} in {frame['name']}"
        elif line.startswith(("Current thread", "Thread")):
            yield "  a thread, innermost first:"


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
    if isinstance(value, BaseException):
        return kind(value)
    return LEFT_OUT
