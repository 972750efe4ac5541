"""The slider for the speaking rate: 1.0 to 7.0 syllables per second in tenths (13.0 with
fast speech), and a separate position for the voice's own pace.

Invariant: `rate_changed` is emitted only for changes by the person, at most once per iteration of
the event loop, with the newest value.
"""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from app.language import decimal, tr
from app.look.label import announce
from app.look.theme import Theme, scaled
from engine.api import settings

# tenths of a syllable per second
LOWEST, HIGHEST = round(10 * settings.SLOWEST), round(10 * settings.FASTEST)
FAST_HIGHEST = round(10 * settings.FAST_LIMIT)
OWN_PACE = LOWEST - 1  # where Home goes
_PLAIN_PACE = 40  # where steps start before any speech was measured
_OWN_X = 20.0  # logical pixels: centre of the own-pace position
_FIRST_X = 62.0  # centre of 1.0
_MARGIN = 18.0
_KNOB = 10.0  # radius
_GROOVE_Y = 20.0
_Action = QAbstractSlider.SliderAction
_STEPS = {
    _Action.SliderSingleStepAdd.value: 1,
    _Action.SliderSingleStepSub.value: -1,
    _Action.SliderPageStepAdd.value: 10,
    _Action.SliderPageStepSub.value: -10,
}


