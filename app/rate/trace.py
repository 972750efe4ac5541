"""The last twenty seconds of speech: the target rate and the measured rate.

Invariant: it repaints only when a measurement arrives, so silence costs nothing. Its time is that
of the speech, so it stands still between replies.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.language.words import tr
from app.look.theme import Theme

WINDOW_S = 20.0
_PAUSE_S = 0.6  # measurements further apart than this belong to different stretches of speech
_LOWEST, _HIGHEST = 0.5, 7.5  # SPS at the edges of the picture


@dataclass(frozen=True)
class _Sample:
    at_s: float
    target: float | None  # None = own pace
    measured: float


class RateTrace(QWidget):
    """Two lines; `clock` gives seconds and exists for tests."""

    def __init__(
        self, theme: Theme, parent: QWidget, *, clock: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.clock = clock
        self._offset_s = 0.0  # time without speech
        self._last_s: float | None = None
        self._samples: deque[_Sample] = deque()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Rate over the last 20 seconds of speech"))
        self.setToolTip(tr("The last 20 seconds of speech: line measured, dashes target"))
        theme.changed.connect(self.update)

    @property
    def samples(self) -> list[tuple[float, float | None, float]]:
        """(seconds, target, measured) in SPS, oldest first, for tests and screen readers."""
        return [(each.at_s, each.target, each.measured) for each in self._samples]

    def add(self, target: float | None, measured: float) -> None:
        """Append a measurement that was made now."""
        now = self.clock()
        if self._last_s is not None and now - self._last_s > _PAUSE_S:
            self._offset_s += now - self._last_s - _PAUSE_S
        self._last_s = now
        at_s = now - self._offset_s
        self._samples.append(_Sample(at_s, target, measured))
        while self._samples[0].at_s < at_s - WINDOW_S:
            self._samples.popleft()
        self.update()

    def clear(self) -> None:
        self._samples.clear()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(280, 38)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(2, 3, -2, -3)
        painter.setPen(QPen(self._theme.colour("outline"), 1))
        for rate in (1, 4, 7):
            y = self._y(float(rate), area)
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        if len(self._samples) > 1:
            self._paint_lines(painter, area)
        painter.end()

    def _paint_lines(self, painter: QPainter, area: QRectF) -> None:
        targets = [(each.at_s, each.target) for each in self._samples]
        measured = [(each.at_s, each.measured) for each in self._samples]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.colour("accent", 0.75), 1.5, Qt.PenStyle.DashLine))
        painter.drawPath(self._line(targets, area))
        pen = QPen(self._theme.colour("listening"), 2)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawPath(self._line(measured, area))

    def _line(self, points: Sequence[tuple[float, float | None]], area: QRectF) -> QPainterPath:
        newest = self._samples[-1].at_s
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
        share = (min(_HIGHEST, max(_LOWEST, rate)) - _LOWEST) / (_HIGHEST - _LOWEST)
        return area.bottom() - share * area.height()
