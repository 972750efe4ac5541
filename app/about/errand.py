"""A command of Rubato's own, run for the window in a process of its own.

Invariant: the window never waits for it, and one that is no longer wanted is ended with it.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QProcess, Signal
from shiboken6 import isValid

from app.presence.autostart import own_command

_END_MS = 2000  # for a process to end by itself, when what wanted it is gone


class Errand(QObject):
    """One at a time; a second start while it runs is none.

    Signals:
        ended(document): what the command printed, as JSON read; None where that was none.
    """

    ended = Signal(object)

    def __init__(self, parent: QObject, command: Sequence[str] | None = None) -> None:
        """`command` None: this very program."""
        super().__init__(parent)
        self._command = list(command) if command is not None else own_command()
        self._process = QProcess()  # no child: a child is gone before it could be ended quietly
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.SeparateChannels)
        self._process.setStandardErrorFile(QProcess.nullDevice())
        self._process.setStandardInputFile(QProcess.nullDevice())
        self._process.finished.connect(self._on_end)
        self._process.errorOccurred.connect(self._on_error)
        self.destroyed.connect(partial(_end, self._process))

    @property
    def is_under_way(self) -> bool:
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def start(self, *words: str) -> None:
        """Run the command with these words, of which one asks for JSON."""
        if not self.is_under_way:
            program, *first = self._command
            self._process.start(program, [*first, *words])

    def end(self) -> None:
        """Let it be; `ended` is not told any more."""
        _end(self._process)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # of all others `finished` tells
            self.ended.emit(None)

    def _on_end(self, status: int, how: QProcess.ExitStatus) -> None:
        self.ended.emit(_document(bytes(self._process.readAllStandardOutput().data())))


def _end(process: QProcess) -> None:
    # at the very end of the program Qt may have deleted it first
    if not isValid(process) or process.state() is QProcess.ProcessState.NotRunning:
        return
    process.blockSignals(True)
    process.terminate()
    if not process.waitForFinished(_END_MS):
        process.kill()
        process.waitForFinished(_END_MS)
    process.blockSignals(False)


def _document(printed: bytes) -> Any:
    try:
        return json.loads(printed)
    except ValueError:
        return None
