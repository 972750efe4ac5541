"""A bar that shows the progress of something, or only that it is running.

Invariant: without animations it never moves back and forth; the text beside it says that something
is running.
"""

from PySide6.QtWidgets import QProgressBar, QWidget

from app.look.theme import Theme

_STEPS = 1000


class Progress(QProgressBar):
    """Its text is hidden: a thin line."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._motion = theme.motion
        self._share: float | None = 0.0  # None = the progress is not known
        self.setTextVisible(False)
        theme.motion.changed.connect(self._show)

    def show_share(self, share: float | None) -> None:
        """`share` is 0..1; None if it is not known."""
        self._share = share
        self._show()

    def _show(self) -> None:
        runs = self._share is None and not self._motion.is_still
        self.setRange(0, 0 if runs else _STEPS)
        self.setValue(round((self._share or 0.0) * _STEPS))
