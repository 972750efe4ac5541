"""A short line for messages that are not faults; it disappears by itself.

Invariant: it never takes space from the conversation, because an empty line has the same height,
and it never takes the focus.
"""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.label import Label, announce
from app.look.plain_text import tool_tip
from engine.api import Event, Notice

_SHOWN_MS = 8000  # long enough to read a line twice


class NoticeLine(Label):
    """Shows the newest Notice or, while models load, what is being loaded."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("", parent, kind="muted", size=0.92)
        self._standing = ""
        self._timer = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._timer.timeout.connect(self._on_read)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumHeight(int(self.fontMetrics().height()) + 4)

    def on_event(self, event: Event) -> None:
        if isinstance(event, Notice):
            self.setText(event.text)
            self.setToolTip(tool_tip(event.text))
            self.setAccessibleDescription(self.text())
            self._timer.start()
            announce(self, self.text())

    def stand(self, text: str) -> None:
        """Show this text whenever there is no notice; empty = nothing."""
        self._standing = text
        if not self._timer.isActive():
            self.setText(text)

    def _on_read(self) -> None:
        self.setText(self._standing)
        self.setToolTip("")
        self.setAccessibleDescription("")