class RateSlider(QAbstractSlider):
    """Keys: arrows 0.1, Page Up and Down 1.0, Home own pace, End the highest rate; wheel 0.1; click
    and drag.

    Signals:
        rate_changed(float | None): the person chose a rate in SPS, or None for own pace.
        shown_changed: the slider shows a different value, from the person or the engine.
    """

    rate_changed = Signal(object)
    shown_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._measured: float | None = None
        self._wheel_angle = 0
        self._pending = QTimer(self, singleShot=True, interval=0)
        self._pending.timeout.connect(lambda: self.rate_changed.emit(self.rate))
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(OWN_PACE, HIGHEST)
        self.setSingleStep(1)
        self.setPageStep(10)
        self.setValue(OWN_PACE)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Speaking rate"))
        self.setToolTip(tr("Arrow keys ±0.1, Page Up and Page Down ±1, Home: own pace"))
        self.actionTriggered.connect(self._on_action)
        self.valueChanged.connect(self._on_value)
        theme.changed.connect(self.update)
        self._describe()

    @property
    def rate(self) -> float | None:
        """Chosen rate in SPS; None = own pace."""
        return None if self.value() == OWN_PACE else self.value() / 10

    def show_rate(self, rate: float | None) -> None:
        """Show the rate that the engine reports, unless the person's change is not posted yet."""
        if self._pending.isActive():
            return
        tenths = OWN_PACE if rate is None else min(self.maximum(), max(LOWEST, round(rate * 10)))
        self.blockSignals(True)
        self.setValue(tenths)
        self.blockSignals(False)
        self._show()

    def be_fast(self, on: bool) -> None:
        """Offer the rates of fast speech, too, or no longer."""
        self.blockSignals(True)
        self.setMaximum(FAST_HIGHEST if on else HIGHEST)
        self.blockSignals(False)
        self._show()

    def show_measured(self, rate: float | None) -> None:
        """Mark the rate of the current speech, in SPS; None removes the mark."""
        self._measured = rate
        self.update()

    def step(self, tenths: int) -> None:
        """Change the rate by `tenths`. At own pace, start from the last measured rate."""
        self.setValue(self._stepped(tenths))

    def _stepped(self, tenths: int) -> int:
        start = self.value()
        if start == OWN_PACE:
            start = _PLAIN_PACE if self._measured is None else round(self._measured * 10)
        return min(self.maximum(), max(LOWEST, start + tenths))

    def _on_action(self, action: int) -> None:
        """Handle all of Qt's ways to move a slider, including screen readers."""
        if action in _STEPS:
            self.setSliderPosition(self._stepped(_STEPS[action]))

    def _on_value(self) -> None:
        self._show()
        self._pending.start()
        if self.hasFocus():  # a screen reader would read out tenths
            announce(self, self.accessibleDescription())

    def _show(self) -> None:
        self._describe()
        self.update()
        self.shown_changed.emit()

    def _describe(self) -> None:
        rate = self.rate
        words = tr("own pace")
        if rate is not None:
            words = tr("{rate} syllables per second", rate=decimal(rate, 1))
        self.setAccessibleDescription(words)

    # -------------------------------------------------------------------- input

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Right raise the rate, even where text runs from right to left."""
        steps = {
            Qt.Key.Key_Right: _Action.SliderSingleStepAdd,
            Qt.Key.Key_Up: _Action.SliderSingleStepAdd,
            Qt.Key.Key_Left: _Action.SliderSingleStepSub,
            Qt.Key.Key_Down: _Action.SliderSingleStepSub,
            Qt.Key.Key_PageUp: _Action.SliderPageStepAdd,
            Qt.Key.Key_PageDown: _Action.SliderPageStepSub,
        }
        action = steps.get(Qt.Key(event.key()))
        if action is None:
            super().keyPressEvent(event)
        else:
            self.triggerAction(action)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        self._wheel_angle += delta.y() or -delta.x()
        notches = int(self._wheel_angle / 120)  # touch pads send many small angles
        self._wheel_angle -= notches * 120
        if notches:
            self.step(notches)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self.setSliderDown(True)
        self._drag_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self._drag_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.setSliderDown(False)

    def _drag_to(self, x: float) -> None:
        share = (x - _FIRST_X) / max(1.0, self._x_of(self.maximum()) - _FIRST_X)
        tenths = min(self.maximum(), max(LOWEST, round(LOWEST + share * (self.maximum() - LOWEST))))
        self.setValue(OWN_PACE if x < (_OWN_X + _FIRST_X) / 2 else tenths)

    def _x_of(self, tenths: float) -> float:
        if tenths == OWN_PACE:
            return _OWN_X
        room = self.width() - _MARGIN - _FIRST_X
        return _FIRST_X + room * (tenths - LOWEST) / (self.maximum() - LOWEST)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        return super().event(event)

    # ----------------------------------------------------------------- painting

    def sizeHint(self) -> QSize:
        return QSize(280, int(_GROOVE_Y + 22 + QFontMetricsF(self._label_font()).height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def _label_font(self) -> QFont:
        return scaled(self.font(), 0.82, figures=True)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_groove(painter)
        self._paint_scale(painter)
        self._paint_measured(painter)
        self._paint_knob(painter)
        painter.end()

    def _paint_groove(self, painter: QPainter) -> None:
        theme = self._theme
        end = self._x_of(self.maximum())
        painter.setPen(QPen(theme.colour("control", 0.7), 4, c=Qt.PenCapStyle.RoundCap))
        painter.drawLine(QPointF(_FIRST_X, _GROOVE_Y), QPointF(end, _GROOVE_Y))
        painter.setPen(QPen(theme.colour("control"), 2))
        painter.drawEllipse(QPointF(_OWN_X, _GROOVE_Y), 5, 5)
        if self.value() != OWN_PACE:
            painter.setPen(QPen(theme.colour("accent"), 4, c=Qt.PenCapStyle.RoundCap))
            x = self._x_of(self.value())
            painter.drawLine(QPointF(_FIRST_X, _GROOVE_Y), QPointF(x, _GROOVE_Y))

    def _paint_scale(self, painter: QPainter) -> None:
        painter.setFont(self._label_font())
        top = _GROOVE_Y + 17
        height = self.height() - top
        every = 10 if self.maximum() <= HIGHEST else 20  # more have no room
        for tenths in range(LOWEST, self.maximum() + 1, every):
            chosen = self.value() == tenths
            painter.setPen(self._theme.colour("text" if chosen else "muted"))
            area = QRectF(self._x_of(tenths) - 16, top, 32, height)
            painter.drawText(area, Qt.AlignmentFlag.AlignHCenter, str(tenths // 10))
        chosen = self.value() == OWN_PACE
        painter.setPen(self._theme.colour("text" if chosen else "muted"))
        area = QRectF(0, top, _OWN_X * 2, height)
        painter.drawText(area, Qt.AlignmentFlag.AlignHCenter, tr("own"))

    def _paint_measured(self, painter: QPainter) -> None:
        """A small wedge above the groove at the measured rate."""
        if self._measured is None:
            return
        tenths = min(float(self.maximum()), max(float(LOWEST), self._measured * 10))
        x = self._x_of(tenths)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("listening"))
        y = _GROOVE_Y - _KNOB - 1
        painter.drawPolygon(
            QPolygonF([QPointF(x - 5, y - 7), QPointF(x + 5, y - 7), QPointF(x, y)])
        )

    def _paint_knob(self, painter: QPainter) -> None:
        theme = self._theme
        centre = QPointF(self._x_of(self.value()), _GROOVE_Y)
        painter.setPen(QPen(theme.colour("accent" if self.isEnabled() else "muted"), 2.4))
        painter.setBrush(theme.colour("accent" if self.isSliderDown() else "surface"))
        painter.drawEllipse(centre, _KNOB - 1.5, _KNOB - 1.5)
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("text"), 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(centre, _KNOB + 2.5, _KNOB + 2.5)


def words_a_minute(rate: float) -> str:
    """Return the words of English text a minute, in tens."""
    return f"{round(6 * settings.WORDS_PER_SYLLABLE * rate) * 10}"
