"""The engine as a host sees it: start, post commands, receive events, stop.

Invariant: importing this module imports no torch and opens nothing; models load in the engine's own
threads after start(). `emit` is called from engine threads, one event at a time, and must not
block.
"""

from collections.abc import Callable

from engine.errors import EngineError
from engine.messages import Command, Event
from engine.settings import Settings

__all__ = ["Command", "Engine", "EngineError", "Event", "Settings"]


class Engine:
    """One assistant. start() returns at once; Ready and Failed events tell how loading went."""

    def __init__(self, settings: Settings, emit: Callable[[Event], None]) -> None:
        self._settings = settings
        self._emit = emit

    def start(self) -> None:
        """Create the engine's threads; they load their models and say so."""

    def post(self, command: Command) -> None:
        """Queue a command; never waits, may be called from any thread."""

    def stop(self) -> None:
        """Release devices and models, join every thread; the last event is Stopped."""
