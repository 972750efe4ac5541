"""The interface of every system's global keys, which work without the focus; and the names of a key
with its modifiers in the settings, X11, the portal and Windows.

Invariant: parse() accepts only possible global keys: a single letter would be taken from all other
programs. a pressed key is released or lost before it is pressed again. A source that does not work
says why in one sentence; the command line always works.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QObject, Signal

from app.language import tr
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
    """A key with its modifiers. `keysym`: X11's name of the key. `virtual_key`: its number on
    Windows.
    """

    modifiers: frozenset[str]
    keysym: str
    virtual_key: int

    def trigger(self) -> str:
        """The key in the portal's notation (XDG shortcuts specification)."""
        names = {"Ctrl": "CTRL", "Alt": "ALT", "Shift": "SHIFT", "Meta": "LOGO"}
        return "+".join([*(names[m] for m in _MODIFIERS if m in self.modifiers), self.keysym])


def parse(text: str) -> Chord:
    """Parse a key in Qt's notation, such as 'Ctrl+Alt+Space'. InvalidInput if it cannot be a global
    key.
    """
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
    """The global keys of one system.

    Signals:
        pressed(Action), released(Action): a registered key went down or up.
        lost(str): some or all keys do not work, and why; held keys were released before.
        bound(str): the keys that work, where the desktop chooses them.
    """

    pressed = Signal(object)
    released = Signal(object)
    lost = Signal(str)
    bound = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._down: set[Action] = set()

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        """Register these keys and unregister all others."""
        raise NotImplementedError

    def close(self) -> None:
        """Unregister all keys."""
        raise NotImplementedError

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


class NoKeys(KeySource):
    """The source of keys for a system without global keys: reports that, once a key is chosen."""

    def __init__(self, reason: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reason = reason

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        if chords:
            self.lost.emit(self._reason)

    def close(self) -> None:
        pass
