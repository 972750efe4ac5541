"""Notifications of important events while the window is hidden, and the desktop's setting against
animations, which Qt does not report yet.

The events are a timer, a lost microphone and a fetched model, never a reply. Invariant: a
notification is plain text, whatever a timer is called, and a click on it shows the window. The
notification of a timer has buttons, where the desktop supports them, and closes when the timer is
dismissed.
"""

import ctypes
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from jeepney import Message
from PySide6.QtCore import QObject, Signal

from app.desktop_entry import APP_ID
from app.language import tr
from app.look.plain_text import one_line
from app.presence.bus import Address, Bus, is_error
from app.presence.keys.portal import PATH, PORTAL

SERVICE = Address(
    "/org/freedesktop/Notifications",
    "org.freedesktop.Notifications",
    "org.freedesktop.Notifications",
)
_LONGEST = 300  # characters; servers cut off longer texts anyway
_DEFAULT_TIME = -1  # the desktop decides how long
_CRITICAL = 2  # of urgency: it stays until it is closed

Show = Callable[[str, str], None]


@dataclass(frozen=True)
class Buttons:
    """The buttons of a notification: label -> action, and the timer that they act on."""

    timer: int | None = None
    acts: Mapping[str, Callable[[], None]] = field(default_factory=dict)


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
        self._shown: dict[int, Buttons] = {}  # by the desktop's number
        bus.watch(SERVICE.service, SERVICE.interface, "ActionInvoked", self._on_action)
        bus.watch(SERVICE.service, SERVICE.interface, "NotificationClosed", self._on_end)

    def show(self, title: str, text: str, buttons: Buttons | None = None) -> None:
        """Show a notification, without waiting for the desktop."""
        shown = buttons or Buttons()
        title, text = one_line(title)[:_LONGEST], one_line(text)[:_LONGEST]
        if not self._bus.is_connected:
            self._fall_back(title, text)
            return

        def answered(message: Message) -> None:
            if is_error(message):
                self._fall_back(title, text)
            else:
                self._shown[message.body[0]] = shown

        hints: dict[str, tuple[str, str | int]] = {"desktop-entry": ("s", APP_ID)}
        if shown.acts:
            hints["urgency"] = ("y", _CRITICAL)
        actions = [text for label in shown.acts for text in (label, label)]
        # servers may interpret markup in the text, never in the title
        body = ("Rubato", 0, APP_ID, title, escape(text, quote=False))
        rest = (["default", tr("Show"), *actions], hints, _DEFAULT_TIME)
        self._bus.call(SERVICE, "Notify", "susssasa{sv}i", (*body, *rest), answered)

    def keep_timers(self, numbers: frozenset[int]) -> None:
        """Close the notifications of all timers but these."""
        for shown, buttons in self._shown.items():
            if buttons.timer is not None and buttons.timer not in numbers:
                self._bus.call(SERVICE, "CloseNotification", "u", (shown,))

    def _on_action(self, message: Message) -> None:
        number, key = message.body
        if number in self._shown:
            self._shown[number].acts.get(key, self.clicked.emit)()

    def _on_end(self, message: Message) -> None:
        self._shown.pop(message.body[0], None)


SETTINGS = Address(PATH, PORTAL, "org.freedesktop.portal.Settings")
# Where desktops store it, and the values that mean no animations.
_KEYS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("org.freedesktop.appearance", "reduced-motion"): (1,),
    ("org.gnome.desktop.interface", "enable-animations"): (False,),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor"): ("0", 0),
}
_CLIENT_AREA_ANIMATION = 0x1042  # SPI_GETCLIENTAREAANIMATION


class ReducedMotion:
    """Reports the system's setting against animations, now and at every change. Without such a
    setting, animations are on; on macOS it is not read yet.
    """

    def __init__(self, bus: Bus, report: Callable[[bool], None]) -> None:
        self._report = report
        self._asked_for: dict[tuple[str, str], bool] = {}
        if sys.platform == "win32":
            report(not _windows_animates())
            return
        bus.watch(SETTINGS.service, SETTINGS.interface, "SettingChanged", self._on_change)
        names = (sorted({group for group, _ in _KEYS}),)
        bus.call(SETTINGS, "ReadAll", "as", names, self._on_all)

    def _on_all(self, message: Message) -> None:
        if is_error(message):
            return  # no portal, or an old one
        for group, values in message.body[0].items():
            for key, (_, value) in values.items():
                self._take(group, key, value)

    def _on_change(self, message: Message) -> None:
        group, key, (_, value) = message.body
        self._take(group, key, value)

    def _take(self, group: str, key: str, value: object) -> None:
        wanted = _KEYS.get((group, key))
        if wanted is not None:
            self._asked_for[group, key] = value in wanted
            self._report(any(self._asked_for.values()))


def _windows_animates() -> bool:
    on = ctypes.c_int(1)
    user32 = getattr(ctypes, "windll").user32  # noqa: B009 - mypy knows it on Windows only
    user32.SystemParametersInfoW(_CLIENT_AREA_ANIMATION, 0, ctypes.byref(on), 0)
    return bool(on.value)
