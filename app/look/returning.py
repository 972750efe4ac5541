"""When a person comes back to a window: what others changed meanwhile is looked at again.

Invariant: a window that was never left is not come back to; opening it is no return.
"""

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget


class Returning(QObject):
    """Watches one window.

    Signals:
        returned: it has the focus again, and another one (of any program) had it before.
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
