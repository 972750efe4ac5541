"""Bars: how loud something is, and how far it is."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from app.look.theme import Theme

QUIET_DB, LOUD_DB = -60.0, -6.0  # the ends of the bar, dB full scale
_FALL = 0.06  # of the bar, at most, for each level; about 20 levels come in a second
_HEIGHT = 10
_STEPS = 1000  # of a progress bar


class LevelMeter(QWidget):
    """Shows at a glance that the microphone works. Rises at once and falls slowly, so that a single
    word is visible. Invariant: its accessible value is what it shows, in per cent of the scale.
    """

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


class Progress(QProgressBar):
    """How far something is, or only that it runs, as a thin line. Without animations it never moves
    back and forth; the text beside it says that something is running.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._motion = theme.motion
        self._share: float | None = 0.0  # None = the progress is not known
        self.setTextVisible(False)
        theme.motion.changed.connect(self._show)

    def show_share(self, share: float | None) -> None:
        """`share` is 0..1; None if it is not known."""
        self._share = share
        self._show()

    def _show(self) -> None:
        runs = self._share is None and not self._motion.is_still
        self.setRange(0, 0 if runs else _STEPS)
        self.setValue(round((self._share or 0.0) * _STEPS))
