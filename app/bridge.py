"""Between the window and the engine: one queued signal in, post(command) out.

Invariant: no engine call happens on the Qt thread. All of them (make, start, post, stop) run one
after another on one thread that belongs to the bridge, so their order is kept and a slow one never
holds up the window.
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal

from app.language import tr, translate_event
from engine.api import ChangeSetting, Command, EngineError, Event, Failed, SettingChanged

logger = logging.getLogger(__name__)

Post = Callable[[Command], None]
Emit = Callable[[Event], None]


class EngineLike(Protocol):
    """The part of an engine that the bridge uses."""

    def start(self) -> None: ...

    def post(self, command: Command) -> None: ...

    def stop(self) -> None: ...


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

    def __init__(
        self, make_engine: Callable[[Emit], EngineLike], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._make_engine = make_engine
        self._engine: EngineLike | None = None
        self._calls = ThreadPoolExecutor(max_workers=1, thread_name_prefix="engine-calls")
        self._is_closed = False
        self._changes = 0  # of settings by the window, until now
        self._unanswered: dict[str, int] = {}  # the newest of each setting, by its key
        self._emitted.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def open(self) -> None:
        """Make and start the engine behind the window. After close() nothing is made: a window can
        be closed before its first frame.
        """
        if not self._is_closed:
            self._unanswered.clear()  # earlier commands are dropped
            self._calls.submit(self._open)

    def post(self, command: Command) -> None:
        """Pass a command on; never waits. After close() it is dropped. From the Qt thread only."""
        if self._is_closed:
            return
        if isinstance(command, ChangeSetting):
            self._changes += 1
            self._unanswered[command.key] = self._changes
            command = replace(command, origin=self._changes)
        self._calls.submit(self._post, command)

    def close(self) -> None:
        """Stop the engine behind the window; `closed` says when it is done. Twice is harmless."""
        if self._is_closed:
            return
        self._is_closed = True
        self._calls.submit(self._close)
        self._calls.shutdown(wait=False)

    def _open(self) -> None:
        try:
            self._engine = self._make_engine(self._arrive)
            self._engine.start()
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

    def _post(self, command: Command) -> None:
        if self._engine is None:
            return
        try:
            self._engine.post(command)
        except Exception:  # the top of a thread
            logger.exception("command was not taken command=%s", type(command).__name__)

    def _close(self) -> None:
        try:
            if self._engine is not None:
                self._engine.stop()
        except Exception:  # the top of a thread: the window still has to close
            logger.exception("engine did not stop")
        finally:
            self._engine = None  # the bridge itself may outlive Python's last collection
            self.closed.emit()
