"""Global keys on Windows: RegisterHotKey, and polling of the key while it is held, because Windows
does not report its release.

Invariant: no hook, so we never see keys that were not registered.
"""

import ctypes
import ctypes.wintypes
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QAbstractNativeEventFilter, QByteArray, QCoreApplication, QTimer

from app.presence.keys.global_keys import Action, Chord, KeySource

_WM_HOTKEY = 0x0312
_MODIFIERS = {"Alt": 0x1, "Ctrl": 0x2, "Shift": 0x4, "Meta": 0x8}
_NO_REPEAT = 0x4000
_HELD = 0x8000  # of GetAsyncKeyState
_LOOK_MS = 20
_FIRST_ID = 0x5200  # programs may use 0 to 0xBFFF


class WindowsKeys(KeySource):
    """`user32` is the library of that name, of which only three functions are used."""

    def __init__(self, *, user32: Any = None) -> None:
        super().__init__()
        self._user32 = user32 or getattr(ctypes, "windll").user32  # noqa: B009 - not on Linux
        self._chords: dict[Action, Chord] = {}
        self._filter = _HotKeyFilter(self._on_hot_key)
        self._held = QTimer(self, interval=_LOOK_MS)
        self._held.timeout.connect(self._look)
        application = QCoreApplication.instance()
        if application is not None:
            application.installNativeEventFilter(self._filter)

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        self._unregister()
        taken = []
        for action, chord in chords.items():
            modifiers = sum(_MODIFIERS[name] for name in chord.modifiers) | _NO_REPEAT
            if self._user32.RegisterHotKey(None, _number(action), modifiers, chord.virtual_key):
                self._chords[action] = chord
            else:
                taken.append(action)
        self.report_taken(taken)

    def close(self) -> None:
        self._unregister()
        application = QCoreApplication.instance()
        if application is not None:
            application.removeNativeEventFilter(self._filter)

    def _unregister(self) -> None:
        for action in self._chords:
            self._user32.UnregisterHotKey(None, _number(action))
        self._chords.clear()
        self._held.stop()
        self.release_all()

    def _on_hot_key(self, number: int) -> None:
        for action in self._chords:
            if _number(action) == number:
                self.press(action)
                self._held.start()

    def _look(self) -> None:
        for action, chord in self._chords.items():
            if not self._user32.GetAsyncKeyState(chord.virtual_key) & _HELD:
                self.release(action)
        if not self._down:
            self._held.stop()


class _HotKeyFilter(QAbstractNativeEventFilter):
    def __init__(self, report: Any) -> None:  # Any: a function of one int
        super().__init__()
        self._report = report

    def nativeEventFilter(self, kind: Any, message: Any) -> Any:
        if bytes(QByteArray(kind).data()) == b"windows_generic_MSG":
            what = ctypes.wintypes.MSG.from_address(int(message))
            if what.message == _WM_HOTKEY:
                self._report(what.wParam)
        return False, 0


def _number(action: Action) -> int:
    return _FIRST_ID + list(Action).index(action)
