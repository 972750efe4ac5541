"""What guards a run of the window: Ctrl+C in the terminal closes it like its close button, and what
breaks is noted for the person.
"""

import logging
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    QtMsgType,
    qInstallMessageHandler,
)

from engine.api import CrashNotes

_QUIET = (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)


class Interrupt(QObject):
    """Calls `close` on SIGINT and SIGTERM for as long as it lives; main thread only.

    Invariant: the signal handler only makes Python notice the signal; closing happens on the Qt
    thread. (While Qt waits for events, Python runs no handlers; hence the socket.)
    """

    def __init__(self, close: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._close = close
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_readable)
        self._descriptor_before = signal.set_wakeup_fd(self._write.fileno())
        self._before = {
            number: signal.signal(number, lambda *_: None)
            for number in (signal.SIGINT, signal.SIGTERM)
        }

    def restore(self) -> None:
        """Put everything back as it was."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._descriptor_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._read.close()
        self._write.close()

    def _on_readable(self) -> None:
        self._read.recv(64)
        self._close()


class Watch:
    """Crash notes between begin() and end(): the engine's hooks, and Qt's own warnings. `notes`
    None: notes nothing.

    Invariant: only the severity and the category of Qt's messages are noted, because the text may
    contain a file's name. The previous message handler still gets everything.
    """

    def __init__(self, notes: CrashNotes | None) -> None:
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
