"""What stands in the settings dialog and is no setting: starting at login, teaching the wake phrase
to this computer, and where the server is.

Invariant: each shows what is true, not what was asked for: the system says whether it starts
Rubato, the engine which phrase is in force, and the server where it is. Teaching is a process of
its own, which goes on when the page is closed; the phrase is found as before until it has ended
well.
"""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QWidget

from app.background_job import BackgroundJob, texts_of
from app.devices import Devices
from app.language import mark, tr
from app.look.controls import Progress, button
from app.look.label import WrappingLabel
from app.look.layout import LEFT, column, placed
from app.look.plain_text import one_line
from app.look.theme import Theme
from app.presence import autostart
from app.presence.server import Server
from app.settings.fields import SettingRow
from app.settings.form import Field
from engine.api import Event, Failed, Notice, is_wake_phrase_taught, settings

_FIELD = Field(
    "",
    settings.Flag(),
    settings.Shown(
        mark("Start at login"), help=mark("Without its window, so that the talk key works.")
    ),
)


class LoginRow(SettingRow):
    """A switch like those of the settings, read each time it becomes visible: the person may have
    changed it elsewhere. `fault` says why it could not be changed.
    """

    def __init__(self, theme: Theme, devices: Devices, parent: QWidget) -> None:
        super().__init__(_FIELD, theme, devices, parent)
        self.fault = WrappingLabel("", self)
        self.fault.hide()
        self.column.addWidget(self.fault)
        self.editor.edited.connect(self._on_edited)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.editor.show_value(autostart.is_on())

    def _on_edited(self, on: object) -> None:
        self.fault.say("")
        try:
            autostart.turn(bool(on))
        except OSError as error:
            reason = error.strerror or error
            self.fault.say(tr("The system did not allow it: {error}.", error=reason))
        self.editor.show_value(autostart.is_on())


class Lesson(QWidget):
    """`phrase` is in force; `command` starts Rubato (None: the way this one was started).

    Signals:
        taught(phrase): it is known from now on.
        noted(event): what came of a lesson while this was not on the screen.
    """

    taught = Signal(str)
    noted = Signal(object)

    def __init__(
        self, phrase: str, theme: Theme, parent: QWidget, command: Sequence[str] | None = None
    ) -> None:
        super().__init__(parent)
        self._phrase = phrase
        self._learning = ""  # what is being taught; empty = nothing
        self._fault = ""  # of the last lesson
        self._job = BackgroundJob(self, command)
        self._job.told.connect(self._on_told)
        self._job.ended.connect(self._on_ended)
        self.act = button("", self, self._on_act)
        self.bar = Progress(theme, self)
        self.words = WrappingLabel("", self, size=0.88)
        column(placed(LEFT, self.act), self.bar, self.words, on=self, spacing=8)
        self._show()

    def show_phrase(self, phrase: str) -> None:
        """This phrase is in force now."""
        if phrase != self._phrase:
            self._phrase, self._fault = phrase, ""
        self._show()

    def end(self) -> None:
        """The program ends, and the lesson with it."""
        self._job.end()

    def showEvent(self, event: QShowEvent) -> None:
        """Look again: it may have been taught in a terminal."""
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

    def _on_told(self, line: dict[str, Any]) -> None:
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


class ServerRow(QWidget):
    """Where a server is, who is connected, and its token, which is never on the screen, only
    copied.
    """

    def __init__(self, server: Server, parent: QWidget) -> None:
        super().__init__(parent)
        self._server = server
        self.words = WrappingLabel("", self)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = button(tr("&Copy the token"), self, self._on_copy)
        column(self.words, placed(LEFT, self.copy), on=self, spacing=8)
        server.changed.connect(self._show)
        self._show()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._server.token)

    def _show(self) -> None:
        self.words.say(self._server.state, kind="danger" if self._server.fault else "muted")
        self.copy.setVisible(bool(self._server.token))
