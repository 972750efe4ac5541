"""What is written to the terminal: results to standard output, everything else to standard error.

Invariant: whatever a server, a model or a file gave is text there: it moves no cursor, colours
nothing and names no window.
"""

import logging
import sys

from app.look.plain_text import plain


def write(line: str) -> None:
    """A result."""
    sys.stdout.write(plain(line) + "\n")


def tell(line: str) -> None:
    """Something worth knowing that is no result."""
    sys.stderr.write(plain(line) + "\n")


def redraw(line: str) -> None:
    """How far something has come, over what was told of it last."""
    sys.stderr.write("\r" + plain(line))
    sys.stderr.flush()


class LogFormatter(logging.Formatter):
    """Log lines quote what came from outside too."""

    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))
