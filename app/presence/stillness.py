"""Asks the system whether the person wants no animations anywhere; Qt cannot tell yet.

Invariant: if the system does not say, animations are on. On macOS the system is not asked yet; the
setting window.motion works there.
"""

import ctypes
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.presence.bus import Address, Bus, is_error
from app.presence.keys.portal import PATH, PORTAL

if TYPE_CHECKING:
    from jeepney import Message

SETTINGS = Address(PATH, PORTAL, "org.freedesktop.portal.Settings")
# Where desktops store it, and the values that mean no animations.
_KEYS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("org.freedesktop.appearance", "reduced-motion"): (1,),
    ("org.gnome.desktop.interface", "enable-animations"): (False,),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor"): ("0", 0),
}
_CLIENT_AREA_ANIMATION = 0x1042  # SPI_GETCLIENTAREAANIMATION

Told = Callable[[bool], None]


class Stillness:
    """Calls `told` now and at every change."""

    def __init__(self, bus: Bus, told: Told) -> None:
        self._told = told
        self._asked_for: dict[tuple[str, str], bool] = {}
        if sys.platform == "win32":
            told(not _windows_animates())
            return
        bus.watch(SETTINGS.service, SETTINGS.interface, "SettingChanged", self._on_change)
        names = (sorted({group for group, _ in _KEYS}),)
        bus.call(SETTINGS, "ReadAll", "as", names, self._on_all)

    def _on_all(self, message: "Message") -> None:
        if is_error(message):
            return  # no portal, or an old one
        for group, values in message.body[0].items():
            for key, (_, value) in values.items():
                self._take(group, key, value)

    def _on_change(self, message: "Message") -> None:
        group, key, (_, value) = message.body
        self._take(group, key, value)

    def _take(self, group: str, key: str, value: object) -> None:
        wanted = _KEYS.get((group, key))
        if wanted is not None:
            self._asked_for[group, key] = value in wanted
            self._told(any(self._asked_for.values()))


def _windows_animates() -> bool:
    on = ctypes.c_int(1)
    user32 = getattr(ctypes, "windll").user32  # noqa: B009 - mypy knows it on Windows only
    user32.SystemParametersInfoW(_CLIENT_AREA_ANIMATION, 0, ctypes.byref(on), 0)
    return bool(on.value)
