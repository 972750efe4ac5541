"""The talk button and its key: hold one of them to speak. The button shows whether the assistant
listens; the key works wherever the focus is, unless it means something else there.

Invariant: PressTalk and ReleaseTalk are posted in pairs, even if button and key are pressed at the
same time. A press of the key is always followed by exactly one release: when the key goes up, or
when the window loses the focus or is hidden. Auto-repeat is ignored, even if it comes as release
and press.
"""

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QTextEdit,
    QWidget,
)

from app.bridge import Post
from app.language import tr
from app.look.controls import paint_icon
from app.look.theme import Theme, scaled
from app.status.parts import Parts
from engine import api

_HEIGHT = 44
_QUIET_DB = -60.0  # levels below this show as nothing
_LOUD_DB = -15.0


class TalkButton(QAbstractButton):
    """A painted button with a microphone, words and a key cap."""

    def __init__(self, post: Post, parts: Parts, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._parts = parts
        self._theme = theme
        self._key_label = ""
        self._is_held = False
        self._is_compact = False
        self._phase = api.Phase.IDLE
        self._level = 0.0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.pressed.connect(lambda: self.hold(True))
        self.released.connect(lambda: self.hold(False))
        theme.changed.connect(self.update)
        self._describe()

    @property
    def words(self) -> str:
        """The button's current text."""
        if self._is_held:
            return tr("Release to send")
        if self._phase is api.Phase.LISTENING:
            return tr("Listening")
        if self._parts.is_muted:
            return tr("Muted")
        if self._parts.cannot_hear:
            return tr("Cannot hear")
        if self._parts.is_starting:
            return tr("Getting ready")
        if self._parts.is_asleep:
            return tr("Say my name")
        return tr("Just speak") if self._parts.is_hands_free else tr("Hold to talk")

    @property
    def is_held(self) -> bool:
        """True between PressTalk and ReleaseTalk."""
        return self._is_held

    def hold(self, down: bool) -> None:
        """Post PressTalk or ReleaseTalk after the button or the key went down or up."""
        if down is self._is_held:
            return
        self._is_held = down
        self._post(api.PressTalk() if down else api.ReleaseTalk())
        self._describe()

    def explain(self, key_label: str) -> None:
        """Set the name of the talk key and update the button's words."""
        self._key_label = key_label
        self._describe()

    def be_compact(self, on: bool) -> None:
        """Show only microphone and key, for a narrow window."""
        self._is_compact = on
        self.updateGeometry()
        self.update()

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.PhaseChanged(_, phase):
                self._phase = phase
                self._level = 0.0
                self._describe()
            case api.Loading() | api.Ready() | api.Failed() | api.SleepChanged():
                self._describe()
            case api.Levels(microphone_db=level_db) if self._is_listening:
                self._level = (max(_QUIET_DB, level_db) - _QUIET_DB) / (_LOUD_DB - _QUIET_DB)
                self.update()

    @property
    def _is_listening(self) -> bool:
        return self._is_held or self._phase is api.Phase.LISTENING

    def _describe(self) -> None:
        self.setAccessibleName(tr("Talk: {words}", words=self.words))
        self.setToolTip(
            tr("Hold this button, or {key_label}, while you speak", key_label=self._key_label)
        )
        self.updateGeometry()
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ignore auto-repeat, which would press and release the button again and again."""
        if not event.isAutoRepeat():
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not event.isAutoRepeat():
            super().keyReleaseEvent(event)

    # ----------------------------------------------------------------- painting

    def sizeHint(self) -> QSize:
        widths = QFontMetricsF(scaled(self.font(), 1.0, strong=True))
        words = 0.0 if self._is_compact else _widest(widths) + 10
        cap = QFontMetricsF(scaled(self.font(), 0.82)).horizontalAdvance(self._key_label) + 18
        return QSize(int(16 + 22 + 10 + words + cap + 14), _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground, ink = self._colours()
        body = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        radius = body.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(body, radius, radius)
        if self._level > 0:
            painter.setBrush(QColor(255, 255, 255, int(70 * min(1.0, self._level))))
            painter.drawRoundedRect(body, radius, radius)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.colour("text"), 2))
            painter.drawRoundedRect(body, radius, radius)
        self._paint_content(painter, body, ink)
        painter.end()

    def _paint_content(self, painter: QPainter, body: QRectF, ink: QColor) -> None:
        icon = QRectF(body.left() + 14, body.center().y() - 11, 22, 22)
        paint_icon(painter, "microphone", ink, icon)
        cap_font = scaled(self.font(), 0.82)
        width = QFontMetricsF(cap_font).horizontalAdvance(self._key_label) + 14
        cap = QRectF(body.right() - width - 12, body.center().y() - 11, width, 22)
        if not self._is_compact:
            painter.setPen(ink)
            painter.setFont(scaled(self.font(), 1.0, strong=True))
            area = QRectF(icon.right() + 8, body.top(), cap.left() - icon.right(), body.height())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self.words)
        frame = QColor(ink)
        frame.setAlphaF(0.55)
        painter.setPen(QPen(frame, 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(cap, 6, 6)
        painter.setPen(ink)
        painter.setFont(cap_font)
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, self._key_label)

    def _colours(self) -> tuple[QColor, QColor]:
        """Background and text colour."""
        theme = self._theme
        if self._is_listening:
            return theme.colour("listening"), theme.colour("on_listening")
        if self._parts.is_hands_free:
            return theme.colour("raised"), theme.colour("text")
        ground = theme.colour("accent")
        if self.underMouse():
            ground = ground.lighter(108)
        return ground, theme.colour("on_accent")


def _widest(widths: QFontMetricsF) -> float:
    """Return the width of the longest text, so that the neighbours never move."""
    said = [tr("Release to send"), tr("Listening"), tr("Just speak"), tr("Hold to talk")]
    said += [tr("Say my name"), tr("Muted"), tr("Getting ready"), tr("Cannot hear")]
    return max(map(widths.horizontalAdvance, said))


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
    def label(self) -> str:
        """The key's name as printed on keyboards."""
        return QKeySequence(self._key).toString(QKeySequence.SequenceFormat.NativeText)

    def choose(self, key_name: str) -> None:
        """Use another key, named as in the settings ('F9'); an unknown name means Space."""
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
