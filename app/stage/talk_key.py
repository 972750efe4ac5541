"""The key that is held to talk. It works wherever the focus is, unless the key means something else
there.

Invariant: a press is always followed by exactly one release: when the key goes up, or when the
window loses the focus or is hidden. Auto-repeat is ignored, even if it comes as release and press.
"""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app.stage.talk import TalkButton

_DEFAULT_KEY = Qt.Key.Key_Space
_PRESSES_BUTTONS = (Qt.Key.Key_Space, Qt.Key.Key_Select)
# A held key may repeat as release and press, not marked as auto-repeat (remote desktops, some X
# servers). They are a millisecond apart, and no finger is lifted for less than this.
_CHATTER_MS = 25
_LEAVE = (QEvent.Type.FocusOut, QEvent.Type.Hide, QEvent.Type.WindowDeactivate)


class TalkKey(QObject):
    """Watches a window (its QWindow: install with installEventFilter), so keys in dialogs are not
    seen.

    Signals:
        pressed: the key went down.
        released: it went up, or the window lost the focus.
    """

    pressed = Signal()
    released = Signal()

    def __init__(self, key_name: str, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._key = _DEFAULT_KEY
        self._is_down = False
        # runs from a release until the release is certain
        self._lifted = QTimer(self, singleShot=True, interval=_CHATTER_MS)
        self._lifted.setTimerType(Qt.TimerType.PreciseTimer)
        self._lifted.timeout.connect(self._release)
        self.choose(key_name)

    @property
    def is_down(self) -> bool:
        """True between `pressed` and `released`."""
        return self._is_down

    @property
    def label(self) -> str:
        """The key's name as printed on keyboards."""
        return QKeySequence(self._key).toString(QKeySequence.SequenceFormat.NativeText)

    def choose(self, key_name: str) -> None:
        """Use another key, named as in the settings ('Space', 'F9'); an unknown name means
        Space."""
        self._key = _key_named(key_name) or _DEFAULT_KEY

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _LEAVE:
            self._release()
        elif isinstance(event, QKeyEvent) and event.key() == self._key:
            return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        """Handle a key event; return True if the event belongs to the talk key."""
        if event.type() == QEvent.Type.KeyRelease and self._is_down:
            if not event.isAutoRepeat():
                self._lifted.start()
            return True
        if event.type() != QEvent.Type.KeyPress:
            return False
        if self._is_down:
            self._lifted.stop()
            return True
        # The window's own focus: QApplication's is None while Qt holds the window for inactive,
        # though keys arrive (no window manager, or one that gives the focus late).
        if event.isAutoRepeat() or self._belongs_to(self._window.focusWidget(), event):
            return False
        self._is_down = True
        self.pressed.emit()
        return True

    def _release(self) -> None:
        self._lifted.stop()
        if self._is_down:
            self._is_down = False
            self.released.emit()

    def _belongs_to(self, focused: QWidget | None, event: QKeyEvent) -> bool:
        """Return True if the key types into the focused widget or activates it."""
        chord = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        if event.modifiers() & chord:
            return True
        if isinstance(focused, QLineEdit | QAbstractSpinBox):
            return bool(event.text())
        if isinstance(focused, QTextEdit | QPlainTextEdit):
            return bool(event.text()) and not focused.isReadOnly()
        if isinstance(focused, QAbstractButton | QComboBox):
            return self._key in _PRESSES_BUTTONS and not isinstance(focused, TalkButton)
        return False


def _key_named(name: str) -> Qt.Key | None:
    """Return the key with a setting's name; None for an unknown name."""
    sequence = QKeySequence(name)
    if sequence.count() == 0:
        return None
    combination = sequence[0]  # type: ignore[index]  # PySide's stubs leave __getitem__ out
    key: Qt.Key = combination.key()
    return None if key is Qt.Key.Key_unknown else key
