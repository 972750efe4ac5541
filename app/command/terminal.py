"""Writing to the terminal: results to standard output, everything else to standard error.

Invariant: text from a server, a model or a file is printed as plain text: it cannot move the
cursor, change colours or rename the window.
"""

import argparse
import dataclasses
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from app.look.plain_text import plain
from engine import api
from engine.api import EngineError, Settings

REDRAW_S = 0.2  # how often the progress line is drawn
_SOON_S = 2.0  # shorter work needs no progress line
Run = Callable[[argparse.Namespace], int]


def write(line: str) -> None:
    """Print a line of the result to standard output."""
    with writing():
        sys.stdout.write(plain(line) + "\n")


@contextmanager
def writing() -> Iterator[None]:
    """Raise InvalidInput if the block cannot write to standard output, for example on a full disk.
    BrokenPipeError (the reader has closed the pipe) is not converted.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise api.errors.InvalidInput(
            "The output cannot be written: {error}.",
            hint="Make room, or write it elsewhere.",
            error=error.strerror or error,
        ) from error


def drop_output() -> None:
    """Flush standard output, or discard its buffer if that fails."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(line: str) -> None:
    """Print a line to standard error, such as progress or a remark."""
    sys.stderr.write(plain(line) + "\n")


def write_json(value: object, *, ascii_only: bool = True) -> None:
    """Print the result as one JSON document; a dataclass becomes an object of its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    write(json.dumps(value, indent=2, default=str, ensure_ascii=ascii_only))


def answer(options: argparse.Namespace, document: object, *lines: str) -> int:
    """Print a command's result: `document` with --json, else `lines`. Return exit status 0."""
    if options.json:
        write_json(document)
    else:
        for line in lines:
            write(line)
    return 0


def write_failure(error: EngineError, **more: object) -> int:
    """Print the reason why a command failed, and the fields `more`, as the command's JSON document.
    Return exit status 1.
    """
    texts = [api.translatable.to_json(text) for text in (error.message, error.hint)]
    write_json({**more, "message": error.message, "hint": error.hint, "texts": texts})
    return 1


def with_failure(run: Run) -> Run:
    """Let a command print its failure as its JSON document if it was asked for JSON."""

    def run_or_write(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except EngineError as error:
            if not options.json:
                raise
            return write_failure(error)

    return run_or_write


def action(
    actions: Any,  # argparse names this type only privately
    name: str,
    run: Run,
    text: str,
    *arguments: str,
) -> argparse.ArgumentParser:
    """Add a sub-command with --json. `arguments`: names of the positional arguments."""
    made: argparse.ArgumentParser = actions.add_parser(name, help=text)
    for each in arguments:
        made.add_argument(each.lower(), metavar=each)
    as_json(made, run)
    return made


def as_json(parser: argparse.ArgumentParser, run: Run) -> None:
    """Add the option --json to a command's parser and set `run` as the function of the command."""
    # SUPPRESS, because a default here would undo a --json before the action
    kept = argparse.SUPPRESS
    parser.add_argument("--json", action="store_true", default=kept, help="print as JSON")
    parser.set_defaults(command=run)


def own_settings() -> Settings:
    """Load the user's settings and report the entries of the file that were ignored."""
    settings, notes = api.load_settings()
    for note in notes:
        tell(note)
    return settings


def redraw(line: str) -> None:
    """Replace the progress line on the terminal. Do nothing if standard error is a file."""
    if sys.stderr.isatty():
        sys.stderr.write("\r" + plain(line))
        sys.stderr.flush()


def tell_share(share: float) -> None:
    """Print the progress (0..1) for the window, which reads standard error."""
    tell(json.dumps({"part": round(share, 3)}))


class ShareLine:
    """Progress of a long operation, on one line or as JSON; a short one prints nothing."""

    def __init__(self, *, as_json: bool = False) -> None:
        self._as_json = as_json
        self._due = time.monotonic() + _SOON_S
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            tell("")

    def draw(self, share: float) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + REDRAW_S
        if self._as_json:
            tell_share(share)
        else:
            self._drawn = True
            redraw(f"{share:4.0%} of the text; Ctrl+C ends it")


class LogFormatter(logging.Formatter):
    """Format log records as plain text, because they may quote text from outside."""

    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))
