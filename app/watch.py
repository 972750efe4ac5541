"""Crash notes for the program with a window: the engine's hooks, and Qt's own warnings.

Invariant: only the severity and the category of Qt's messages are noted, because the text may
contain a file's name. The previous message handler still gets everything.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from engine.api import upkeep

_QUIET = (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)


class Watch:
    """Notes errors between begin() and end(). `notes` None: notes nothing."""

    def __init__(self, notes: upkeep.CrashNotes | None) -> None:
        self._notes = notes
        # The previous message handler; None = Qt's own.
        self._before: Callable[..., Any] | None = None

    def begin(self) -> str:
        """Start; return one sentence about what broke in the last run, or ""."""
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
