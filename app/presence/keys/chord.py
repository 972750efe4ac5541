"""A key with its modifiers, as named by the settings, X11, the portal and Windows.

Invariant: parse() accepts only what can be a global key: a single letter would be taken from all
other programs.
"""

import re
from dataclasses import dataclass

from app.language import tr
from engine.api import EngineError
from engine.api import errors as faults

# name in settings -> (X keysym, Windows virtual key)
_NAMED = {
    "Space": ("space", 0x20),
    "Pause": ("Pause", 0x13),
    "ScrollLock": ("Scroll_Lock", 0x91),
    "Ins": ("Insert", 0x2D),
    "Del": ("Delete", 0x2E),
    "Home": ("Home", 0x24),
    "End": ("End", 0x23),
    "PgUp": ("Prior", 0x21),
    "PgDown": ("Next", 0x22),
    "Left": ("Left", 0x25),
    "Up": ("Up", 0x26),
    "Right": ("Right", 0x27),
    "Down": ("Down", 0x28),
    "Menu": ("Menu", 0x5D),
}
_MODIFIERS = ("Ctrl", "Alt", "Shift", "Meta")
_ALONE = re.compile(r"F\d+|Pause|ScrollLock|Menu")  # nobody types these


@dataclass(frozen=True)
class Chord:
    """`keysym` is X11's name of the key, `virtual_key` the number Windows gives it."""

    modifiers: frozenset[str]
    keysym: str
    virtual_key: int

    def trigger(self) -> str:
        """The key in the portal's notation (XDG shortcuts specification)."""
        names = {"Ctrl": "CTRL", "Alt": "ALT", "Shift": "SHIFT", "Meta": "LOGO"}
        return "+".join([*(names[m] for m in _MODIFIERS if m in self.modifiers), self.keysym])


def parse(text: str) -> Chord:
    """'Ctrl+Alt+Space', as Qt writes keys. InvalidInput when that cannot be a global key."""
    *modifiers, key = [part.strip() for part in text.split("+")]
    named = _named(key)
    unknown = set(modifiers) - set(_MODIFIERS)
    if named is None or unknown:
        raise _refusal(tr("There is no key '{key}' that could work everywhere.", key=text[:60]))
    if not set(modifiers) - {"Shift"} and not _ALONE.fullmatch(key):
        raise _refusal(tr("'{key}' alone would be taken from every other program.", key=text[:60]))
    keysym, virtual_key = named
    return Chord(frozenset(modifiers), keysym, virtual_key)


def _named(key: str) -> tuple[str, int] | None:
    if re.fullmatch(r"F([1-9]|1\d|2[0-4])", key):
        return key, 0x6F + int(key[1:])
    if re.fullmatch(r"[A-Z0-9]", key):
        return key.lower(), ord(key)
    return _NAMED.get(key)


def _refusal(message: str) -> EngineError:
    return faults.InvalidInput(
        message, hint=tr("Press it with Ctrl, Alt or Meta, or take a function key.")
    )
