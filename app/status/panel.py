"""The status: microphone, recogniser, language model, voice, loudspeaker, each in a row with a name
that people know ("Whisper base, on this computer"), and the time of the last turn.

Invariant: every Part has exactly one row, and a row always shows the newest state of its part;
pressing it lets one change the part. A name that is not in the table is shown unchanged.
"""

from pathlib import PurePath
from urllib.parse import urlsplit

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.language import decimal, mark, tr, tr_n
from app.look.controls import ProgressBar, paint_icon
from app.look.label import Label
from app.look.layout import column
from app.look.plain_text import one_line, plain, tool_tip
from app.look.theme import Theme
from app.status.parts import PartRecord, Parts, PartState
from engine import api
from engine.api import Part

NAMES = {
    Part.MICROPHONE: mark("Microphone"),
    Part.RECOGNISER: mark("Recogniser"),
    Part.LANGUAGE_MODEL: mark("Language model"),
    Part.SYNTHESISER: mark("Voice"),
    Part.LOUDSPEAKER: mark("Loudspeaker"),
}
DOES = {
    **NAMES,
    Part.RECOGNISER: mark("Listens"),
    Part.LANGUAGE_MODEL: mark("Thinks"),
    Part.SYNTHESISER: mark("Speaks"),
}
_LOCAL = ("localhost", "127.0.0.1", "::1")
_KNOWN = {
    "sphinx": "Sphinx",
    "rubato-starter": api.TITLES["starter"],
    **api.TITLES,
}
_ICONS = {
    Part.MICROPHONE: "microphone",
    Part.RECOGNISER: "waveform",
    Part.LANGUAGE_MODEL: "language-model",
    Part.SYNTHESISER: "voice",
    Part.LOUDSPEAKER: "loudspeaker",
}


class StatusRow(QAbstractButton):
    """An icon, texts on the left and on the right, and a dot for the state."""

    def __init__(self, icon: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon = icon
        self._theme = theme
        self._state = "control"  # the dot's colour in the palette
        self._left = ""
        self._right = self._shorter = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)

    @property
    def shown(self) -> str:
        """The text on the right."""
        return self._right

    def show_words(self, left: str, right: str, state: str, *, shorter: str = "") -> None:
        """Show texts and a dot. `state`: the dot's colour in the palette. `shorter`: the text on
        the right if `right` does not fit.
        """
        self._left, self._right, self._state = left, right, state
        self._shorter = shorter or right
        self.update()

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
        paint_icon(painter, self._icon, theme.colour("muted"), QRectF(9, middle - 9, 18, 18))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(self._state))
        painter.drawEllipse(QRectF(body.right() - 17, middle - 4, 8, 8))
        self._paint_words(painter, QRectF(38, body.top(), body.width() - 62, body.height()))
        painter.end()

    def _paint_words(self, painter: QPainter, area: QRectF) -> None:
        painter.setFont(self.font())
        metrics = QFontMetricsF(self.font())
        painter.setPen(self._theme.colour("muted" if self._right else "text"))
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self._left)
        room = area.width() - metrics.horizontalAdvance(self._left) - 12
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.setPen(self._theme.colour("danger" if self._state == "danger" else "text"))
        painter.drawText(area, right, self.words_in(room))

    def words_in(self, room: float) -> str:
        """Return the text on the right that fits into `room` logical pixels."""
        metrics = QFontMetricsF(self.font())
        fits = metrics.horizontalAdvance(self._right) <= room
        words = self._right if fits else self._shorter
        return metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)


class PartRow(StatusRow):
    """Name, what runs, and the progress of loading; press to change the part."""

    def __init__(self, part: Part, theme: Theme, parent: QWidget) -> None:
        super().__init__(_ICONS[part], theme, parent)
        self._part = part
        self._bar = ProgressBar(theme, self)
        self.show_part(PartRecord())

    def show_part(self, record: PartRecord) -> None:
        """Show what is known of the part."""
        self._bar.setVisible(record.state is PartState.LOADING)
        match record.state:
            case PartState.WAITING:
                self._show("control", tr("not started"), "")
            case PartState.LOADING:
                self._bar.show_share(record.fraction)
                self._show("accent", tr("getting ready…"), record.text)
            case PartState.WORKS:
                name, detail = record.name, record.detail
                known = f"{name}, {detail}" if detail else name
                words = for_people(self._part, name, detail)
                shorter = one_line(local_model(name, detail))
                self._show("success", words, f"{known}\n{record.why}".strip(), shorter)
            case PartState.FAILED:
                self._show("danger", tr("not working"), record.text)

    def _show(self, state: str, words: str, detail: str, shorter: str = "") -> None:
        self.show_words(tr(DOES[self._part]), one_line(words), state, shorter=shorter)
        title = tr(NAMES[self._part])
        self.setAccessibleName(f"{title}: {self.shown}")
        self.setAccessibleDescription(plain(detail))
        self.setToolTip(
            tool_tip(tr("{title}: {words}\nPress to change", title=title, words=detail or words))
        )

    def resizeEvent(self, event: QEvent) -> None:
        self._bar.setGeometry(40, self.height() - 5, self.width() - 50, 4)


class SummaryRow(StatusRow):
    """One line about all parts; press to see them."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__("chevron-down", theme, parent)
        self.setCheckable(True)
        self.toggled.connect(self._on_toggled)

    def show_summary(self, words: str, state: str) -> None:
        """Show a summary and a dot. `state`: the dot's colour in the palette."""
        self.show_words(words, "", state)
        self.setAccessibleName(words)
        self.setToolTip(tr("Show or hide what listens, thinks and speaks"))

    def _on_toggled(self, on: bool) -> None:
        self._icon = "chevron-up" if on else "chevron-down"
        self.update()


