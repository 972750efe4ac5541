"""What is running: microphone, recogniser, language model, voice, loudspeaker, and how quick the
last turn was.

Invariant: every Part has exactly one row, and a row always shows the newest word about its part.
"""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.look.icons import paint_icon
from app.look.plain_text import one_line, plain, tool_tip
from app.look.theme import Theme, scaled
from app.status.latency import LatencyDialog
from app.status.turn_times import STAGES, TurnTimes, stages
from engine.api import Event, Failed, Heard, Loading, Part, Ready, TurnEnded, TurnMetrics

_ICONS = {
    Part.MICROPHONE: "microphone",
    Part.RECOGNISER: "waveform",
    Part.LANGUAGE_MODEL: "language-model",
    Part.SYNTHESISER: "voice",
    Part.LOUDSPEAKER: "loudspeaker",
}
_TITLES = {
    Part.MICROPHONE: "Microphone",
    Part.RECOGNISER: "Recogniser",
    Part.LANGUAGE_MODEL: "Language model",
    Part.SYNTHESISER: "Voice",
    Part.LOUDSPEAKER: "Loudspeaker",
}
_TIMES = "Press to see the last turns (Ctrl+T)"


class Status(QWidget):
    """One row per part and a line on the last turn.

    Signals:
        chosen(Part): the person wants to change this part.
        loading_changed(str): what is being loaded, for the header; empty when nothing is.
    """

    chosen = Signal(object)
    loading_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows = {part: PartRow(part, theme, self) for part in _ICONS}
        self._recogniser = ""
        self._theme = theme
        self._times = TurnTimes()
        self._latency: LatencyDialog | None = None  # None until it was asked for
        self.last_turn = QPushButton("No turn yet", self)
        self.last_turn.setProperty("kind", "line")
        self.last_turn.setFont(scaled(self.font(), 0.9, figures=True))
        self.last_turn.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.last_turn.setCursor(Qt.CursorShape.PointingHandCursor)
        self.last_turn.setToolTip(_TIMES)
        self.last_turn.clicked.connect(self.show_times)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        for part, row in self.rows.items():
            row.clicked.connect(lambda _=False, part=part: self.chosen.emit(part))
            column.addWidget(row)
        column.addSpacing(4)
        column.addWidget(self.last_turn)

    def show_times(self) -> LatencyDialog:
        """Open the view of the last turns' times."""
        if self._latency is None:
            self._latency = LatencyDialog(self._times, self._theme, self.window())
        self._latency.open_beside()
        return self._latency

    def on_event(self, event: Event) -> None:
        self._times.on_event(event)
        if self._latency is not None:
            self._latency.on_event(event)
        match event:
            case Loading(part, text, fraction):
                self.rows[part].show_loading(text, fraction)
            case Ready(part, name, detail):
                self.rows[part].show_ready(name, detail)
            case Failed(part=Part() as part, message=message):
                self.rows[part].show_failed(message)
            case Heard(confidence=confidence, recogniser=recogniser):
                self._recogniser = _heard_by(recogniser, confidence)
            case TurnEnded(metrics=metrics):
                self._show_metrics(metrics)
            case _:
                return
        self.loading_changed.emit(self._loading())

    def _loading(self) -> str:
        loading = [_TITLES[part].lower() for part, row in self.rows.items() if row.is_loading]
        return f"Getting ready: {', '.join(loading)}" if loading else ""

    def _show_metrics(self, metrics: TurnMetrics) -> None:
        self.last_turn.setText(last_turn_line(metrics))
        details = turn_details(metrics, self._recogniser)
        self.last_turn.setToolTip(tool_tip(f"{details}\n{_TIMES}"))
        self.last_turn.setAccessibleDescription(plain(details))


