"""Runs one of Rubato's own commands for the window, in a separate process.

Invariant: the window never waits for it, and ends it when its result is no longer needed; only
`finish_all`, at the end of the program, waits. The standard input of the process is a pipe, which
closes when the program is killed. The process has a low priority, so that listening and speaking
come first.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QProcess, QTimer, Signal
from shiboken6 import isValid

from app.language import translated
from engine.api import translatable

_NICE = 10  # of 19
_LAUNCHER = "RUBATO_LAUNCHER"  # an installed Rubato's launcher sets it to its own path
_END_MS = 2000  # for a process to end by itself before it is killed


class BackgroundJob(QObject):
    """One at a time; starting it again while it runs does nothing. A start after end() waits until
    the previous process has ended, because that may still hold a port.

    Signals:
        reported(dict): a JSON object that it wrote to standard error meanwhile, on a line.
        ended(dict | None): the JSON object that the command printed; None if it printed none.
    """

    ended = Signal(object)
    reported = Signal(object)

    def __init__(
        self, parent: QObject, command: Sequence[str] | None = None, **slots: Callable[[Any], None]
    ) -> None:
        """`command` None: the program that is running. `slots`: a slot for each named signal."""
        super().__init__(parent)
        self._command = list(command) if command is not None else own_command()
        self._is_ending = False
        self._next: tuple[str, ...] | None = None  # the arguments of a start that waits
        # Not our child: it may outlive us for a moment, to end quietly.
        self._process = QProcess(QCoreApplication.instance())
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.SeparateChannels)
        self._process.readyReadStandardError.connect(self._on_report)
        self._process.started.connect(self._on_started)
        self._process.finished.connect(self._on_end)
        self._process.errorOccurred.connect(self._on_error)
        self.destroyed.connect(partial(_abandon, self._process))
        for signal, slot in slots.items():
            getattr(self, signal).connect(slot)

    @property
    def is_under_way(self) -> bool:
        return self._next is not None or (_runs(self._process) and not self._is_ending)

    def start(self, *words: str) -> None:
        """Run the command with these arguments, one of which asks for JSON."""
        if self.is_under_way:
            return
        if self._is_ending:
            self._next = words
            return
        program, *first = self._command
        self._process.start(program, [*first, *words])

    def end(self) -> None:
        """Stop it, without waiting; `ended` is not emitted any more."""
        self._next = None
        if _runs(self._process) and not self._is_ending:
            self._is_ending = True
            _ask_to_end(self._process)

    def _on_started(self) -> None:
        if self._is_ending:  # asked to end before there was a process
            self._process.terminate()
            return
        import psutil  # only where there is such a process

        with suppress(psutil.Error):  # it has ended already
            behind = getattr(psutil, "BELOW_NORMAL_PRIORITY_CLASS", _NICE)  # Windows has classes
            psutil.Process(self._process.processId()).nice(behind)

    def _on_report(self) -> None:
        channel = self._process.readChannel()
        self._process.setReadChannel(QProcess.ProcessChannel.StandardError)
        while self._process.canReadLine():
            said = _document(self._process.readLine())
            if said and not self._is_ending:
                self.reported.emit(said)
        self._process.setReadChannel(channel)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # for all others `finished` is emitted
            self._report(None)

    def _on_end(self, status: int, how: QProcess.ExitStatus) -> None:
        self._report(_document(self._process.readAllStandardOutput()))

    def _report(self, document: dict[str, Any] | None) -> None:
        if not self._is_ending:
            self.ended.emit(document)
            return
        self._is_ending = False
        if (words := self._next) is not None:
            self._next = None
            self.start(*words)


def finish_all() -> None:
    """End the processes that still run, and wait for that: the program ends."""
    application = QCoreApplication.instance()
    processes = application.findChildren(QProcess) if application is not None else []
    running = [process for process in processes if _runs(process)]
    for process in running:
        process.closeWriteChannel()
        process.terminate()
    for process in running:
        if not process.waitForFinished(_END_MS):
            process.kill()
            process.waitForFinished(_END_MS)


def _runs(process: QProcess) -> bool:
    return process.state() is not QProcess.ProcessState.NotRunning


def _ask_to_end(process: QProcess) -> None:
    """Close its standard input and terminate it; kill it if it does not end in time."""
    patience = QTimer(process)
    patience.setSingleShot(True)
    patience.timeout.connect(process.kill)
    process.finished.connect(patience.deleteLater)
    patience.start(_END_MS)
    process.closeWriteChannel()
    process.terminate()


def _abandon(process: QProcess) -> None:
    """End a process whose job is gone."""
    if not isValid(process):  # when the program ends, Qt may have deleted it already
        return
    if not _runs(process):
        process.deleteLater()
        return
    process.finished.connect(process.deleteLater)
    _ask_to_end(process)


def _document(printed: QByteArray) -> dict[str, Any] | None:
    with suppress(ValueError):
        found = json.loads(bytes(printed.data()))
        return found if isinstance(found, dict) else None
    return None


def texts_of(document: dict[str, Any] | None) -> list[str]:
    """The reason why a command failed, in the person's language: a message and a hint. Empty if it
    did not fail or gave no reason.
    """
    texts = (document or {}).get("texts", ())
    return [translated(translatable.from_json(each)) for each in texts]


def own_command() -> list[str]:
    """The command that starts this program again, of an installed one also after an update."""
    launcher = os.environ.get(_LAUNCHER, "")
    if Path(launcher).is_file():
        return [launcher]
    program = Path(sys.executable).with_name("rubato.exe" if sys.platform == "win32" else "rubato")
    return [str(program)] if program.exists() else [sys.executable, "-P", "-m", "app"]
