"""The icon in the desktop's tray: shows the state of the assistant, and offers the actions that are
needed while the window is hidden.

Invariant: the menu has all actions, because not every desktop reports clicks. The icon is created
only when there is a tray, which may start long after the program. An icon that is created earlier
would stay invisible.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.language import tr
from app.look.controls import paint_icon
from app.presence.command_handler import CommandHandler
from app.presence.ipc_client import Order
from app.status.parts import Mood, Parts, mood
from engine import api
from engine.api import Phase

_LOOK_MS = 5000  # how often we look for a tray that is not there yet
_SIZES = (22, 32, 44, 64)  # device pixels


# Each is on a disc of its own colour, because panels are dark or light independently of the theme.
_REST, _FAINT, _WHITE = QColor("#4A5061"), QColor("#C9CEDA"), QColor("#FFFFFF")
_READY_FACE = ("waveform", _REST, _WHITE)
_FACES = {
    Mood.STARTING: ("waveform", _REST, _FAINT),
    Mood.ASLEEP: ("theme-dark", _REST, _FAINT),
    Mood.MUTED: ("microphone-off", _REST, _WHITE),
    Mood.LISTENING: ("microphone", QColor("#55C9B5"), QColor("#06231E")),
    Mood.THINKING: ("waveform", QColor("#A99EF4"), QColor("#1A1440")),
    Mood.SPEAKING: ("loudspeaker", QColor("#F2A66B"), QColor("#2A1606")),
}


class Tray(QObject):
    """The icon in the tray. `is_available`: there is a tray now. An event comes here after the
    window, which has updated the `parts`.

    Signals:
        came: the icon has appeared.
        quit_chosen: the person wants the program to end.
        settings_chosen: the person wants the settings.
    """

    came = Signal()
    quit_chosen = Signal()
    settings_chosen = Signal()

    def __init__(
        self,
        handler: CommandHandler,
        parts: Parts,
        *,
        is_available: Callable[[], bool] = QSystemTrayIcon.isSystemTrayAvailable,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._handler, self._parts = handler, parts
        self._is_available = is_available
        self._phase = Phase.IDLE
        self.mood = Mood.STARTING
        self.icon: QSystemTrayIcon | None = None  # None = no tray yet, or not wanted
        self.menu = QMenu()  # which only a widget could be the parent of
        self.destroyed.connect(self.menu.deleteLater)
        self._fill()
        self.menu.aboutToShow.connect(self._show_entries)
        self._looking = QTimer(self, interval=_LOOK_MS)
        self._looking.timeout.connect(self.look)

    @property
    def is_there(self) -> bool:
        """True if the person can see the icon; a tray may also disappear."""
        return self.icon is not None and self._is_available()

    def want(self, on: bool) -> None:
        """Show an icon as soon as there is a tray, or remove it."""
        if on and self.icon is None:
            self._looking.start()
            self.look()
        elif not on:
            self._looking.stop()
            if self.icon is not None:
                self.icon.hide()
                self.icon.deleteLater()
                self.icon = None

    def look(self) -> None:
        """Show the icon if there is a tray now."""
        if self.icon is not None or not self._is_available():
            return
        self._looking.stop()
        self.icon = QSystemTrayIcon(self)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._on_activated)
        self._show_mood()
        self.icon.show()
        self.came.emit()

    def on_event(self, event: api.Event) -> None:
        if isinstance(event, api.PhaseChanged):
            self._phase = event.phase
        now = mood(self._phase, self._parts)
        if now is not self.mood:
            self.mood = now
            self._show_mood()

    def _show_mood(self) -> None:
        if self.icon is not None:
            self.icon.setIcon(face(self.mood))
            self.icon.setToolTip(f"Rubato: {tr(self.mood.value)}")

    def _show_entries(self) -> None:
        self.hands_free.setChecked(self._parts.is_hands_free)
        self.talk.setText(tr("Done talking") if self._handler.is_talking else tr("Talk"))

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self._handler.show_or_hide()
        elif reason == QSystemTrayIcon.ActivationReason.MiddleClick:
            self._handler.do(Order.STOP)

    def _fill(self) -> None:
        self._offer(tr("Show the window"), Order.SHOW)
        self.menu.addSeparator()
        self.talk = self._offer(tr("Talk"), Order.TOGGLE)
        self._offer(tr("Stop the reply"), Order.STOP)
        self._offer(tr("Read the selection"), Order.SELECTION)
        self._offer(tr("Faster"), Order.FASTER)
        self._offer(tr("Slower"), Order.SLOWER)
        self.hands_free = self.menu.addAction(tr("Hands-free"))
        self.hands_free.setCheckable(True)
        self.hands_free.triggered.connect(self._on_hands_free)
        self.menu.addSeparator()
        self.menu.addAction(tr("Settings…")).triggered.connect(self.settings_chosen)
        self.menu.addAction(tr("Quit")).triggered.connect(self.quit_chosen)

    def _offer(self, words: str, order: Order) -> QAction:
        entry = self.menu.addAction(words)
        entry.triggered.connect(lambda: self._handler.do(order))
        return entry

    def _on_hands_free(self, on: bool) -> None:
        self._handler.post(api.ChangeSetting(api.SettingKey.HANDS_FREE, on))


def face(shown: Mood) -> QIcon:
    """Return the icon of a mood, in the sizes that panels need."""
    name, ground, ink = _FACES.get(shown, _READY_FACE)
    icon = QIcon()
    for size in _SIZES:
        image = QPixmap(size, size)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawEllipse(QPointF(size / 2, size / 2), size / 2 - 0.5, size / 2 - 0.5)
        inner = size * 0.66
        edge = (size - inner) / 2
        paint_icon(painter, name, ink, QRectF(edge, edge, inner, inner))
        painter.end()
        icon.addPixmap(image)
    return icon
