"""The cards of all running timers, the one that rings next on top.

Invariant: the engine says which timers there are, and the wall clock how much time is left. Without
timers the panel is hidden and its clock stands still.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.overlay import OverlayBar
from app.look.theme import Theme
from app.timers.card import TimerCard
from engine.api import Event, TimerRang, TimersChanged, TimerSet

SHOWN = 3  # cards at once; more are scrolled to
_TICK_MS = 250  # so that no second is skipped on screen
_GAP = 6


class TimersPanel(QScrollArea):
    """Hidden while no timer runs. `clock`: seconds since 1970."""

    def __init__(
        self, post: Post, theme: Theme, parent: QWidget, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(parent)
        self._post = post
        self._theme = theme
        self._clock = clock
        self._shown = SHOWN
        self._cards: dict[int, TimerCard] = {}  # by the timer's number
        self._inside = QWidget(self)
        self._inside.setProperty("kind", "page")
        self._column = QVBoxLayout(self._inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(_GAP)
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self._count_down)
        self.setWidget(self._inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Timers"))
        OverlayBar(self)
        self.hide()

    @property
    def cards(self) -> tuple[TimerCard, ...]:
        """From top to bottom."""
        return tuple(sorted(self._cards.values(), key=lambda card: _order(card.timer)))

    def on_event(self, event: Event) -> None:
        match event:
            case TimersChanged(timers):
                self._show_timers(timers)
            case TimerRang(text):
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))
            case _:
                pass

    def _show_timers(self, timers: tuple[TimerSet, ...]) -> None:
        for number in self._cards.keys() - {timer.number for timer in timers}:
            gone = self._cards.pop(number)
            self._column.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        now = self._clock()
        for timer in timers:
            if timer.number not in self._cards:
                card = TimerCard(timer, self._post, self._theme, self._inside)
                self._cards[timer.number] = card
            self._cards[timer.number].show_timer(timer, now)
        for at, card in enumerate(self.cards):
            self._column.insertWidget(at, card)
            card.show()
        self._fit()
        self.setVisible(bool(timers))
        self._count_down()

    def be_low(self, on: bool) -> None:
        """In a low window one timer is shown; the others are scrolled to."""
        self._shown = 1 if on else SHOWN
        self._fit()

    def _fit(self) -> None:
        """Fit the height to the cards, or to the number of cards shown at once."""
        heights = [card.sizeHint().height() for card in self.cards[: self._shown]]
        self.setFixedHeight(sum(heights) + _GAP * max(0, len(heights) - 1))

    def _count_down(self) -> None:
        now = self._clock()
        for card in self._cards.values():
            card.show_left(now)
        runs = any(card.timer.paused_s is None for card in self._cards.values())
        if runs and self.isVisible():
            self._tick.start()
        else:
            self._tick.stop()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._count_down()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tick.stop()


def _order(timer: TimerSet) -> tuple[bool, float]:
    """The sort key: paused timers last."""
    return timer.paused_s is not None, timer.due
