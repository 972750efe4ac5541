"""Writing to the terminal: results to standard output, everything else to standard error.

Invariant: text from a server, a model or a file is printed as plain text: it cannot move the
cursor, change colours or rename the window.
"""

import logging
import sys

from app.look.plain_text import plain


def write(line: str) -> None:
    """A result."""
    sys.stdout.write(plain(line) + "\n")


def tell(line: str) -> None:
    """Print something worth knowing that is not a result."""
    sys.stderr.write(plain(line) + "\n")


def redraw(line: str) -> None:
    """Print the progress of something over the previous progress line."""
    sys.stderr.write("\r" + plain(line))
    sys.stderr.flush()


class LogFormatter(logging.Formatter):
    """Makes log lines safe, because they may quote text from outside."""

    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))
