"""A bar that shows how far something is, or that it goes on.

Invariant: where things are to be still it never runs to and fro; what it stands beside says in
words that something goes on.
"""

from PySide6.QtWidgets import QProgressBar, QWidget

from app.look.theme import Theme

_STEPS = 1000


class Progress(QProgressBar):
    """Its text is hidden: a thin line."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._motion = theme.motion
        self._share: float | None = 0.0  # None = nobody knows how far it is
        self.setTextVisible(False)
        theme.motion.changed.connect(self._show)

    def show_share(self, share: float | None) -> None:
        """`share` is 0..1; None where it is not known."""
        self._share = share
        self._show()

    def _show(self) -> None:
        runs = self._share is None and not self._motion.is_still
        self.setRange(0, 0 if runs else _STEPS)
        self.setValue(round((self._share or 0.0) * _STEPS))
