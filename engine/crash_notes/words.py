"""Faults and lines of the log in words that are nobody's: what stands in the source, and numbers.

Invariant: text that was made while the program ran (a message of an error, an argument that is
text) is left out, because it may be a person's.
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
OURS = ("app", "engine")  # loggers and packages whose words stand in this repository
_FATAL_LINE = re.compile(r'^\s+File "(?P<file>.*)", line (?P<line>\d+) in (?P<name>\S+)$')
_FATAL_HEAD = re.compile(r"^(Fatal Python error|Windows fatal exception): (?P<kind>[\w :().-]+)$")
_MOST_FRAMES = 30  # the innermost; a recursion has a thousand


class PlainFormatter(logging.Formatter):
    """A line of the log. Of strangers only who spoke: their words hold what they were given."""

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
            lines += told(record.exc_info[1])
        return "\n".join(lines)


def told(error: BaseException) -> list[str]:
    """An error and what caused it: the kind of each and its frames, innermost last."""
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
    """The class of an error; for one of the system with its number."""
    number = getattr(error, "errno", None)
    return type(error).__name__ + (f" [{number}]" if isinstance(number, int) else "")


def frames(trace: TracebackType | None) -> list[str]:
    """The places in the code an error came through, the innermost last."""
    summary = traceback.StackSummary.extract(traceback.walk_tb(trace), lookup_lines=False)
    return [f"{place(f.filename)}:{f.lineno} in {f.name}" for f in summary][-_MOST_FRAMES:]


def place(file: str) -> str:
    """A source file as its package knows it; of any other the name alone."""
    path = PureWindowsPath(file) if "\\" in file else PurePosixPath(file)
    if "site-packages" in path.parts:
        return "/".join(path.parts[path.parts.index("site-packages") + 1 :])
    if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in OURS:
        return path.relative_to(_ROOT).as_posix()
    return path.name


def fatal(text: str) -> list[str]:
    """What faulthandler wrote when the process died, without the folders it names."""
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
    except (TypeError, ValueError):  # a number's format for what was left out
        return str(record.msg)


def _argument(value: object) -> object:
    """What may be told of an argument."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, BaseException):
        return kind(value)
    return LEFT_OUT
