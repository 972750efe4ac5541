"""Crash notes of the program with a window: the engine's hooks, and Qt's own complaints.

Invariant: of what Qt says only the severity and the category are noted, because its words may hold
a file's name; who heard Qt before still hears all of it.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from engine.api import upkeep

_QUIET = (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)


class Watch:
    """Between begin() and end() what breaks is noted. `notes` None: nothing is."""

    def __init__(self, notes: upkeep.CrashNotes | None) -> None:
        self._notes = notes
        self._before: Callable[..., Any] | None = None  # who heard Qt before; None = its own way

    def begin(self) -> str:
        """What broke in the last run, in one sentence, or nothing."""
        if self._notes is None:
            return ""
        broke = self._notes.begin()
        self._before = qInstallMessageHandler(self._on_message)
        return broke

    def end(self) -> None:
        if self._notes is not None:
            qInstallMessageHandler(self._before)
            self._notes.end()

    def _on_message(self, kind: QtMsgType, context: QMessageLogContext, words: str) -> None:
        if kind not in _QUIET:
            logging.getLogger(f"app.{context.category}").warning("severity=%s", kind)
        if self._before is not None:
            self._before(kind, context, words)
        elif kind is not QtMsgType.QtDebugMsg:
            sys.stderr.write(f"{words}\n")
