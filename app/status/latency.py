"""Where the time went: a bar for each of the last turns, and each stage's median and worst.

Invariant: times are milliseconds after the end of the person's speech; a stage that did not happen
in a turn is not counted. What is painted is also there as text for screen readers, and can be
copied.
"""

import math
import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QGridLayout, QSizePolicy, QWidget

from app.language import decimal, mark, tr
from app.look.controls import button
from app.look.label import Label, WrappingLabel
from app.look.layout import Scrolled, Spring, column, row, wide
from app.look.page import bring_to_front, in_lines
from app.look.theme import Theme, scaled
from engine.api import Event, TurnEnded, TurnMetrics

KEPT = 50  # turns


@dataclass(frozen=True)
class Milestone:
    """A stage with its name for the person; `field` is its time in TurnMetrics."""

    field: str
    name: str


STAGES = (
    Milestone("end_ms", mark("end of speech noticed")),
    Milestone("transcript_ms", mark("words recognised")),
    Milestone("first_token_ms", mark("first token")),
    Milestone("first_word_ms", mark("first word")),
    Milestone("first_audio_ms", mark("first audio")),
    Milestone("heard_ms", mark("first sound heard")),
)


@dataclass(frozen=True)
class TurnTime:
    """The times of one turn, in the order of STAGES; None = did not happen."""

    turn: int
    stages_ms: tuple[float | None, ...]

    @property
    def total_ms(self) -> float:
        """The time of the last stage that happened."""
        return max((ms for ms in self.stages_ms if ms is not None), default=0.0)


@dataclass(frozen=True)
class Summary:
    """One stage over the turns in which it happened; None = it never happened."""

    last_ms: float | None
    median_ms: float | None
    high_ms: float | None  # the 95th percentile


class TurnTimes:
    """The last turns, oldest first."""

    def __init__(self) -> None:
        self.turns: deque[TurnTime] = deque(maxlen=KEPT)

    def on_event(self, event: Event) -> None:
        if isinstance(event, TurnEnded) and event.metrics.heard_ms is not None:
            self.turns.append(TurnTime(event.turn, stages(event.metrics)))

    def summaries(self) -> tuple[Summary, ...]:
        """One for each of STAGES."""
        return tuple(
            _summary([turn.stages_ms[number] for turn in self.turns])
            for number in range(len(STAGES))
        )

    def as_text(self) -> str:
        """A table for a report, with tabs between the columns."""
        head = "\t".join(("stage (ms)", "last", "median", "95 %"))
        rows = [
            "\t".join((stage.name, shown(each.last_ms), shown(each.median_ms), shown(each.high_ms)))
            for stage, each in zip(STAGES, self.summaries(), strict=True)
        ]
        turns = [
            "\t".join((f"turn {turn.turn}", *(shown(ms) for ms in turn.stages_ms)))
            for turn in self.turns
        ]
        names = "\t".join(("turn", *(stage.name for stage in STAGES)))
        return "\n".join((head, *rows, "", names, *turns)) + "\n"


