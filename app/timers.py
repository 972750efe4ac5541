"""The timers, a card for each with its title, its time left and its buttons; those that have rung
come first, then the next one to ring.

Invariant: the engine knows the timers, and the wall clock the time left; a card only posts
requests. Without timers the panel is hidden and its clock stands still.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QDate, QDateTime, QLocale, QSize, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from app.bridge import Post
from app.language import tr, tr_n
from app.look.controls import IconButton, button, pixmap
from app.look.label import FoldingLabel, Label, announce
from app.look.layout import Scrolled, column, page_in, row, wide
from app.look.page import take_away
from app.look.plain_text import one_line, tool_tip
from app.look.theme import Theme
from engine import api

SHOWN = 3  # cards at once; more are scrolled to
_TICK_MS = 250  # so that no second is skipped on screen
_GAP = 6
MINUTE_S = 60.0
_DAY_S = 86400
_ICON = QSize(20, 20)


class TimerCard(QFrame):
    """One line; `show_left` is called as time passes."""

    def __init__(self, timer: api.TimerSet, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._post = post
        self.timer = timer
        self.setProperty("kind", "card")
        self.icon = Label("", self)
        self.title = FoldingLabel("", self, strong=True)
        self.title.be_one_line(True)
        self.detail = Label("", self, kind="muted", size=0.9, figures=True)
        self.left = Label("", self, size=1.15, strong=True, figures=True)
        which = (timer.number,)
        self.more = button(tr("+1 min"), self, kind="line", by_tab=True)
        self.more.clicked.connect(lambda: post(api.ExtendTimers(which, MINUTE_S)))
        self.pause = IconButton("pause", tr("Pause"), theme, self)
        self.pause.clicked.connect(
            lambda: post(api.PauseTimers(which, on=self.timer.paused_s is None))
        )
        self.cancel = IconButton("close", tr("Cancel"), theme, self)
        self.cancel.clicked.connect(lambda: post(api.CancelTimers(which)))
        self.snooze = button(tr("Snooze"), self, kind="line", by_tab=True)
        self.snooze.clicked.connect(lambda: post(api.ExtendTimers(which, api.SNOOZE_S)))
        self.dismiss = button(tr("Dismiss"), self, kind="primary", by_tab=True)
        self.dismiss.clicked.connect(lambda: post(api.CancelTimers(which)))
        labels = (self.icon, wide(self.title), self.detail, self.left)
        buttons = (self.more, self.pause, self.cancel, self.snooze, self.dismiss)
        row(*labels, *buttons, on=self, margins=(14, 3, 6, 3), spacing=8)
        theme.changed.connect(self._tint)
        self._tint()

    def show_timer(self, timer: api.TimerSet, now: float) -> None:
        """Show the timer's new state; `now` is seconds since 1970."""
        self.timer = timer
        name, paused = name_of(timer), timer.paused_s is not None
        self.title.setText(title_of(timer))
        self.title.setToolTip(tool_tip(title_of(timer)))
        self.detail.setText(detail_of(timer))
        self.detail.setVisible(bool(detail_of(timer)))
        self.setAccessibleName(name)
        self.more.setAccessibleName(tr("One minute more: {name}", name=name))
        rang = timer.rang_at is not None
        self.snooze.setAccessibleName(tr("Snooze: {name}", name=name))
        self.dismiss.setAccessibleName(tr("Dismiss: {name}", name=name))
        parts: dict[QWidget, bool] = {self.snooze: rang, self.dismiss: rang}
        for part, shown in (parts | {self.left: not rang, self.cancel: not rang}).items():
            part.setVisible(shown)
        counts = timer.kind is api.TimerKind.TIMER and not rang
        self.more.setVisible(counts)
        self.pause.setVisible(counts)
        if paused:
            _show(self.pause, "resume", tr("Go on: {name}", name=name))
        else:
            _show(self.pause, "pause", tr("Pause: {name}", name=name))
        _show(self.cancel, "close", tr("Cancel: {name}", name=name))
        self._tint()
        self.show_left(now)

    def show_left(self, now: float) -> None:
        shown = time_left(self.timer.left_s(now))
        if shown != self.left.text():
            self.left.setText(shown)
            self.left.setAccessibleName(tr("{time} left", time=shown))

    def _tint(self) -> None:
        name = "timer" if self.timer.kind is api.TimerKind.TIMER else "alarm"
        accent = self._theme.colour("accent")
        self.icon.setPixmap(pixmap(name, accent, _ICON.width(), self.devicePixelRatioF()))


