"""Notifications for what matters while the window is hidden: a timer, a lost microphone, a fetched
model. Never for a reply.

Invariant: a notification is plain text, whatever a timer is called; a click on it shows the window.
"""

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.language.words import tr
from app.look.plain_text import one_line
from app.presence.bus import Address, Bus, is_error
from app.presence.desktop_entry import APP_ID

if TYPE_CHECKING:
    from jeepney import Message

SERVICE = Address(
    "/org/freedesktop/Notifications",
    "org.freedesktop.Notifications",
    "org.freedesktop.Notifications",
)
_LONGEST = 300  # characters; servers cut off longer texts anyway
_DEFAULT_TIME = -1  # the desktop decides how long

Show = Callable[[str, str], None]


class Notifications(QObject):
    """Uses the desktop's service, or else `fall_back` (the tray's balloon).

    Signals:
        clicked: the person wants to see more.
    """

    clicked = Signal()

    def __init__(self, bus: Bus, fall_back: Show, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bus = bus
        self._fall_back = fall_back
        self._shown: set[int] = set()
        bus.watch(SERVICE.service, SERVICE.interface, "ActionInvoked", self._on_action)
        bus.watch(SERVICE.service, SERVICE.interface, "NotificationClosed", self._on_end)

    def tell(self, title: str, text: str) -> None:
        """Show it; never waits."""
        title, text = one_line(title)[:_LONGEST], one_line(text)[:_LONGEST]
        if not self._bus.is_connected:
            self._fall_back(title, text)
            return

        def answered(message: "Message") -> None:
            if is_error(message):
                self._fall_back(title, text)
            else:
                self._shown.add(message.body[0])

        hints = {"desktop-entry": ("s", APP_ID)}
        # servers may interpret markup in the text, never in the title
        body = ("Rubato", 0, APP_ID, title, escape(text, quote=False))
        rest = (["default", tr("Show")], hints, _DEFAULT_TIME)
        self._bus.call(SERVICE, "Notify", "susssasa{sv}i", (*body, *rest), answered)

    def _on_action(self, message: "Message") -> None:
        if message.body[0] in self._shown:
            self.clicked.emit()

    def _on_end(self, message: "Message") -> None:
        self._shown.discard(message.body[0])