def for_people(part: Part, name: str, detail: str) -> str:
    """Return a part's name for people, from that of Ready; devices keep the system's."""
    if part in (Part.MICROPHONE, Part.LOUDSPEAKER):
        return name
    if model := local_model(name, detail):
        return tr("{model}, on this computer", model=model)
    if name == "server" and " at " in detail:
        model, host = _served(detail)
        return tr("{model}, on {host}", model=model, host=host)
    return tr("Built-in skills") if name == "skills" else name


def local_model(name: str, detail: str) -> str:
    """Return the name of a model on this computer; empty for other parts and for a server."""
    match name:
        case "whisper":
            model = detail.split(":")[0] if ":" in detail else name
            return model.replace("-", " ").capitalize()
        case "llama":
            return PurePath(detail or name).stem
        case "server" if " at " in detail:
            model, host = _served(detail)
            return model if host in _LOCAL else ""
        case _:
            return tr(_KNOWN[name]) if name in _KNOWN else ""


def _served(detail: str) -> tuple[str, str]:
    """Split a server's detail, "model at address", into model and host."""
    model, address = detail.rsplit(" at ", 1)
    return model, urlsplit(address).hostname or address


# By the field of api.TurnMetrics, in the order in which they happen.
_STAGES = {
    "end_ms": mark("end of speech noticed"),
    "transcript_ms": mark("words recognised"),
    "first_token_ms": mark("first token"),
    "first_word_ms": mark("first word"),
    "first_audio_ms": mark("first audio"),
    "heard_ms": mark("first sound heard"),
}


class Status(QWidget):
    """A line about all parts, one row for each part that needs attention, and a line about the last
    turn.

    Signals:
        chosen(Part): the person wants to change this part.
        loading_changed(str): what is being loaded, for the header; empty when nothing is.
    """

    chosen = Signal(object)
    loading_changed = Signal(str)

    def __init__(self, parts: Parts, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts = parts
        self.summary = SummaryRow(theme, self)
        self.rows = {part: PartRow(part, theme, self) for part in NAMES}
        self._recogniser = ""
        self.last_turn = Label("", self, size=0.9, figures=True)
        column(self.summary, *self.rows.values(), self.last_turn, on=self, spacing=1)
        self.summary.toggled.connect(self._show_rows)
        for part, row in self.rows.items():
            row.clicked.connect(lambda _=False, part=part: self.chosen.emit(part))
        self.last_turn.hide()  # until there was a turn
        self._show_rows()

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.Heard(confidence=confidence, recogniser=recogniser):
                self._recogniser = _heard_by(recogniser, confidence)
            case api.TurnEnded(metrics=metrics):
                self._show_metrics(metrics)
            case api.Loading() | api.Ready() | api.Failed():
                pass  # `parts` has it
            case _:
                return
        self._show_rows()
        loading = ", ".join(tr(NAMES[part]) for part in self._parts.loading)
        text = tr("Getting ready: {parts}", parts=loading) if loading else ""
        self.loading_changed.emit(text)

    def _show_rows(self) -> None:
        """Show all rows if wanted, otherwise those of parts that do not work yet."""
        unusual = (PartState.LOADING, PartState.FAILED)
        for part, row in self.rows.items():
            record = self._parts.record(part)
            row.show_part(record)
            row.setVisible(self.summary.isChecked() or record.state in unusual)
        self.summary.show_summary(*_summary(self._parts))

    def _show_metrics(self, metrics: api.TurnMetrics) -> None:
        self.last_turn.setText(last_turn_line(metrics))
        self.last_turn.show()
        details = turn_details(metrics, self._recogniser)
        self.last_turn.setToolTip(tool_tip(details))
        self.last_turn.setAccessibleDescription(plain(details))


def _summary(parts: Parts) -> tuple[str, str]:
    """A summary of all parts, and the colour of its dot."""
    match len(parts.failed):
        case 0 if parts.is_starting:
            return tr("Getting ready"), "accent"
        case 0:
            return tr("All is well"), "success"
        case count:
            words = tr_n("One part needs attention", "{count} parts need attention", count)
            return words, "danger"


def last_turn_line(metrics: api.TurnMetrics) -> str:
    """Return the line with the time until the first sound, the most important figure."""
    if metrics.heard_ms is None:
        return tr("Last turn: nothing was spoken")
    answered = tr(
        "Last turn: answered after {seconds} s", seconds=decimal(metrics.heard_ms / 1000, 2)
    )
    gaps = metrics.underruns
    return answered + (
        "\n" + tr_n("the sound broke once", "the sound broke {count} times", gaps) if gaps else ""
    )


def turn_details(metrics: api.TurnMetrics, recogniser: str) -> str:
    """The times of the stages of a turn, one line each, in their order."""
    times = [(name, getattr(metrics, field)) for field, name in _STAGES.items()]
    lines = [f"{tr(name)}: {decimal(ms, 0)} ms" for name, ms in times if ms is not None]
    return "\n".join(([recogniser] if recogniser else []) + lines)


def _heard_by(recogniser: str, confidence: float) -> str:
    if recogniser == api.KEYBOARD:
        return tr("typed")
    return tr(
        "recognised by {recogniser}, {confidence} sure",
        recogniser=recogniser,
        confidence=f"{confidence:.0%}",
    )
