"""The global keys of the settings, which work without the focus: their names in the settings, X11,
the portal and Windows, the interface of every system's source of keys, and their actions.

Invariant: no key is set by default, and then no connection is opened and nothing listens. parse()
accepts only possible global keys: a single letter would be taken from all other programs. A pressed
key is released or lost before it is pressed again. A source that does not work says why in one
sentence; the command line always works.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.language import mark, tr
from app.presence.bus import Bus
from app.presence.command_handler import CommandHandler
from app.presence.ipc_client import Order
from engine.api import EngineError
from engine.api import errors as faults

# name in settings -> (X keysym, Windows virtual key)
_NAMED = {
    "Space": ("space", 0x20),
    "Pause": ("Pause", 0x13),
    "ScrollLock": ("Scroll_Lock", 0x91),
    "Ins": ("Insert", 0x2D),
    "Del": ("Delete", 0x2E),
    "Home": ("Home", 0x24),
    "End": ("End", 0x23),
    "PgUp": ("Prior", 0x21),
    "PgDown": ("Next", 0x22),
    "Left": ("Left", 0x25),
    "Up": ("Up", 0x26),
    "Right": ("Right", 0x27),
    "Down": ("Down", 0x28),
    "Menu": ("Menu", 0x5D),
}
_MODIFIERS = ("Ctrl", "Alt", "Shift", "Meta")
_ALONE = re.compile(r"F\d+|Pause|ScrollLock|Menu")  # these are never typed


@dataclass(frozen=True)
class Chord:
    """A key with its modifiers, X11's name of the key, and its number on Windows."""

    modifiers: frozenset[str]
    keysym: str
    virtual_key: int

    def trigger(self) -> str:
        """The key in the portal's notation (XDG shortcuts specification)."""
        names = {"Ctrl": "CTRL", "Alt": "ALT", "Shift": "SHIFT", "Meta": "LOGO"}
        return "+".join([*(names[m] for m in _MODIFIERS if m in self.modifiers), self.keysym])


def parse(text: str) -> Chord:
    """Parse a key in Qt's notation ('Ctrl+Alt+Space'); InvalidInput for what cannot be global."""
    *modifiers, key = [part.strip() for part in text.split("+")]
    named = _named(key)
    unknown = set(modifiers) - set(_MODIFIERS)
    if named is None or unknown:
        raise _refusal(tr("There is no key '{key}' that could work everywhere.", key=text[:60]))
    if not set(modifiers) - {"Shift"} and not _ALONE.fullmatch(key):
        raise _refusal(tr("'{key}' alone would be taken from every other program.", key=text[:60]))
    keysym, virtual_key = named
    return Chord(frozenset(modifiers), keysym, virtual_key)


def _named(key: str) -> tuple[str, int] | None:
    if re.fullmatch(r"F([1-9]|1\d|2[0-4])", key):
        return key, 0x6F + int(key[1:])
    if re.fullmatch(r"[A-Z0-9]", key):
        return key.lower(), ord(key)
    return _NAMED.get(key)


def _refusal(message: str) -> EngineError:
    return faults.InvalidInput(
        message, hint=tr("Press it with Ctrl, Alt or Meta, or take a function key.")
    )


class Action(Enum):
    """The action of a key; the value is its name for the desktop."""

    TALK = "talk"
    STOP = "stop"
    FASTER = "faster"
    SLOWER = "slower"
    SELECTION = "selection"

    @property
    def words(self) -> str:
        """The description in the desktop's own list of keys."""
        words = {
            Action.TALK: tr("Talk to Rubato while held"),
            Action.STOP: tr("Stop Rubato's reply"),
            Action.FASTER: tr("Let Rubato speak faster"),
            Action.SLOWER: tr("Let Rubato speak slower"),
            Action.SELECTION: tr("Let Rubato read the selected text"),
        }
        return words[self]


class KeySource(QObject):
    """The global keys of one system; the base is the source of a system without any.

    Signals:
        pressed(Action), released(Action): a registered key went down or up.
        lost(str): some or all keys do not work, and why; held keys were released before.
        bound(str): the keys that work, where the desktop chooses them.
    """

    pressed = Signal(object)
    released = Signal(object)
    lost = Signal(str)
    bound = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._down: set[Action] = set()

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        """Register these keys and unregister all others."""
        if chords:
            self.lost.emit(tr(_ELSEWHERE))

    def close(self) -> None:
        """Unregister all keys."""

    def press(self, action: Action) -> None:
        """Report that a key went down, unless it is already down."""
        if action not in self._down:
            self._down.add(action)
            self.pressed.emit(action)

    def release(self, action: Action) -> None:
        if action in self._down:
            self._down.discard(action)
            self.released.emit(action)

    def release_all(self) -> None:
        """Treat all keys as released, without asking the keyboard."""
        for action in list(self._down):
            self.release(action)

    def report_taken(self, actions: Sequence[Action]) -> None:
        """Report that other programs have registered the keys of these actions."""
        if actions:
            names = ", ".join(f"“{action.words}”" for action in actions)
            reason = tr(
                "Another program has the key for {names} already: choose another.", names=names
            )
            self.lost.emit(reason)


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
            self._source = self._make_source()
            self._connect(self._source)
        if self._source is not None:
            self._source.grab(chords)

    def close(self) -> None:
        if self._source is not None:
            self._source.close()

    def _connect(self, source: KeySource) -> None:
        source.setParent(self)
        source.pressed.connect(self._on_pressed)
        source.released.connect(self._on_released)
        fault = tr("A global key does not work.")
        source.lost.connect(lambda reason: self.failed.emit(fault, reason))
        source.bound.connect(self.bound)

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
    return KeySource()
