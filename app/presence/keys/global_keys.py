"""Registers the global keys of the settings and carries out their actions.

Invariant: no key is set by default, and then no connection is opened and nothing listens.
"""

import os
import sys
from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.language import mark, tr
from app.presence.bus import Bus
from app.presence.command_handler import CommandHandler
from app.presence.ipc_client import Order
from app.presence.keys.source import Action, Chord, KeySource, NoKeys, parse
from engine.api import EngineError

KEYS = {f"presence.{action.value}_key": action for action in Action}
_ELSEWHERE = mark(
    "Rubato cannot have global keys on this system yet. Bind `rubato talk toggle` to a key with a"
    " program that can."
)
_PRESSED = {
    Action.TALK: Order.PRESS,
    Action.STOP: Order.STOP,
    Action.FASTER: Order.FASTER,
    Action.SLOWER: Order.SLOWER,
    Action.SELECTION: Order.SELECTION,
}


class GlobalKeys(QObject):
    """The global keys that the person chose.

    Signals:
        failed(message, hint): a key does not work; the hint names a remedy.
        bound(text): the keys that the desktop chose.
        talk_pressed: the talk key went down.
    """

    failed = Signal(str, str)
    bound = Signal(str)
    talk_pressed = Signal()

    def __init__(
        self,
        handler: CommandHandler,
        make_source: Callable[[], KeySource],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._handler = handler
        self._make_source = make_source
        self._source: KeySource | None = None  # None = no key was ever chosen
        self._texts: dict[Action, str] = {}

    def choose(self, texts: Mapping[Action, str]) -> None:
        """Use these keys, as named in the settings; an empty text means none."""
        self._texts = {**self._texts, **texts}
        chords: dict[Action, Chord] = {}
        for action, text in self._texts.items():
            try:
                if text:
                    chords[action] = parse(text)
            except EngineError as error:
                self.failed.emit(error.message, error.hint)
        if chords and self._source is None:
            self._source = self._connected(self._make_source())
        if self._source is not None:
            self._source.grab(chords)

    def close(self) -> None:
        if self._source is not None:
            self._source.close()

    def _connected(self, source: KeySource) -> KeySource:
        source.setParent(self)
        source.pressed.connect(self._on_pressed)
        source.released.connect(self._on_released)
        fault = tr("A global key does not work.")
        source.lost.connect(lambda reason: self.failed.emit(fault, reason))
        source.bound.connect(self.bound)
        return source

    def _on_pressed(self, action: Action) -> None:
        self._handler.do(_PRESSED[action])
        if action is Action.TALK:
            self.talk_pressed.emit()

    def _on_released(self, action: Action) -> None:
        if action is Action.TALK:
            self._handler.do(Order.RELEASE)


def source_here(bus: Bus) -> KeySource:
    """The source of global keys on this system."""
    if sys.platform == "win32":
        from app.presence.keys.windows import WindowsKeys

        return WindowsKeys()
    if os.environ.get("WAYLAND_DISPLAY"):  # Xwayland's grab misses Wayland programs' keys
        from app.presence.keys.portal import PortalKeys

        return PortalKeys(bus)
    if QGuiApplication.platformName() == "xcb":
        from app.presence.keys.x11 import X11Keys

        return X11Keys()
    return NoKeys(tr(_ELSEWHERE))