def _show(button: IconButton, icon: str, label: str) -> None:
    """The label contains a person's words, which a tool tip must not interpret as markup."""
    button.show_as(icon, label)
    button.setToolTip(tool_tip(label))


def title_of(timer: api.TimerSet) -> str:
    """ "Pasta", "Timer", "Alarm", "Call your mother"."""
    label = one_line(timer.label)
    if timer.kind is api.TimerKind.ALARM:
        return tr("Alarm")
    return f"{label[:1].upper()}{label[1:]}" if label else tr("Timer")


def name_of(timer: api.TimerSet) -> str:
    """The same for a screen reader, with the kind of timer."""
    if timer.kind is api.TimerKind.ALARM:
        return tr("Alarm, {time}", time=when(timer.due))
    if timer.kind is api.TimerKind.REMINDER:
        return tr("Reminder: {task}", task=title_of(timer))
    return tr("{name} timer", name=title_of(timer)) if timer.label else tr("Timer")


def time_left(seconds: float) -> str:
    """ "4:10", "1:02:05", "2 days 3:00:00": rounded up, so that 0:00 is the end."""
    whole = -int(-seconds // 1)
    days, rest = divmod(whole, _DAY_S)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    face = f"{hours}:{minutes:02d}:{rest:02d}" if hours or days else f"{minutes}:{rest:02d}"
    return f"{tr_n('{count} day', '{count} days', days)} {face}" if days else face


def when(due: float) -> str:
    """The time of day, with the day unless it is today, in the format of the current language."""
    moment, locale = QDateTime.fromSecsSinceEpoch(int(due)), QLocale()
    face = locale.toString(moment.time(), QLocale.FormatType.ShortFormat)
    today = moment.date() == QDate.currentDate()
    return face if today else f"{locale.toString(moment.date(), 'ddd')} {face}"


def detail_of(timer: api.TimerSet) -> str:
    """Further details: that it is paused, or when it rings or rang."""
    if timer.rang_at is not None:
        return tr("since {time}", time=when(timer.due))
    if timer.paused_s is not None:
        return tr("paused")
    if timer.kind is api.TimerKind.TIMER:
        return ""
    return when(timer.due)


class TimersPanel(Scrolled):
    """Hidden without timers. `clock`: seconds since 1970."""

    def __init__(
        self, post: Post, theme: Theme, parent: QWidget, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._inside = page_in()
        super().__init__(self._inside, parent)
        self._post = post
        self._theme = theme
        self._clock = clock
        self._shown = SHOWN
        self._cards: dict[int, TimerCard] = {}  # by the timer's number
        self._column = column(on=self._inside, spacing=_GAP)
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(self._count_down)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Timers"))
        self.hide()

    @property
    def cards(self) -> tuple[TimerCard, ...]:
        """From top to bottom."""
        return tuple(sorted(self._cards.values(), key=lambda card: _order(card.timer)))

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.TimersChanged(timers):
                self._show_timers(timers)
            case api.TimerRang(text):
                announce(self, text)

    def _show_timers(self, timers: tuple[api.TimerSet, ...]) -> None:
        for number in self._cards.keys() - {timer.number for timer in timers}:
            take_away(self._cards.pop(number), self._column)
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

    def snooze(self) -> None:
        """Let all that have rung ring again later."""
        rang = tuple(
            number for number, card in self._cards.items() if card.timer.rang_at is not None
        )
        if rang:
            self._post(api.ExtendTimers(rang, api.SNOOZE_S))

    def be_low(self, on: bool) -> None:
        """Show one timer in a low window; the others are reached by scrolling."""
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
        timers = [card.timer for card in self._cards.values()]
        runs = any(timer.paused_s is None and timer.rang_at is None for timer in timers)
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


def _order(timer: api.TimerSet) -> tuple[bool, bool, float]:
    """The sort key: those that have rung first, paused timers last."""
    return timer.rang_at is None, timer.paused_s is not None, timer.due
