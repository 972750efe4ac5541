"""Makes Ctrl+C in the terminal close the window like its close button.

Invariant: the signal handler only makes Python notice the signal; closing happens on the Qt thread.
(While Qt waits for events, Python runs no handlers; hence the socket.)
"""

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier


class Interrupt(QObject):
    """Calls `close` on SIGINT and SIGTERM for as long as it lives; main thread only."""

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
