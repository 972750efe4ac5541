"""Learning a voice from a recording: the process, a line with its state, and a final choice by ear.

Invariant: the engine's list says which voices are to be learnt, so learning continues after the
next start of the program. One voice is learnt at a time. Only the person's choice changes the voice
that speaks.
"""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from app.background_job import BackgroundJob, texts_of
from app.bridge import Post
from app.language import tr
from app.look.controls import button
from app.look.label import WrappingLabel
from app.look.layout import LEFT, MIDDLE, column, placed, row, wide
from app.look.plain_text import one_line
from engine import api

_Lesson = tuple[str, str | None]  # recording and words: another one is another job


class Learning(QObject):
    """The process that learns.

    Signals:
        changed: the state of a voice has changed.
    """

    changed = Signal()

    def __init__(self, post: Post, parent: QObject) -> None:
        super().__init__(parent)
        self._post = post
        self._lesson: _Lesson | None = None  # None = nothing is learnt
        self.name = ""  # of the voice that is learnt now, which can change meanwhile; empty = none
        self._began_as = ""  # its name for the job
        self._over: set[_Lesson] = set()  # a job ended, and the engine has not answered yet
        self._percent = 0
        self._said: dict[str, str] = {}  # by name, how it ended
        self.waiting: list[str] = []  # names of voices that wait for a choice
        self._job = BackgroundJob(self, reported=self._on_report, ended=self._on_ended)

    def state_of(self, name: str) -> str:
        """Return a sentence on the learning of a voice; empty if there is none."""
        shown = one_line(name)
        if name and name == self.name:
            return tr("{name} is being learnt: {percent} %", name=shown, percent=self._percent)
        return self._said.get(name, "")

    def forget(self, name: str) -> None:
        """Forget the result of a voice, because the person has read it."""
        self._said.pop(name, None)
        self.changed.emit()

    @property
    def newest(self) -> str:
        """The newest voice with a learning state; empty if there is none."""
        return self.name or next(reversed(self._said), "") or next(iter(self.waiting), "")

    def on_event(self, event: api.Event) -> None:
        if isinstance(event, api.VoicesListed):
            self._follow(event.voices)
            self.changed.emit()

    def cancel(self) -> None:
        """Stop learning a voice; its blend stays."""
        if self._lesson is not None:
            self._post(api.LearnVoice(self.name, on=False))
            self._over.add(self._lesson)
            self._end()

    def _follow(self, voices: Sequence[api.VoiceEntry]) -> None:
        self.waiting = [each.name for each in voices if each.fit is not None]
        lessons = {
            (each.recording, each.words): each.name
            for each in voices
            if each.words is not None and each.fit is None
        }
        self._over &= lessons.keys()
        if self._lesson is not None and self._lesson not in lessons:
            self._end()
        elif self._lesson is not None:
            self.name = lessons[self._lesson]
        for lesson, name in lessons.items():
            if self._lesson is None and lesson not in self._over:
                self._begin(lesson, name)

    def _begin(self, lesson: _Lesson, name: str) -> None:
        self._lesson, self.name, self._began_as, self._percent = lesson, name, name, 0
        self._said.pop(name, None)
        self._job.start("voices", "learn", "--json", f"--text={lesson[1]}", "--", name)

    def _end(self) -> None:
        self._lesson, self.name = None, ""
        self._job.end()
        self.changed.emit()

    def _on_report(self, line: dict[str, Any]) -> None:
        if isinstance(part := line.get("part"), float | int):
            self._percent = round(100 * part)
            self.changed.emit()

    def _on_ended(self, document: dict[str, Any] | None) -> None:
        if self._lesson is None:
            return
        lesson, name, shown = self._lesson, self.name, one_line(self.name)
        if document is not None and document.get("file") is None and name != self._began_as:
            self._begin(lesson, name)  # the job may not have found the former name
            return
        self._over.add(lesson)
        self._lesson, self.name = None, ""
        said = " ".join(texts_of(document)).strip()
        if document is None:
            said = tr("Learning {name} broke off. It goes on after the next start.", name=shown)
        elif document.get("file") is None:
            said = tr("{name} stays a blend. {reason}", name=shown, reason=said)
            self._post(api.LearnVoice(name, on=False))
        if said:
            self._said[name] = said
        self._post(api.ListVoices())
        self.changed.emit()


class HearButton(QPushButton):
    """Plays the preview that `wanted` returns, or stops it."""

    def __init__(self, post: Post, wanted: Callable[[], api.PreviewVoice], parent: QWidget) -> None:
        super().__init__(tr("Hear"), parent)
        self.is_playing = False
        self.clicked.connect(lambda: post(api.StopPreview() if self.is_playing else wanted()))

    def show_preview(self, state: api.PreviewState) -> None:
        """Show the state of the preview."""
        self.is_playing = state is not api.PreviewState.OVER
        waits = state is api.PreviewState.WAITING
        self.setText((tr("Waits") if waits else tr("Stop")) if self.is_playing else tr("Hear"))
        self.setToolTip(tr("It plays once the reply is over") if waits else "")


