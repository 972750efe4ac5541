"""Whether the window may show animations.

Invariant: every animation asks `is_still` and listens to `changed`. If the person wants no
animations, here or in the whole system, they stop at once.
"""

from PySide6.QtCore import QObject, Signal


class Motion(QObject):
    """Signals:
    changed: animations were allowed or forbidden.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._is_reduced = False  # in our settings
        self._is_reduced_everywhere = False  # in the system's

    @property
    def is_still(self) -> bool:
        return self._is_reduced or self._is_reduced_everywhere

    def choose(self, mode: str) -> None:
        """`mode` as in the setting window.motion: 'reduced', or 'system' to follow the system."""
        self._is_reduced = mode == "reduced"
        self.changed.emit()

    def follow_system(self, wants_stillness: bool) -> None:
        """Note what the system wants now."""
        self._is_reduced_everywhere = wants_stillness
        self.changed.emit()