class PartRow(QAbstractButton):
    """Icon, name, what runs, and a dot for its state; press to change the part."""

    def __init__(self, part: Part, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._part = part
        self._theme = theme
        self._state = "control"  # the dot's colour in the palette
        self._name = "not started"
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.hide()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)
        self._show("control", self._name, "")

    @property
    def is_loading(self) -> bool:
        return not self._bar.isHidden()

    @property
    def shown(self) -> str:
        """What the row says of its part."""
        return self._name

    def show_loading(self, text: str, fraction: float | None) -> None:
        """`fraction` is 0..1; None shows a bar without an end."""
        self._bar.setRange(0, 0 if fraction is None else 100)
        self._bar.setValue(0 if fraction is None else round(fraction * 100))
        self._bar.show()
        self._show("accent", text, text)

    def show_ready(self, name: str, detail: str) -> None:
        self._bar.hide()
        self._show("success", name, f"{name}, {detail}" if detail else name)

    def show_failed(self, message: str) -> None:
        self._bar.hide()
        self._show("danger", "not working", message)

    def _show(self, state: str, name: str, detail: str) -> None:
        self._state = state
        self._name = one_line(name)
        title = _TITLES[self._part]
        self.setAccessibleName(f"{title}: {self._name}")
        self.setAccessibleDescription(plain(detail))
        self.setToolTip(tool_tip(f"{title}: {detail or name}\nPress to change"))
        self.update()

    def resizeEvent(self, event: QEvent) -> None:
        self._bar.setGeometry(40, self.height() - 5, self.width() - 50, 4)

    def sizeHint(self) -> QSize:
        return QSize(240, int(QFontMetricsF(self.font()).height()) + 13)

    def minimumSizeHint(self) -> QSize:
        return QSize(150, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        body = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self.underMouse() or self.hasFocus():
            focus = QPen(theme.colour("accent"), 2) if self.hasFocus() else Qt.PenStyle.NoPen
            painter.setPen(focus)
            painter.setBrush(theme.colour("raised"))
            painter.drawRoundedRect(body, 9, 9)
        middle = body.center().y()
        paint_icon(
            painter, _ICONS[self._part], theme.colour("muted"), QRectF(9, middle - 9, 18, 18)
        )
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(self._state))
        painter.drawEllipse(QRectF(body.right() - 17, middle - 4, 8, 8))
        self._paint_words(painter, QRectF(38, body.top(), body.width() - 62, body.height()))
        painter.end()

    def _paint_words(self, painter: QPainter, area: QRectF) -> None:
        title = _TITLES[self._part]
        painter.setFont(self.font())
        metrics = QFontMetricsF(self.font())
        painter.setPen(self._theme.colour("muted"))
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, title)
        room = area.width() - metrics.horizontalAdvance(title) - 12
        name = metrics.elidedText(self._name, Qt.TextElideMode.ElideMiddle, room)
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.setPen(self._theme.colour("danger" if self._state == "danger" else "text"))
        painter.drawText(area, right, name)


def last_turn_line(metrics: TurnMetrics) -> str:
    """The one number that matters: how long the person waited for the first sound."""
    if metrics.heard_ms is None:
        return "Last turn: nothing was spoken"
    return f"Last turn: answered after {metrics.heard_ms / 1000:.2f} s{_gaps(metrics.underruns)}"


def _gaps(count: int) -> str:
    match count:
        case 0:
            return ""
        case 1:
            return " · 1 gap"
        case _:
            return f" · {count} gaps"


def turn_details(metrics: TurnMetrics, recogniser: str) -> str:
    """Where the time went, one stage a line, in the order they happen."""
    times = zip(STAGES, stages(metrics), strict=True)
    lines = [f"{stage.name}: {ms:.0f} ms" for stage, ms in times if ms is not None]
    return "\n".join(([recogniser] if recogniser else []) + lines)


def _heard_by(recogniser: str, confidence: float) -> str:
    if recogniser == "keyboard":
        return "typed"
    return f"recognised by {recogniser}, {confidence:.0%} sure"