class LearningLine(QWidget):
    """The state of one voice, with a button for its next action. `name` empty = the newest voice.
    `choose` opens the choice by ear; None = the choice is beside the line.
    """

    def __init__(
        self,
        learning: Learning,
        parent: QWidget,
        name: str = "",
        choose: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(parent)
        self.learning = learning
        self._own = name
        self._choose = choose
        self.said = WrappingLabel("", self, size=0.9, figures=True)
        self.act = button("", self, self._on_act)
        row(wide(self.said), placed(MIDDLE, self.act), on=self, spacing=8)
        learning.changed.connect(self._show)
        self._show()

    @property
    def _name(self) -> str:
        return self._own or self.learning.newest

    def _show(self) -> None:
        name, learning = self._name, self.learning
        said = learning.state_of(name)
        self._waits = self._choose is not None and name in learning.waiting
        if self._waits:
            done = tr("{name} has been learnt. Choose by ear.", name=one_line(name))
            said = f"{done} {said}".strip()
        running = name == learning.name
        self.act.setText(tr("&Choose…") if self._waits else tr("Cancel") if running else tr("Hide"))
        self.said.setText(said)
        self.setVisible(bool(said))

    def _on_act(self) -> None:
        if self._waits and self._choose is not None:
            self._choose()
        elif self._name == self.learning.name:
            self.learning.cancel()
        else:
            self.learning.forget(self._name)


class ChoiceByEar(QWidget):
    """The choice between a learnt voice, its blend and the nearest stock voice. The person hears
    each and keeps one. `text` returns the sentence to speak; empty = the fixed sentence.
    """

    def __init__(self, post: Post, text: Callable[[], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._text = text
        self._playing = ""  # a name or a path; empty = nothing
        self._queue: list[str] = []
        self._entry: api.VoiceEntry | None = None
        self.hear: dict[str, QPushButton] = {}  # by the name in a preview
        self.keep: dict[str, QPushButton] = {}
        self.hear_all = button(tr("Hear one after another"), self, self._on_hear_all)
        self._lines = QGridLayout()
        self._lines.setColumnStretch(0, 1)
        column(self._lines, placed(LEFT, self.hear_all), on=self, spacing=6)
        self.hide()

    def show_entry(self, entry: api.VoiceEntry) -> None:
        """Offer the choice if the voice has been learnt."""
        self.setVisible(entry.fit is not None)
        stock, names = entry.nearest, (entry.nearest, entry.name, str(entry.fit))
        before, self._entry = self._entry, entry
        if entry.fit is None or (
            before and names == (before.nearest, before.name, str(before.fit))
        ):
            return
        self._clear()
        kinds = (
            tr("{name}, a stock voice", name=one_line(stock)),
            tr("a blend like your recording"),
            tr("learnt from your recording"),
        )
        for name, words in zip(names, kinds, strict=True):
            if name:  # the nearest one is not known of an older blend
                self._add(name, words)

    def show_preview(self, name: str, state: api.PreviewState) -> None:
        """Show the state of a preview. When it ends, start the next one of the queue."""
        over = state is api.PreviewState.OVER
        if over and name == self._playing:
            self._playing = ""
            if self._queue:
                self._play(self._queue.pop(0))
        elif not over:
            self._playing = name if name in self.hear else ""
        for each, hear in self.hear.items():
            hear.setText(tr("Stop") if each == self._playing else tr("Hear"))

    def hideEvent(self, event: QHideEvent) -> None:
        """Clear the queue, so that no preview follows the current one."""
        super().hideEvent(event)
        self._queue.clear()

    def _clear(self) -> None:
        for each in (*self.hear.values(), *self.keep.values()):
            each.deleteLater()
        self.hear, self.keep = {}, {}
        while (item := self._lines.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()

    def _add(self, name: str, words: str) -> None:
        line = self._lines.rowCount()
        hear = button(tr("Hear"), self, lambda: self._on_hear(name))
        keep = button(tr("Keep this one"), self, lambda: self._on_keep(name))
        for each in (hear, keep):
            each.setAccessibleDescription(words)
        for place, widget in enumerate((WrappingLabel(words, self), hear, keep)):
            self._lines.addWidget(widget, line, place)
        self.hear[name], self.keep[name] = hear, keep

    def _play(self, name: str) -> None:
        self._playing = name
        self._post(api.PreviewVoice(name, self._text()))

    def _on_hear(self, name: str) -> None:
        self._queue.clear()
        if name == self._playing:
            self._post(api.StopPreview())
        else:
            self._play(name)

    def _on_hear_all(self) -> None:
        if self._playing:
            self._on_hear(self._playing)
            return
        first, *self._queue = self.hear
        self._play(first)

    def _on_keep(self, name: str) -> None:
        entry = self._entry
        assert entry is not None, "the choice is shown"
        learnt = name == str(entry.fit)
        self._post(api.ChooseLearnt(entry.name, learnt=learnt))
        self._post(api.ChangeSetting(api.SettingKey.VOICE, entry.name if learnt else name))
