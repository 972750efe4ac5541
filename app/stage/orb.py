"""The orb: shows whether the assistant rests, listens, thinks, speaks or cannot work, and how loud
the speech is.

Invariant: the frame rate follows the need. It is zero while the orb is hidden and after a minute at
rest, five frames a second before that, and up to sixty during speech, or fewer if this machine
paints slowly. With reduced motion only the colour changes.
"""

import math
from dataclasses import dataclass
from time import perf_counter

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QHideEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPixmap,
    QRadialGradient,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.language import tr
from app.look.theme import Theme
from app.status.parts import Mood
from engine.api import Event, Levels

_QUIET_DB = -55.0
_LOUD_DB = -12.0
_STILL = 0.02  # energy; below it no movement is visible
_POINTS = 40  # corners of the blob's outline before smoothing
_REST_MS = 200
_BREATHES_S = 60.0  # at rest, before it stands still
_FRAME_MS = {Mood.LISTENING: 33, Mood.THINKING: 33, Mood.SPEAKING: 16}
_RESTLESS = {Mood.LISTENING: 0.20, Mood.THINKING: 0.45, Mood.SPEAKING: 0.35}
_AT_REST = 0.08  # how much the outline moves in silence, as above
_PAINT_SHARE = 4  # a frame lasts at least this many times as long as painting it took
_COLOUR = {
    Mood.LISTENING: "listening",
    Mood.THINKING: "thinking",
    Mood.STARTING: "control",
    Mood.NO_MICROPHONE: "control",
    Mood.MUTED: "control",
    Mood.ATTENTION: "danger",
}
_CALM = 0.45  # share of its glow and its outlines that is left at rest


@dataclass(frozen=True)
class _Layer:
    """One of the translucent outlines around the core."""

    radius: float  # of the orb's radius
    swing: float  # share of it that moves at full level
    waves: int
    speed: float  # radians per second
    opacity: float


_LAYERS = (
    _Layer(0.78, 0.17, 5, 1.9, 0.20),
    _Layer(0.70, 0.14, 4, -2.6, 0.32),
    _Layer(0.62, 0.09, 3, 3.3, 0.50),
)


