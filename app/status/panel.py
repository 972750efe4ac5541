"""The status: microphone, recogniser, language model, voice, loudspeaker, and the time of the last
turn.

Invariant: every Part has exactly one row, and a row always shows the newest state of its part.
"""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.language import decimal, mark, tr, tr_n
from app.look.label import Label
from app.look.layout import column
from app.look.plain_text import plain, tool_tip
from app.look.theme import Theme
from app.status.parts import Parts, PartState
from app.status.row import NAMES, PartRow, SummaryRow
from engine.api import KEYBOARD, Event, Failed, Heard, Loading, Part, Ready, TurnEnded, TurnMetrics

# By the field of TurnMetrics, in the order in which they happen.
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
        self._was_failed: set[Part] = set()
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

    def on_event(self, event: Event) -> None:
        match event:
            case Loading(part, text, fraction):
                self.rows[part].show_loading(text, fraction)
            case Ready(part, name, detail, why=why):
                self.rows[part].show_ready(name, detail, why)
            case Failed(part=Part() as part, message=message):
                self.rows[part].show_failed(message)
            case Heard(confidence=confidence, recogniser=recogniser):
                self._recogniser = _heard_by(recogniser, confidence)
            case TurnEnded(metrics=metrics):
                self._show_metrics(metrics)
                # after a reply that was spoken to its end
                for part in self._was_failed.difference(self._parts.failed):
                    self.rows[part].show_works()
            case _:
                return
        self._show_rows()
        loading = ", ".join(tr(NAMES[part]) for part in self._parts.loading)
        text = tr("Getting ready: {parts}", parts=loading) if loading else ""
        self.loading_changed.emit(text)

    def _show_rows(self) -> None:
        """Show all rows if the person wants that, otherwise the rows of parts that do not work
        yet."""
        unusual = (PartState.LOADING, PartState.FAILED)
        for part, row in self.rows.items():
            row.setVisible(self.summary.isChecked() or self._parts.state(part) in unusual)
        self._was_failed = set(self._parts.failed)
        self.summary.show_summary(*_summary(self._parts))

    def _show_metrics(self, metrics: TurnMetrics) -> None:
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


def last_turn_line(metrics: TurnMetrics) -> str:
    """Return the line with the time that the person waited for the first sound, the most important
    figure.
    """
    if metrics.heard_ms is None:
        return tr("Last turn: nothing was spoken")
    answered = tr(
        "Last turn: answered after {seconds} s", seconds=decimal(metrics.heard_ms / 1000, 2)
    )
    gaps = metrics.underruns
    return answered + (
        "\n" + tr_n("the sound broke once", "the sound broke {count} times", gaps) if gaps else ""
    )


def turn_details(metrics: TurnMetrics, recogniser: str) -> str:
    """The times of the stages of a turn, one line each, in their order."""
    times = [(name, getattr(metrics, field)) for field, name in _STAGES.items()]
    lines = [f"{tr(name)}: {decimal(ms, 0)} ms" for name, ms in times if ms is not None]
    return "\n".join(([recogniser] if recogniser else []) + lines)


def _heard_by(recogniser: str, confidence: float) -> str:
    if recogniser == KEYBOARD:
        return tr("typed")
    return tr(
        "recognised by {recogniser}, {confidence} sure",
        recogniser=recogniser,
        confidence=f"{confidence:.0%}",
    )
