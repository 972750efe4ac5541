"""The stage: the orb, a word for the state of the assistant, and the speaking rate: its slider, the
readout of target and measured rate, and their trace.

Invariant: the same widgets are in a column in a wide window and in a row in a narrow one. Every
change of the rate by the person is posted at once, and none that the engine reports. The slider
keeps its place, however long the readout is.
"""

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QWidget

from app.bridge import Post
from app.language import decimal, tr
from app.look.label import FoldingLabel, Label
from app.look.layout import Spring, column, row, wide
from app.look.plain_text import one_line, tool_tip
from app.look.theme import Theme, scaled
from app.stage.orb import Orb
from app.stage.slider import RateSlider, words_a_minute
from app.status.parts import Mood, Parts, mood
from engine import api
from engine.api import Event, Phase, PhaseChanged, PreviewChanged, PreviewState


class RatePanel(QWidget):
    """The slider, the readout and the trace of the speaking rate."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._measured: float | None = None
        self.slider = RateSlider(theme, self)
        self.trace = RateTrace(theme, self)
        self.heading = Label(tr("Speaking rate"), self, strong=True)
        self.heading.setBuddy(self.slider)
        self.readout = FoldingLabel("", self, kind="muted", size=0.92, figures=True)
        self.readout.be_one_line(True)
        self.unit = Label(tr("syllables per second"), self, kind="muted", size=0.82)
        self.unit.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._top = row(self.heading, wide(self.readout))
        column(self._top, self.slider, self.unit, self.trace, on=self, spacing=6)
        self.slider.rate_changed.connect(
            lambda rate: post(api.ChangeSetting(api.SettingKey.RATE, rate))
        )
        self.slider.shown_changed.connect(self._show_readout)
        self.be_compact(False)
        self._show_readout()

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.RateMeasured(_, target, measured, over):
                self._measured = measured
                self.slider.show_measured(measured)
                if measured is not None and not over:
                    self.trace.add(target, measured)
                self._show_readout()
            case api.SettingChanged(api.SettingKey.RATE, value):
                self.slider.show_rate(value if isinstance(value, int | float) else None)
            case api.SettingChanged(api.SettingKey.FAST, value):
                self.be_fast(bool(value))
            case api.VoicesChanged(has_rate=has_rate):
                self.slider.setEnabled(has_rate)
                self._show_readout()
            case api.PhaseChanged(_, api.Phase.THINKING):
                self._measured = None  # the last reply's rate says nothing about the next
                self._show_readout()

    def be_fast(self, on: bool) -> None:
        """Offer the rates of fast speech, too, or no longer."""
        self.slider.be_fast(on)
        self.trace.be_fast(on)

    def be_compact(self, on: bool) -> None:
        """In a narrow window, hide trace and unit to make room for the conversation."""
        for widget in (self.trace, self.unit):
            widget.setVisible(not on)
        directions, sides = QBoxLayout.Direction, Qt.AlignmentFlag
        self.readout.setAlignment(
            (sides.AlignLeft if on else sides.AlignRight) | sides.AlignVCenter
        )
        self._top.setSpacing(1 if on else 6)
        self._top.setDirection(directions.TopToBottom if on else directions.LeftToRight)

    def _show_readout(self) -> None:
        rate = self.slider.rate
        unit = tr("syllables per second")
        if rate is not None:
            per_minute = tr("about {words} words a minute", words=words_a_minute(rate))
            unit = f"{unit} · {per_minute}"
        self.unit.setText(unit)
        if not self.slider.isEnabled():
            words = tr("This voice has no rate to be set: it keeps its own pace")
            self.readout.setText(words)
            self.readout.setToolTip(tool_tip(words))
            return
        target = tr("own pace") if rate is None else tr("target {rate}", rate=decimal(rate, 1))
        if self._measured is not None:
            target += tr(" · measured {measured}", measured=decimal(self._measured, 1))
        self.readout.setText(target)
        self.readout.setToolTip(tool_tip(target + "\n" + tr("In syllables per second")))


WINDOW_S = 20.0
_PAUSE_S = 0.6  # measurements further apart than this belong to different stretches of speech
_LOWEST, _BEYOND = 0.5, 0.5  # SPS at the lower edge of the picture, and above the highest rate


_LINES, _FAST_LINES = (1, 4, 7), (1, 5, 9, 13)  # SPS


class _Sample(NamedTuple):
    at_s: float
    target: float | None  # None = own pace
    measured: float


class RateTrace(QWidget):
    """Target rate and measured rate over the last twenty seconds of speech. It is empty before the
    first speech, does not move between replies, and repaints only at a new measurement. `clock`
    returns seconds; tests replace it.
    """

    def __init__(
        self, theme: Theme, parent: QWidget, *, clock: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.clock = clock
        self._offset_s = 0.0  # time without speech
        self._last_s: float | None = None
        self.samples: deque[_Sample] = deque()  # rates in SPS, oldest first
        self._lines: tuple[int, ...] = _LINES
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Rate over the last 20 seconds of speech"))
        self.setToolTip(tr("The last 20 seconds of speech: line measured, dashes target"))
        theme.changed.connect(self.update)

    def be_fast(self, on: bool) -> None:
        """Show the rates of fast speech, too, or no longer."""
        self._lines = _FAST_LINES if on else _LINES
        self.update()

    def add(self, target: float | None, measured: float) -> None:
        """Append a measurement of this moment."""
        now = self.clock()
        if self._last_s is not None and now - self._last_s > _PAUSE_S:
            self._offset_s += now - self._last_s - _PAUSE_S
        self._last_s = now
        at_s = now - self._offset_s
        self.samples.append(_Sample(at_s, target, measured))
        while self.samples[0].at_s < at_s - WINDOW_S:
            self.samples.popleft()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(280, 46)

    def paintEvent(self, event: QPaintEvent) -> None:
        if len(self.samples) < 2:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(scaled(self.font(), 0.72))
        height = QFontMetricsF(painter.font()).height()
        area = QRectF(self.rect()).adjusted(14, height / 2, -2, -height / 2)
        for rate in self._lines:
            y = self._y(float(rate), area)
            painter.setPen(self._theme.colour("muted"))
            number = QRectF(0, y - height / 2, 12, height)
            painter.drawText(number, Qt.AlignmentFlag.AlignCenter, str(rate))
            painter.setPen(QPen(self._theme.colour("outline"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        self._paint_lines(painter, area)
        painter.end()

    def _paint_lines(self, painter: QPainter, area: QRectF) -> None:
        targets = [(each.at_s, each.target) for each in self.samples]
        measured = [(each.at_s, each.measured) for each in self.samples]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.colour("accent", 0.75), 1.5, Qt.PenStyle.DashLine))
        painter.drawPath(self._line(targets, area))
        pen = QPen(self._theme.colour("listening"), 2)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawPath(self._line(measured, area))

    def _line(self, points: Sequence[tuple[float, float | None]], area: QRectF) -> QPainterPath:
        newest = self.samples[-1].at_s
        path = QPainterPath()
        is_down = False
        for at_s, rate in points:
            if rate is None:
                is_down = False
                continue
            x = area.right() - (newest - at_s) / WINDOW_S * area.width()
            point = QPointF(x, self._y(rate, area))
            path.lineTo(point) if is_down else path.moveTo(point)
            is_down = True
        return path

    def _y(self, rate: float, area: QRectF) -> float:
        highest = self._lines[-1] + _BEYOND
        share = (min(highest, max(_LOWEST, rate)) - _LOWEST) / (highest - _LOWEST)
        return area.bottom() - share * area.height()


_SMALL_ORB = 84
_LEAST_ORB = 104


class Stage(QFrame):
    """The card with the orb, the word for the mood, and the rate."""

    def __init__(self, post: Post, parts: Parts, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts = parts
        self.now = Phase.IDLE  # the phase of the turn; idle between turns
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
                self.now = phase
        self.show_mood()
        self.rate.on_event(event)

    def show_mood(self) -> None:
        """Show the mood in the orb and in words."""
        phase = self.now
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
        """Return the smallest height of the stage as a column; none of its lines wraps."""
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
