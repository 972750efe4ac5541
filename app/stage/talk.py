"""The talk button: hold it, or its key, to speak; it shows whether the assistant listens.

Invariant: PressTalk and ReleaseTalk are posted in pairs, even if button and key are pressed at the
same time.
"""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

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
    """Return the width of the longest text, so that the neighbours do not move when the text
    changes.
    """
    said = [tr("Release to send"), tr("Listening"), tr("Just speak"), tr("Hold to talk")]
    said += [tr("Say my name"), tr("Muted"), tr("Getting ready"), tr("Cannot hear")]
    return max(map(widths.horizontalAdvance, said))
