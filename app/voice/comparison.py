"""The page that compares the systems: each of them speaks the same text and is measured, one after
the other.

Invariant: a separate process speaks and measures, so the conversation is not slowed. While it is
audible, the assistant ignores the microphone.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from app.background_job import BackgroundJob, texts_of
from app.bridge import Post
from app.language import decimal, mark, tr, translated
from app.look.controls import button
from app.look.label import Label, WrappingLabel
from app.look.layout import Spring, card, fill
from app.look.page import Page
from app.look.plain_text import one_line
from engine import api
from engine.api import Compared, ComparisonState

_ABOUT = mark(
    "One text by every system, word by word, as from a language model. The times count what the"
    " processor spent, so other programs do not matter."
)
_COLUMNS = (mark("first sound"), mark("words before it"), mark("processor"), mark("syllables/s"))
_STATES = {
    ComparisonState.LOADING: mark("loading…"),
    ComparisonState.SPEAKING: mark("speaking…"),
    ComparisonState.ABSENT: mark("not here"),
}
Form = Callable[[str], str]


class ComparisonPage(Page):
    """The page that speaks one text by every system; not modal."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(tr("Compare voices"), tr(_ABOUT), parent)
        self._post = post
        self._job = BackgroundJob(self, reported=self._on_report, ended=self._on_ended)
        self.text = QLineEdit(api.preview_sentence(), self)
        self.text.setMaxLength(1_000)
        self.text.setAccessibleName(tr("What they say"))
        self.aloud = QCheckBox(tr("&Play them"), self)
        self.aloud.setChecked(True)
        self.notice = WrappingLabel("", self)
        self.notice.hide()
        self.table = Table(self)
        self.act = button("", self, self._on_act)
        fill(self.head, self.text, self.aloud, self.notice)
        self._around = card(self, self.table)
        fill(self.body, self._around, Spring())
        fill(self.foot, self.act, Spring())
        self._show()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the comparison when the page is closed."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._stop()

    def _on_act(self) -> None:
        if self._job.is_under_way:
            self._stop()
            return
        old, self.table = self.table, Table(self)
        layout = self._around.layout()
        assert layout is not None
        layout.replaceWidget(old, self.table)
        old.deleteLater()
        self.notice.say("")
        aloud = ("--aloud",) if self.aloud.isChecked() else ()
        if aloud:
            self._post(api.Comparing(True))
        self._job.start("compare", "--json", *aloud, "--", self.text.text())
        self._show()

    def _stop(self) -> None:
        if self._job.is_under_way:
            self._job.end()
            self._over()

    def _on_report(self, line: dict[str, Any]) -> None:
        try:
            result = Compared.of(line.get("row"))
        except ValueError:
            return  # the line of another command
        self.table.show_row(result)

    def _on_ended(self, document: dict[str, Any] | None) -> None:
        self._over()
        if document is None:
            self.notice.say(tr("The comparison ended too early."))
        elif texts := texts_of(document):
            self.notice.say(" ".join(texts).strip())

    def _over(self) -> None:
        self._post(api.Comparing(False))
        self._show()

    def _show(self) -> None:
        runs = self._job.is_under_way
        self.act.setText(tr("&Stop") if runs else tr("&Speak"))
        for each in (self.text, self.aloud):
            each.setEnabled(not runs)


class Line(NamedTuple):
    """The labels of a system."""

    title: WrappingLabel
    figures: list[Label]
    note: WrappingLabel


class Table(QWidget):
    """A line for each system: its name and figures so far, and below them a note."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines: dict[str, Line] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setColumnStretch(0, 1)
        for place, title in enumerate(_COLUMNS, 1):
            heading = WrappingLabel(tr(title), self, kind="muted", size=0.9)
            heading.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
            self._grid.addWidget(heading, 0, place)

    def show_row(self, result: Compared) -> None:
        """Show the results of a system, in a new row or in its old one."""
        line = self.lines.get(result.name) or self._add(result.name)
        name = one_line(result.title)
        line.title.setText(f"{name} · {one_line(result.voice)}" if result.voice else name)
        for label, column, text in zip(line.figures, _COLUMNS, figures(result), strict=True):
            label.setText(text)
            label.setAccessibleName(f"{name}, {tr(column)}: {text}" if text else "")
        line.note.say(translated(result.note) or tr(_STATES.get(result.state, "")))

    def _add(self, name: str) -> Line:
        place = 1 + 2 * len(self.lines)
        title = WrappingLabel("", self, strong=True)
        note = WrappingLabel("", self, kind="muted", size=0.9)
        line = Line(title, [Label("", self, figures=True) for _ in _COLUMNS], note)
        self._grid.addWidget(title, place, 0)
        for number, figure in enumerate(line.figures, 1):
            self._grid.addWidget(figure, place, number, Qt.AlignmentFlag.AlignRight)
        self._grid.addWidget(note, place + 1, 0, 1, 1 + len(_COLUMNS))
        self.lines[name] = line
        return line


def figures(result: Compared) -> tuple[str, ...]:
    """Format the results in the order of the columns; empty = not known yet."""

    def known(value: float | None, places: int, form: Form = lambda written: written) -> str:
        return "" if value is None else form(decimal(value, places))

    share = None if result.share is None else 100 * result.share
    return (
        known(result.first_sound_ms, 0, lambda written: tr("{value} ms", value=written)),
        known(result.words_before, 0),
        known(share, 0, lambda written: tr("{value} %", value=written)),
        known(result.rate, 1),
    )