def stages(metrics: TurnMetrics) -> tuple[float | None, ...]:
    """A turn's times in the order of STAGES."""
    return tuple(getattr(metrics, stage.field) for stage in STAGES)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` % of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def shown(ms: float | None) -> str:
    return "–" if ms is None else f"{ms:.0f}"  # noqa: RUF001 - a dash for what there is not


def _summary(column: Sequence[float | None]) -> Summary:
    values = [ms for ms in column if ms is not None]
    if not values:
        return Summary(None, None, None)
    return Summary(column[-1], statistics.median(values), percentile(values, 95))


# In the order of STAGES.
_COLOURS = ("control", "listening", "thinking", "muted", "success", "accent")
_COLUMNS = (mark("last"), mark("median"), mark("95 %"))
_ROW = 24  # logical pixels, like all sizes here
_BAR = 10
_LEAST_SCALE_MS = 500.0  # so that a fast turn does not look slow


class LatencyDialog(QDialog):
    """Not modal; keeps updating while the person talks."""

    def __init__(self, times: TurnTimes, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._times = times
        self.setWindowTitle(tr("Answer times"))
        self.setModal(False)
        self.resize(in_lines(self, 440, 560))
        self.bars = Bars(theme, self)
        area = Scrolled(self.bars, self)
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the keys scroll it
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        area.setProperty("kind", "scrolled")
        area.setAccessibleName(tr("The last turns"))
        clipboard = QGuiApplication.clipboard()
        copy = tr("&Copy as text")
        self.copy = button(copy, self, lambda: clipboard.setText(times.as_text()))
        none_yet = tr("No turn yet. Ask something, then look again.")
        self.none_yet = Label(none_yet, self, kind="muted")
        self._cells: list[list[Label]] = []
        how = tr("Milliseconds after you stopped speaking; 0 is what was ready before you did.")
        explained = WrappingLabel(how, self, kind="muted", size=0.92)
        parts = (explained, self._table(theme), self.none_yet, wide(area), row(Spring(), self.copy))
        column(*parts, on=self, margins=(22, 18, 22, 18), spacing=12)
        self._show()

    def on_event(self, event: Event) -> None:
        """Called after TurnTimes has handled the event."""
        if isinstance(event, TurnEnded):
            self._show()

    def open_beside(self) -> None:
        """Show it, or bring it to the front if it is shown already."""
        self._show()
        bring_to_front(self)

    def cell(self, stage: int, column: int) -> str:
        """The text of a table cell; `column` is 0 for the last turn, 1 for the median, 2 for the
        95th percentile."""
        return self._cells[stage][column].text()

    def _show(self) -> None:
        for stage, cells, summary in zip(STAGES, self._cells, self._times.summaries(), strict=True):
            values = (summary.last_ms, summary.median_ms, summary.high_ms)
            for label, title, value in zip(cells, _COLUMNS, values, strict=True):
                label.setText(shown(value))
                label.setAccessibleName(
                    tr(
                        "{name}, {column}: {text} milliseconds",
                        name=tr(stage.name),
                        column=tr(title),
                        text=label.text(),
                    )
                )
        turns = tuple(reversed(self._times.turns))
        self.bars.show_turns(turns)
        self.none_yet.setVisible(not turns)
        self.copy.setEnabled(bool(turns))

    def _table(self, theme: Theme) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(1, 1)
        right = Qt.AlignmentFlag.AlignRight
        for number, title in enumerate(_COLUMNS):
            grid.addWidget(Label(tr(title), self, kind="muted"), 0, number + 2, right)
        for line, (stage, colour) in enumerate(zip(STAGES, _COLOURS, strict=True), 1):
            grid.addWidget(_Swatch(colour, theme, self), line, 0)
            name = tr(stage.name)
            grid.addWidget(Label(name[:1].upper() + name[1:], self), line, 1)
            cells = [Label("", self, figures=True) for _ in _COLUMNS]
            for number, label in enumerate(cells):
                grid.addWidget(label, line, number + 2, right)
            self._cells.append(cells)
        return grid


class Bars(QWidget):
    """One line for each turn, newest on top: its number, its stages as a bar, its total."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._turns: tuple[TurnTime, ...] = ()
        self.setAccessibleName(tr("A bar for each of the last turns"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_turns(self, turns: tuple[TurnTime, ...]) -> None:
        """Newest first."""
        self._turns = turns
        self.setAccessibleDescription(
            "; ".join(
                tr(
                    "turn {turn}: {seconds} seconds",
                    turn=turn.turn,
                    seconds=decimal(turn.total_ms / 1000, 2),
                )
                for turn in turns
            )
        )
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, _ROW * len(self._turns))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, _ROW * len(self._turns))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = scaled(self.font(), 0.9, figures=True)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        left = metrics.horizontalAdvance(tr("turn {turn}", turn="000")) + 10
        right = self.width() - metrics.horizontalAdvance("00.00 s") - 10
        longest_ms = max([_LEAST_SCALE_MS, *(turn.total_ms for turn in self._turns)])
        for number, turn in enumerate(self._turns):
            line = QRectF(0, number * _ROW, self.width(), _ROW)
            self._paint_words(painter, line, turn)
            track = QRectF(left, line.center().y() - _BAR / 2, right - left, _BAR)
            self._paint_bar(painter, track, turn, longest_ms)
        painter.end()

    def _paint_words(self, painter: QPainter, line: QRectF, turn: TurnTime) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(self._theme.colour("muted"))
        painter.drawText(line, middle, tr("turn {turn}", turn=turn.turn))
        painter.setPen(self._theme.colour("text"))
        total = f"{decimal(turn.total_ms / 1000, 2)} s"
        painter.drawText(line, middle | Qt.AlignmentFlag.AlignRight, total)

    def _paint_bar(
        self, painter: QPainter, track: QRectF, turn: TurnTime, longest_ms: float
    ) -> None:
        """Paint each stage from where the previous one ended."""
        painter.setPen(Qt.PenStyle.NoPen)
        reached_ms = 0.0
        for ms, colour in zip(turn.stages_ms, _COLOURS, strict=True):
            if ms is None or ms <= reached_ms:
                continue
            start = track.left() + track.width() * reached_ms / longest_ms
            width = track.width() * (ms - reached_ms) / longest_ms
            painter.setBrush(self._theme.colour(colour))
            painter.drawRect(QRectF(start, track.top(), max(1.0, width), track.height()))
            reached_ms = ms


class _Swatch(QWidget):
    """The colour of a stage in the bars."""

    def __init__(self, colour: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._colour = colour
        self._theme = theme
        self.setFixedSize(12, 12)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour(self._colour))
        painter.drawRoundedRect(QRectF(self.rect()), 3, 3)
        painter.end()
