"""A bar that shows how loud something is, so that one sees at a glance that the microphone works.

Invariant: its accessible value is what it shows, in per cent of the scale.
"""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.theme import Theme

QUIET_DB, LOUD_DB = -60.0, -6.0  # the ends of the bar, dB full scale
_FALL = 0.06  # of the bar, at most, for each level; about 20 levels come in a second
_HEIGHT = 10


class LevelMeter(QWidget):
    """Rises at once and falls slowly, so that a single word is visible."""

    def __init__(self, name: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self.fraction = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_level(QUIET_DB)
        theme.changed.connect(self.update)

    def show_level(self, level_db: float) -> None:
        """Show a level in dB full scale."""
        heard = (level_db - QUIET_DB) / (LOUD_DB - QUIET_DB)
        self.fraction = min(1.0, max(heard, self.fraction - _FALL, 0.0))
        self.setAccessibleName(f"{self._name}: {self.fraction:.0%}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        track = QRectF(0, (self.height() - _HEIGHT) / 2, self.width(), _HEIGHT)
        painter.setBrush(self._theme.colour("raised"))
        painter.drawRoundedRect(track, _HEIGHT / 2, _HEIGHT / 2)
        if self.fraction > 0:
            track.setWidth(max(_HEIGHT, track.width() * self.fraction))
            painter.setBrush(self._theme.colour("listening"))
            painter.drawRoundedRect(track, _HEIGHT / 2, _HEIGHT / 2)
        painter.end()
