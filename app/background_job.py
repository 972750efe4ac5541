"""Runs one of Rubato's own commands for the window, in a separate process.

Invariant: the window never waits for it, and ends it when its result is no longer needed. Listening
and speaking come first: it gets what processor time they leave.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from PySide6.QtCore import QByteArray, QObject, QProcess, Signal
from shiboken6 import isValid

from app.language import translated
from app.presence.autostart import own_command
from engine.api import translatable

_NICE = 10  # of 19
_END_MS = 2000  # for a process to end by itself once nobody needs its result


class BackgroundJob(QObject):
    """One at a time; starting it again while it runs does nothing.

    Signals:
        told(dict): a JSON object it wrote to standard error meanwhile, on a line.
        ended(dict | None): the JSON object that the command printed; None if it printed none.
    """

    ended = Signal(object)
    told = Signal(object)

    def __init__(self, parent: QObject, command: Sequence[str] | None = None) -> None:
        """`command` None: the program that is running."""
        super().__init__(parent)
        self._command = list(command) if command is not None else own_command()
        self._process = QProcess()  # no parent: Qt would destroy it before it could end quietly
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.SeparateChannels)
        self._process.readyReadStandardError.connect(self._on_told)
        self._process.setStandardInputFile(QProcess.nullDevice())
        self._process.started.connect(self._give_way)
        self._process.finished.connect(self._on_end)
        self._process.errorOccurred.connect(self._on_error)
        self.destroyed.connect(partial(_end, self._process))

    @property
    def is_under_way(self) -> bool:
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def start(self, *words: str) -> None:
        """Run the command with these arguments, one of which asks for JSON."""
        if not self.is_under_way:
            program, *first = self._command
            self._process.start(program, [*first, *words])

    def end(self) -> None:
        """Stop it; `ended` is not emitted any more."""
        _end(self._process)

    def _give_way(self) -> None:
        import psutil  # only where there is such a process

        with suppress(psutil.Error):  # it has ended already
            behind = getattr(psutil, "BELOW_NORMAL_PRIORITY_CLASS", _NICE)  # Windows has classes
            psutil.Process(self._process.processId()).nice(behind)

    def _on_told(self) -> None:
        channel = self._process.readChannel()
        self._process.setReadChannel(QProcess.ProcessChannel.StandardError)
        while self._process.canReadLine():
            if said := _document(self._process.readLine()):
                self.told.emit(said)
        self._process.setReadChannel(channel)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # for all others `finished` is emitted
            self.ended.emit(None)

    def _on_end(self, status: int, how: QProcess.ExitStatus) -> None:
        self.ended.emit(_document(self._process.readAllStandardOutput()))


def _end(process: QProcess) -> None:
    # when the program ends, Qt may have deleted it already
    if not isValid(process) or process.state() is QProcess.ProcessState.NotRunning:
        return
    process.blockSignals(True)
    process.terminate()
    if not process.waitForFinished(_END_MS):
        process.kill()
        process.waitForFinished(_END_MS)
    process.blockSignals(False)


def _document(printed: QByteArray) -> dict[str, Any] | None:
    with suppress(ValueError):
        found = json.loads(bytes(printed.data()))
        return found if isinstance(found, dict) else None
    return None


def texts_of(document: dict[str, Any] | None) -> list[str]:
    """Why a command failed, in the person's language: a message and a hint. Empty if it did not, or
    said nothing.
    """
    texts = (document or {}).get("texts", ())
    return [translated(translatable.from_json(each)) for each in texts]
