"""Global keys under X11: XGrabKey on the root window, on a connection of our own.

Invariant: we only see registered keys, with and without Caps Lock and Num Lock. A held key repeats
as release and press at one time; it counts as down as long as the server says so.
"""

from collections.abc import Mapping
from itertools import product, zip_longest
from typing import Any

from PySide6.QtCore import QSocketNotifier
from Xlib import XK, X, display, error

from app.language import tr
from app.presence.keys.global_keys import Action, Chord, KeySource

_MASKS = {"Ctrl": X.ControlMask, "Alt": X.Mod1Mask, "Shift": X.ShiftMask, "Meta": X.Mod4Mask}
_NUM_LOCK = X.Mod2Mask  # its place in all current keyboard maps
_MEANT = X.ControlMask | X.Mod1Mask | X.ShiftMask | X.Mod4Mask


class X11Keys(KeySource):
    """Connects at the first grab, to the display `name` or that of the environment."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__()
        self._name = name
        self._display: display.Display | None = None  # None = not connected
        self._notifier: QSocketNotifier | None = None
        self._grabbed: dict[tuple[int, int], Action] = {}  # (key code, modifiers) -> action
        self._wanted: Mapping[Action, Chord] = {}

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        self._ungrab()
        self._wanted = dict(chords)
        if chords and self._is_connected():
            self.report_taken([each for each in chords if not self._take(each, chords[each])])

    def close(self) -> None:
        self._ungrab()
        if self._notifier is not None:
            self._notifier.setEnabled(False)
        if self._display is not None:
            self._display.close()
        self._display = None

    def _is_connected(self) -> bool:
        if self._display is not None:
            return True
        try:
            self._display = display.Display(self._name)
        except (error.DisplayError, OSError) as fault:
            self.lost.emit(
                tr("The X server does not let Rubato listen for keys ({fault}).", fault=fault)
            )
            return False
        self._notifier = QSocketNotifier(self._display.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_readable)
        return True

    def _take(self, action: Action, chord: Chord) -> bool:
        """Grab a chord with all states of the locks; False if another program has it, or the
        keyboard has no such key."""
        assert self._display is not None
        code = self._display.keysym_to_keycode(XK.string_to_keysym(chord.keysym))
        if code == X.AnyKey:  # not in the map; it would grab, then release, all keys
            return False
        modifiers = 0
        for name in chord.modifiers:
            modifiers |= _MASKS[name]
        refused = error.CatchError(error.BadAccess)
        for caps, num in product((0, X.LockMask), (0, _NUM_LOCK)):
            locked = modifiers | caps | num
            asynchronous = (X.GrabModeAsync, X.GrabModeAsync)
            self._root.grab_key(code, locked, False, *asynchronous, onerror=refused)
        self._display.sync()
        if refused.get_error() is not None:
            self._give(code, modifiers)
            return False
        self._grabbed[code, modifiers] = action
        return True

    def _give(self, code: int, modifiers: int) -> None:
        assert self._display is not None
        for caps, num in product((0, X.LockMask), (0, _NUM_LOCK)):
            self._root.ungrab_key(code, modifiers | caps | num)
        self._display.sync()

    def _ungrab(self) -> None:
        if self._display is not None:
            for code, modifiers in self._grabbed:
                self._give(code, modifiers)
        self._grabbed.clear()
        self.release_all()

    @property
    def _root(self) -> "display.Window":
        assert self._display is not None
        return self._display.screen().root

    def _on_readable(self) -> None:
        try:
            while self._display is not None and self._display.pending_events():
                self._display.sync()  # now the press of a repeat is there with its release
                count = self._display.pending_events()
                events = [self._display.next_event() for _ in range(count)]
                for event, following in zip_longest(events, events[1:]):
                    if not _is_repeat(event, following):
                        self._on_event(event)
        except (error.ConnectionClosedError, OSError):
            self._display = None
            self._grabbed.clear()
            if self._notifier is not None:
                self._notifier.setEnabled(False)
            self.release_all()
            self.lost.emit(tr("The connection to the X server was lost."))

    def _on_event(self, event: "display.event.Event") -> None:
        if event.type == X.MappingNotify:
            self._on_mapping(event)
        elif event.type == X.KeyPress:
            action = self._grabbed.get((event.detail, event.state & _MEANT))
            if action is not None:
                self.press(action)
        elif event.type == X.KeyRelease and not self._is_down(event.detail):
            for (code, _), action in list(self._grabbed.items()):
                if code == event.detail:  # modifiers may have been released before
                    self.release(action)

    def _is_down(self, code: int) -> bool:
        """Return True while the key is held, whatever its auto-repeat reports."""
        assert self._display is not None
        keys = self._display.query_keymap()
        return bool(keys[code // 8] & 1 << code % 8)

    def _on_mapping(self, event: "display.event.Event") -> None:
        """Register the keys again, because a new keyboard layout has other key codes."""
        assert self._display is not None
        self._display.refresh_keyboard_mapping(event)
        if event.request == X.MappingKeyboard and self._wanted:
            self.grab(self._wanted)


def _is_repeat(event: Any, following: Any) -> bool:
    """Return True for the release of a repeat. The key may be up when its events are read late."""
    kinds = [each and each.type for each in (event, following)]
    if kinds != [X.KeyRelease, X.KeyPress]:
        return False
    return bool((event.detail, event.time) == (following.detail, following.time))
