"""An on/off switch that looks like one.

Invariant: it is a check box to Qt and to screen readers; only its looks are ours.
"""

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QWidget

from app.look.theme import Theme

_TRACK = QSize(36, 20)


class Switch(QCheckBox):
    """A labelled switch; only Tab gives it the focus, so that the talk key still works."""

    def __init__(self, label: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(label, parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(self.font())
        gap = 10 if self.text() else 0
        width = _TRACK.width() + gap + metrics.horizontalAdvance(self._shown_text()) + 8
        return QSize(int(width), max(32, int(metrics.height()) + 8))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, position: QPoint) -> bool:
        """The whole widget, label included."""
        return self.rect().contains(position)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        top = (self.height() - _TRACK.height()) / 2
        track = QRectF(3, top, _TRACK.width(), _TRACK.height())
        radius = track.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("accent" if self.isChecked() else "control"))
        painter.drawRoundedRect(track, radius, radius)
        painter.setBrush(theme.colour("on_accent" if self.isChecked() else "window"))
        left = track.right() - radius * 2 + 3 if self.isChecked() else track.left() + 3
        painter.drawEllipse(QRectF(left, track.top() + 3, radius * 2 - 6, radius * 2 - 6))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("text"), 1.6))
            painter.drawRoundedRect(track.adjusted(-2, -2, 2, 2), radius + 2, radius + 2)
        painter.setPen(theme.colour("text"))
        painter.setFont(self.font())
        area = QRectF(track.right() + 9, 0, self.width() - track.right() - 9, self.height())
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self._shown_text())
        painter.end()

    def _shown_text(self) -> str:
        return self.text().replace("&", "")
