"""Notices when a person comes back to a window, so that changes made elsewhere are read again.

Invariant: opening a window does not count as coming back; it must have been left before.
"""

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget


class Returning(QObject):
    """Watches one window.

    Signals:
        returned: it has the focus again after another window (of any program) had it.
    """

    returned = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._left = False
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event.type():
            case QEvent.Type.WindowDeactivate:
                self._left = True
            case QEvent.Type.WindowActivate if self._left:
                self._left = False
                self.returned.emit()
            case _:
                pass
        return super().eventFilter(watched, event)
