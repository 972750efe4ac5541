"""Keys that work without the focus: one face for every system's way.

Invariant: what is pressed is released or lost before it is pressed again. A way that does not work
says why in one sentence, and the command line is there in any case.
"""

from collections.abc import Mapping
from enum import Enum

from PySide6.QtCore import QObject, Signal

from app.language.words import tr
from app.presence.keys.chord import Chord


class Action(Enum):
    """What a key does; the value names it to the desktop."""

    TALK = "talk"
    STOP = "stop"
    FASTER = "faster"
    SLOWER = "slower"

    @property
    def words(self) -> str:
        """For the desktop's own list of keys."""
        words = {
            Action.TALK: tr("Talk to Rubato while held"),
            Action.STOP: tr("Stop Rubato's reply"),
            Action.FASTER: tr("Let Rubato speak faster"),
            Action.SLOWER: tr("Let Rubato speak slower"),
        }
        return words[self]


class KeySource(QObject):
    """One system's way to global keys.

    Signals:
        pressed(Action), released(Action): of a key that was asked for.
        lost(str): some or all keys do not work, and why; what was held was let go before.
        bound(str): which keys are in force, where the desktop chooses them.
    """

    pressed = Signal(object)
    released = Signal(object)
    lost = Signal(str)
    bound = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._down: set[Action] = set()

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        """Ask for these keys and no others."""
        raise NotImplementedError

    def close(self) -> None:
        """Give all keys back."""
        raise NotImplementedError

    def press(self, action: Action) -> None:
        """It went down; a repeat is not told again."""
        if action not in self._down:
            self._down.add(action)
            self.pressed.emit(action)

    def release(self, action: Action) -> None:
        if action in self._down:
            self._down.discard(action)
            self.released.emit(action)

    def release_all(self) -> None:
        """Nothing is held any more, whatever the keyboard says."""
        for action in list(self._down):
            self.release(action)


class NoKeys(KeySource):
    """A system that offers none: says so when one is asked for."""

    def __init__(self, reason: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reason = reason

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        if chords:
            self.lost.emit(self._reason)

    def close(self) -> None:
        pass
