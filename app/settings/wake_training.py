"""Training of the wake phrase on this computer, from the settings.

Invariant: the row shows the phrase that the engine reports, not a requested one. The training is a
separate process, which continues after the page is closed. The old model stays in use until the
training has succeeded.
"""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.background_job import BackgroundJob, texts_of
from app.language import tr
from app.look.controls import ProgressBar, button
from app.look.label import WrappingLabel
from app.look.layout import LEFT, column, placed
from app.look.plain_text import one_line
from app.look.theme import Theme
from engine.api import Event, Failed, Notice, is_wake_phrase_taught


class WakeTrainingRow(QWidget):
    """The row that trains `phrase`.

    Signals:
        taught(phrase): the training has succeeded; the phrase is recognised from now on.
        noted(event): the result of a training that ended while the row was not visible.
    """

    taught = Signal(str)
    noted = Signal(object)

    def __init__(self, phrase: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._phrase = phrase
        self._learning = ""  # what is being taught; empty = nothing
        self._fault = ""  # of the last lesson
        self._job = BackgroundJob(self, reported=self._on_report, ended=self._on_ended)
        self.act = button("", self, self._on_act)
        self.bar = ProgressBar(theme, self)
        self.words = WrappingLabel("", self, size=0.88)
        column(placed(LEFT, self.act), self.bar, self.words, on=self, spacing=8)
        self._show()

    def show_phrase(self, phrase: str) -> None:
        """Show the current wake phrase."""
        if phrase != self._phrase:
            self._phrase, self._fault = phrase, ""
        self._show()

    def end(self) -> None:
        """End a running training, because the program ends."""
        self._job.end()

    def showEvent(self, event: QShowEvent) -> None:
        """Read the state again, because `rubato wake` may have trained the phrase in a terminal."""
        super().showEvent(event)
        self._show()

    def _on_act(self) -> None:
        if self._learning:
            self._job.end()
            self._learning = ""
        else:
            self._learning, self._fault = self._phrase, ""
            self.bar.show_share(None)
            self._job.start("wake", "--json", "--", self._phrase)
        self._show()

    def _on_report(self, line: dict[str, Any]) -> None:
        if isinstance(part := line.get("part"), float):
            self.bar.show_share(part)

    def _on_ended(self, document: dict[str, Any] | None) -> None:
        phrase, self._learning = self._learning, ""
        ended_well = document is not None and "file" in document
        event: Event = Notice(_taught(phrase))
        if not ended_well:
            event = Failed("model", *(texts_of(document) or _broken_off(phrase)))
            self._fault = f"{event.message}\n{event.hint}"
        self._show()
        if not self.isVisible():
            self.noted.emit(event)
        if ended_well:
            self.taught.emit(phrase)

    def _show(self) -> None:
        knows = is_wake_phrase_taught(self._phrase)
        self.bar.setVisible(bool(self._learning))
        if self._learning:
            self.act.setText(tr("&Cancel"))
        else:
            self.act.setText(tr("&Teach again") if knows else tr("&Teach this computer"))
        kind = "danger" if self._fault else "muted"
        self.words.say(self._fault or self._state(knows=knows), kind=kind)

    def _state(self, *, knows: bool) -> str:
        if self._learning:
            phrase = one_line(self._learning)
            return tr("Teaching “{phrase}”; you can go on talking.", phrase=phrase)
        if knows:
            return _taught(self._phrase)
        return tr(
            "“{phrase}” is not taught yet: it is found less often. Teaching fetches 2 MB and takes"
            " some minutes; you can go on talking meanwhile.",
            phrase=one_line(self._phrase),
        )


def _taught(phrase: str) -> str:
    return tr("“{phrase}” was taught to this computer.", phrase=one_line(phrase))


def _broken_off(phrase: str) -> tuple[str, str]:
    message = tr("Teaching “{phrase}” ended too early.", phrase=one_line(phrase))
    return message, tr("Nothing was changed; try again.")
