"""The stage: the orb, a word for the state of the assistant, and the rate below.

Invariant: the same widgets are in a column in a wide window and in a row in a narrow one.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QWidget

from app.bridge import Post
from app.language import tr
from app.look.label import FoldingLabel
from app.look.layout import Spring, column, wide
from app.look.plain_text import one_line, tool_tip
from app.look.theme import Theme
from app.stage.orb import Orb
from app.stage.rate import RatePanel
from app.status.parts import Mood, Parts, mood
from engine.api import Event, Phase, PhaseChanged, PreviewChanged, PreviewState

_SMALL_ORB = 84
_LEAST_ORB = 104


class Stage(QFrame):
    """The card with the orb, the word for the mood, and the rate."""

    def __init__(self, post: Post, parts: Parts, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts = parts
        self._phase = Phase.IDLE
        self._mood = Mood.STARTING
        self.setProperty("kind", "card")
        self.orb = Orb(theme, self)
        self.phase = FoldingLabel(tr(Mood.STARTING.value), self, size=1.05, strong=True)
        self.phase.be_one_line(True)
        width = self.phase.fontMetrics().horizontalAdvance
        self.phase.setMinimumWidth(max(width(tr(each.value)) for each in Mood) + 1)
        # its neighbours stay where they are, however long the wake phrase is
        self.phase.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.phase.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._previews = False  # a voice that is tried is heard
        self.rate = RatePanel(post, theme, self)
        # the orb is as large as possible, and stays together with its word
        self._show = column(Spring(), wide(self.orb, 100), self.phase, Spring(), spacing=4)
        self._row = column(wide(self._show), self.rate, on=self)
        self.be_compact(False)

    def on_event(self, event: Event) -> None:
        self.orb.on_event(event)
        match event:
            case PreviewChanged(state=state):
                self._previews = state is PreviewState.SPEAKING
            case PhaseChanged(phase=phase):
                self._phase = phase
        self.show_mood()
        self.rate.on_event(event)

    def show_mood(self) -> None:
        """Show the mood in the orb and in words."""
        phase = self._phase
        if self._previews and phase is Phase.IDLE:
            phase = Phase.SPEAKING
        now = mood(phase, self._parts)
        if now is not self._mood:
            self._mood = now
            self.phase.setText(self._said(now))
            self.phase.setToolTip(tool_tip(self._said(now)) if now is Mood.ASLEEP else "")
            self.orb.show_mood(now)

    def _said(self, mood: Mood) -> str:
        if mood is Mood.ASLEEP:
            return tr("Say “{phrase}”", phrase=one_line(self._parts.wake_phrase))
        return tr(mood.value)

    @property
    def least_height(self) -> int:
        """Return the smallest height of the stage as a column, its first shape. None of its lines
        wraps.
        """
        return self._row.totalMinimumSize().height()

    def be_compact(self, on: bool) -> None:
        self.rate.be_compact(on)
        directions = QBoxLayout.Direction
        self._row.setDirection(directions.LeftToRight if on else directions.TopToBottom)
        self._row.setSpacing(18 if on else 14)
        middle = Qt.AlignmentFlag.AlignHCenter
        self._show.setAlignment(self.orb, middle if on else Qt.AlignmentFlag(0))
        self._row.setStretch(0, 0 if on else 1)
        self._row.setStretch(1, 1 if on else 0)
        if on:
            self.orb.setFixedSize(_SMALL_ORB, _SMALL_ORB)
            self._row.setContentsMargins(14, 8, 16, 8)
        else:
            self.orb.setMinimumSize(_LEAST_ORB, _LEAST_ORB)
            self.orb.setMaximumSize(340, 240)
            self._row.setContentsMargins(20, 14, 20, 14)
