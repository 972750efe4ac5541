"""The common interface of all systems' global keys, which work without the focus.

Invariant: a pressed key is released or lost before it is pressed again. A source that does not work
says why in one sentence; the command line always works.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from PySide6.QtCore import QObject, Signal

from app.language import tr
from app.presence.keys.chord import Chord


class Action(Enum):
    """What a key does; the value is its name for the desktop."""

    TALK = "talk"
    STOP = "stop"
    FASTER = "faster"
    SLOWER = "slower"

    @property
    def words(self) -> str:
        """The description in the desktop's own list of keys."""
        words = {
            Action.TALK: tr("Talk to Rubato while held"),
            Action.STOP: tr("Stop Rubato's reply"),
            Action.FASTER: tr("Let Rubato speak faster"),
            Action.SLOWER: tr("Let Rubato speak slower"),
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
        """Register these keys and no others."""
        raise NotImplementedError

    def close(self) -> None:
        """Unregister all keys."""
        raise NotImplementedError

    def press(self, action: Action) -> None:
        """A key went down; a repeat is not reported."""
        if action not in self._down:
            self._down.add(action)
            self.pressed.emit(action)

    def release(self, action: Action) -> None:
        if action in self._down:
            self._down.discard(action)
            self.released.emit(action)

    def release_all(self) -> None:
        """Treat all keys as released, whatever the keyboard says."""
        for action in list(self._down):
            self.release(action)

    def report_taken(self, actions: Sequence[Action]) -> None:
        """Other programs have the keys of these actions."""
        if actions:
            names = ", ".join(f"“{action.words}”" for action in actions)
            told = tr(
                "Another program has the key for {names} already: choose another.", names=names
            )
            self.lost.emit(told)


class NoKeys(KeySource):
    """For a system without global keys: says so when one is chosen."""

    def __init__(self, reason: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reason = reason

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        if chords:
            self.lost.emit(self._reason)

    def close(self) -> None:
        pass
