"""Between the window and the engine: one queued signal in, post(command) out.

Invariant: making, starting and stopping the engine, which take long, happen one after another on a
thread of the bridge. post(), which never waits, is called on the Qt thread. Commands wait in order
until the engine has started.
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal

from app.language import tr, translate_event
from engine.api import ChangeSetting, Command, Engine, EngineError, Event, Failed, SettingChanged

logger = logging.getLogger(__name__)

Post = Callable[[Command], None]
Emit = Callable[[Event], None]


class Bridge(QObject):
    """Relays messages and translates the engine's sentences. It drops SettingChanged events that
    are older than the window's latest change of that setting, so that a control stays where the
    person moves it.

    Signals:
        arrived(Event): from the engine, on the Qt thread.
        closed: the engine has stopped; emitted on the bridge's thread, connect queued.
    """

    arrived = Signal(object)
    closed = Signal()
    _emitted = Signal(object)  # an event; emitted on engine threads
    _started = Signal()  # emitted on the bridge's thread

    def __init__(self, make_engine: Callable[[Emit], Engine]) -> None:
        super().__init__()
        self._make_engine = make_engine
        self._engine: Engine | None = None
        self._is_started = self._is_closed = False
        self._waiting: list[Command] = []  # for the start
        self._calls = ThreadPoolExecutor(max_workers=1, thread_name_prefix="engine-calls")
        self._changes = 0  # of settings by the window, until now
        self._unanswered: dict[str, int] = {}  # the newest of each setting, by its key
        self._emitted.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._started.connect(self._on_started, Qt.ConnectionType.QueuedConnection)

    def open(self) -> None:
        """Make and start the engine behind the window. After close() nothing is made: a window can
        be closed before its first frame.
        """
        if not self._is_closed:
            self._unanswered.clear()
            self._waiting.clear()  # earlier commands are dropped
            self._calls.submit(self._open)

    def post(self, command: Command) -> None:
        """Pass a command on; never waits. After close() it is dropped. From the Qt thread only."""
        if self._is_closed:
            return
        if isinstance(command, ChangeSetting):
            self._changes += 1
            self._unanswered[command.key] = self._changes
            command = replace(command, origin=self._changes)
        if self._is_started and self._engine is not None:
            self._engine.post(command)
        else:
            self._waiting.append(command)

    def close(self) -> None:
        """Stop the engine behind the window, after the commands so far; `closed` says when it is
        done. Twice is harmless.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._calls.submit(self._close)
        self._calls.shutdown(wait=False)

    def _open(self) -> None:
        try:
            self._engine = self._make_engine(self._arrive)
            self._engine.start()
            self._started.emit()
        except EngineError as error:
            self._arrive(Failed(error.code, error.message, error.hint))
        except Exception:  # the top of a thread: the window shows every fault
            logger.exception("engine did not start")
            self._emitted.emit(
                Failed(
                    "engine",
                    tr("The assistant could not be started."),
                    tr("Run `rubato doctor` in a terminal to find out why."),
                )
            )

    def _arrive(self, event: Event) -> None:
        self._emitted.emit(translate_event(event))

    def _deliver(self, event: Event) -> None:
        if isinstance(event, SettingChanged) and (newest := self._unanswered.get(event.key)):
            if event.origin != newest:
                return
            del self._unanswered[event.key]
        self.arrived.emit(event)

    def _on_started(self) -> None:
        if not self._is_closed:
            self._is_started = True
            self._post_waiting()

    def _post_waiting(self) -> None:
        """Post the commands that waited. After close() only the bridge's thread calls this."""
        waiting, self._waiting = self._waiting, []
        for command in waiting:
            if self._engine is not None:
                self._engine.post(command)

    def _close(self) -> None:
        try:
            self._post_waiting()
            if self._engine is not None:
                self._engine.stop()
        except Exception:  # the top of a thread: the window still has to close
            logger.exception("engine did not stop")
        finally:
            self._engine = None  # the bridge itself may outlive Python's last collection
            self.closed.emit()
