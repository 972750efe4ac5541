"""The sign that both sides are being recorded; pressing it ends the recording.

Invariant: in sight exactly while the engine records, which only the person can begin.
"""

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QPushButton, QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.theme import scaled
from engine.api import Event, Record, RecordingChanged


class RecordingSign(QPushButton):
    """A red dot and how long it has been on; `clock` gives seconds and exists for tests."""

    def __init__(
        self, post: Post, parent: QWidget, *, clock: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(parent)
        self._post = post
        self._clock = clock
        self._began_at: float | None = None  # None = nothing is recorded
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._show_time)
        self.setProperty("kind", "recording")
        self.setFont(scaled(self.font(), 0.95, figures=True))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(tr("Recording. Press to end it"))
        self.setToolTip(tr("Both sides are being recorded. Press to end it (Ctrl+R)"))
        self.clicked.connect(lambda: post(Record(False)))
        self.hide()

    @property
    def is_on(self) -> bool:
        return self._began_at is not None

    def toggle_recording(self) -> None:
        """Ask the engine to begin or to end; it says when it has."""
        self._post(Record(not self.is_on))

    def on_event(self, event: Event) -> None:
        if isinstance(event, RecordingChanged):
            self._began_at = self._clock() if event.on else None
            self.setVisible(event.on)
            if event.on:
                self._timer.start(1000)
                self._show_time()
            else:
                self._timer.stop()

    def _show_time(self) -> None:
        minutes, seconds = divmod(int(self._clock() - (self._began_at or 0.0)), 60)
        self.setText(f"●  {minutes}:{seconds:02}")
