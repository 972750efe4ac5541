"""The signs in the header: that both sides are being recorded, and that nothing is kept. Pressing
one ends what it says.

Invariant: in sight exactly while the engine says so, and only the person can begin either.
"""

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QPushButton, QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.theme import scaled
from engine.api import ConversationOpened, Event, NewConversation, Record, RecordingChanged


class Sign(QPushButton):
    """Hidden at first. `name` is for screen readers."""

    def __init__(self, words: str, kind: str, name: str, tip: str, parent: QWidget) -> None:
        super().__init__(words, parent)
        self.setProperty("kind", kind)
        self.setFont(scaled(self.font(), 0.95, figures=True))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(name)
        self.setToolTip(tip)
        self.hide()


class RecordingSign(Sign):
    """A red dot and how long it has been on; `clock` gives seconds and exists for tests."""

    def __init__(
        self, post: Post, parent: QWidget, *, clock: Callable[[], float] = monotonic
    ) -> None:
        name = tr("Recording. Press to end it")
        tip = tr("Both sides are being recorded. Press to end it (Ctrl+R)")
        super().__init__("", "recording", name, tip, parent)
        self._post = post
        self._clock = clock
        self._began_at: float | None = None  # None = nothing is recorded
        self._timer = QTimer(self, interval=1000)
        self._timer.timeout.connect(self._show_time)
        self.clicked.connect(lambda: post(Record(False)))

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
                self._timer.start()
                self._show_time()
            else:
                self._timer.stop()

    def _show_time(self) -> None:
        minutes, seconds = divmod(int(self._clock() - (self._began_at or 0.0)), 60)
        self.setText(f"●  {minutes}:{seconds:02}")


class PrivateSign(Sign):
    """Nothing of this conversation is saved; pressing it begins one that is."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        name = tr("Private conversation. Press to end it")
        tip = tr("Nothing of this conversation is kept. Press to end it")
        super().__init__(tr("Private"), "sign", name, tip, parent)
        self.is_on = False
        self.clicked.connect(lambda: post(NewConversation()))

    def on_event(self, event: Event) -> None:
        if isinstance(event, ConversationOpened):
            self.is_on = event.private
            self.setVisible(event.private)