class Orb(QWidget):
    """The painted orb. It shows a mood and the levels of the sound."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._mood = Mood.STARTING
        self._loudness = 0.0  # 0..1, the current level
        self._energy = 0.0  # 0..1, shown; it follows the loudness smoothly
        self._seconds = 0.0  # of animation so far
        self._rested_s = 0.0  # of it since anything happened
        self._paint_ms = 1.0
        self._glow = QPixmap()
        self._body = QPixmap()  # at rest
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(72, 72)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # else each frame paints the card
        theme.changed.connect(self._forget_pictures)
        theme.motion.changed.connect(self._pace)
        self.setAccessibleName(tr("Assistant"))
        self.show_mood(Mood.STARTING)

    def sizeHint(self) -> QSize:
        return QSize(120, 104)  # takes the space that is left over

    def on_event(self, event: Event) -> None:
        if isinstance(event, Levels):
            speaking = self._mood is Mood.SPEAKING
            level_db = event.loudspeaker_db if speaking else event.microphone_db
            self._loudness = 0.0 if self._mood.rests else _loudness(level_db)

    def show_mood(self, mood: Mood) -> None:
        self._mood = mood
        self._loudness = 0.0
        self._rested_s = 0.0
        self.setAccessibleDescription(tr(mood.value))
        self._forget_pictures()
        self._pace()

    def _pace(self) -> None:
        """Start or stop the animation, or change its frame rate, according to its visibility."""
        rested = self._is_resting and self._rested_s >= _BREATHES_S
        if rested or not self.isVisible() or self._theme.motion.is_still:
            self._timer.stop()
            return
        frame_ms = _FRAME_MS.get(self._mood, _REST_MS)
        self._timer.start(max(frame_ms, int(_PAINT_SHARE * self._paint_ms)))

    def _on_tick(self) -> None:
        passed_s = self._timer.interval() / 1000
        self._seconds += passed_s
        self._rested_s += passed_s
        # rises at once and falls slowly, as people expect of a level
        share = 0.5 if self._loudness > self._energy else 0.14
        self._energy += (self._loudness - self._energy) * share
        self._pace()
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._pace()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._forget_pictures()

    # ----------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        started = perf_counter()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = self.rect().adjusted(-1, -1, 1, 1)  # scaled by 1.5 it ends within a pixel
        painter.fillRect(ground, self._theme.colour("surface"))
        centre = QRectF(self.rect()).center()
        radius = min(self.width(), self.height()) / 2
        self._paint_glow(painter, centre, radius)
        if self._is_resting:
            self._paint_rest(painter, centre, radius)
        else:
            self._paint_body(painter, centre, radius)
        painter.end()
        self._paint_ms += 0.1 * ((perf_counter() - started) * 1000 - self._paint_ms)

    @property
    def _is_resting(self) -> bool:
        return self._mood.rests and self._energy < _STILL

    def _paint_body(self, painter: QPainter, centre: QPointF, radius: float) -> None:
        for layer in _LAYERS:
            self._paint_layer(painter, layer, centre, radius)
        self._paint_core(painter, centre, radius)

    def _paint_rest(self, painter: QPainter, centre: QPointF, radius: float) -> None:
        """At rest the body is a still picture and only the glow pulses."""
        if self._body.isNull():
            self._body = self._make_picture(radius)
            painting = QPainter(self._body)
            painting.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_body(painting, QPointF(radius, radius), radius)
            painting.end()
        painter.drawPixmap(centre - QPointF(radius, radius), self._body)

    def _make_picture(self, radius: float) -> QPixmap:
        ratio = self.devicePixelRatioF()
        side = max(1, int(radius * 2 * ratio))
        picture = QPixmap(side, side)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        return picture

    def _paint_glow(self, painter: QPainter, centre: QPointF, radius: float) -> None:
        if self._glow.isNull():
            self._glow = self._make_glow(radius)
        breath = 0.5 + 0.5 * math.sin(self._seconds * 1.1)
        calm = _CALM if self._mood.rests else 1.0
        painter.setOpacity(min(1.0, calm * (0.45 + 0.25 * breath) + 0.4 * self._energy))
        painter.drawPixmap(centre - QPointF(radius, radius), self._glow)
        painter.setOpacity(1.0)

    def _paint_layer(
        self, painter: QPainter, layer: _Layer, centre: QPointF, radius: float
    ) -> None:
        colour = self._colour()
        colour.setAlphaF(layer.opacity * (_CALM if self._mood.rests else 1.0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        swing = layer.swing * (self._energy + _RESTLESS.get(self._mood, _AT_REST))
        turn = self._seconds * layer.speed * (0.35 if self._mood.rests else 1.0)
        painter.drawPath(_blob(centre, radius * layer.radius, swing, layer.waves, turn))

    def _paint_core(self, painter: QPainter, centre: QPointF, radius: float) -> None:
        core = radius * (0.54 + 0.05 * self._energy)
        colour = self._colour()
        gradient = QRadialGradient(centre - QPointF(core * 0.32, core * 0.42), core * 1.5)
        gradient.setColorAt(0.0, _mixed(colour, QColor("#FFFFFF"), 0.62))
        gradient.setColorAt(0.42, _mixed(colour, QColor("#FFFFFF"), 0.08))
        gradient.setColorAt(1.0, _mixed(colour, QColor("#000000"), 0.34))
        painter.setBrush(gradient)
        painter.drawEllipse(centre, core, core)

    def _colour(self) -> QColor:
        """Return the mood's colour for the glow. The light palette's colours are too strong for
        that, because they are for text.
        """
        colour = self._theme.colour(_COLOUR.get(self._mood, "accent"))
        return colour if self._theme.is_dark else colour.lighter(135)

    def _make_glow(self, radius: float) -> QPixmap:
        """Render the glow once for size, mood and theme: a large gradient is slow to paint."""
        glow = self._make_picture(radius)
        colour = self._colour()
        gradient = QRadialGradient(QPointF(radius, radius), radius)
        for position, alpha in ((0.0, 0.55), (0.55, 0.40), (0.8, 0.12), (1.0, 0.0)):
            colour.setAlphaF(alpha)
            gradient.setColorAt(position, colour)
        painter = QPainter(glow)
        painter.fillRect(QRectF(0, 0, radius * 2, radius * 2), gradient)
        painter.end()
        return glow

    def _forget_pictures(self) -> None:
        self._glow = QPixmap()
        self._body = QPixmap()
        self.update()


def _loudness(level_db: float) -> float:
    return min(1.0, max(0.0, (level_db - _QUIET_DB) / (_LOUD_DB - _QUIET_DB)))


def _blob(centre: QPointF, radius: float, swing: float, waves: int, turn: float) -> QPainterPath:
    """Return a closed smooth outline: a circle with two travelling waves on its edge."""
    points = []
    for number in range(_POINTS):
        angle = 2 * math.pi * number / _POINTS
        wave = 0.6 * math.sin(waves * angle + turn) + 0.4 * math.sin(2 * angle - 0.7 * turn)
        reach = radius * (1 + swing * wave)
        points.append(
            QPointF(centre.x() + reach * math.cos(angle), centre.y() + reach * math.sin(angle))
        )
    path = QPainterPath((points[-1] + points[0]) / 2)
    for number, point in enumerate(points):
        path.quadTo(point, (point + points[(number + 1) % _POINTS]) / 2)
    path.closeSubpath()
    return path


def _mixed(colour: QColor, other: QColor, share: float) -> QColor:
    keep = 1.0 - share
    return QColor.fromRgbF(
        colour.redF() * keep + other.redF() * share,
        colour.greenF() * keep + other.greenF() * share,
        colour.blueF() * keep + other.blueF() * share,
    )
