"""New versions, for the window: it checks when asked, or weekly if allowed, and installs between
replies.

Invariant: no server is asked before the person asked for it or allowed it. Nothing is started
during a turn, and the result of what was started is shown here, whether or not the page is open.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.background_job import BackgroundJob
from app.language.engine_texts import said
from app.language.words import mark, tr
from engine.api import Event, Part, Phase, PhaseChanged, Ready, Settings

LOOK_KEY = "updates.look"
WEEKLY, WHEN_ASKED = "weekly", "when asked"


class Stage(Enum):
    """How far it is."""

    UNKNOWN = "unknown"  # nobody has checked
    LOOKING = "looking"
    SETTLED = "settled"  # there is none, or it cannot be installed here
    OFFERED = "offered"
    WAITING = "waiting"  # for the turn to end
    INSTALLING = "installing"
    INSTALLED = "installed"
    FAILED = "failed"


class Updates(QObject):
    """`show` displays what a weekly check found, in one line. `command` starts Rubato (None: the
    way this one was started).

    Signals:
        changed: there is something new to show.
    """

    changed = Signal()

    def __init__(
        self,
        settings: Settings,
        show: Callable[[str], None],
        parent: QObject,
        command: Sequence[str] | None = None,
    ) -> None:
        super().__init__(parent)
        self._is_weekly = settings.updates.look == WEEKLY
        self._show = show
        self._is_quiet = True
        self._of_itself = False  # it is a weekly check: nobody waits for its result
        self._job = BackgroundJob(self, command)
        self._job.ended.connect(self._on_ended)
        self._job.told.connect(self._on_told)
        self.stage = Stage.UNKNOWN
        self.words = tr("Nothing is sent before you press this.")
        self.version = ""
        self.changes = ""
        self.share = 0.0  # of the installation that is under way, 0 to 1

    def on_event(self, event: Event) -> None:
        match event:
            case PhaseChanged(phase=phase):
                self._is_quiet = phase is Phase.IDLE
                if self._is_quiet and self.stage is Stage.WAITING:
                    self._install()
            case Ready(part=Part.SYNTHESISER) if self._is_weekly:
                self._is_weekly = False  # once per start is enough
                self._of_itself = True
                self._go(Stage.LOOKING, "", "update", "--check", "--if-due", "--json")
            case _:
                pass

    def look(self) -> None:
        """Ask now."""
        self._of_itself = False
        words = tr("Looking…")
        self._go(Stage.LOOKING, words, "update", "--check", "--json")

    def take(self) -> None:
        """Install the offered version once no turn is under way."""
        if self.stage is not Stage.OFFERED:
            return
        if self._is_quiet:
            self._install()
        else:
            self._settle(Stage.WAITING, tr("It is installed as soon as this reply is over."))

    def _install(self) -> None:
        words = tr("Installing {version}; you can go on talking.", version=self.version)
        self._go(Stage.INSTALLING, words, "update", "--json")

    def cancel(self) -> None:
        """Stop waiting or installing; what was fetched is kept, and it can be taken later."""
        if self.stage is Stage.INSTALLING:
            self._job.end()
        if self.stage in (Stage.WAITING, Stage.INSTALLING):
            self._settle(Stage.OFFERED, tr(_OFFERED, version=self.version))

    def end(self) -> None:
        """The program ends: a running check or installation may be interrupted at any point."""
        self._job.end()

    def _go(self, stage: Stage, words: str, *command: str) -> None:
        if not self._job.is_under_way:
            self._settle(stage, words or self.words)
            self._job.start(*command)

    def _settle(self, stage: Stage, words: str) -> None:
        self.stage, self.words, self.share = stage, words, 0.0
        self.changed.emit()

    def _on_told(self, said: Any) -> None:
        part = said.get("part") if isinstance(said, dict) else None
        if self.stage is Stage.INSTALLING and isinstance(part, float):
            self.share = part
            self.changed.emit()

    def _on_ended(self, document: Any) -> None:
        told: Mapping[str, Any] = document if isinstance(document, dict) else {}
        self.version, self.changes = str(told.get("version", "")), str(told.get("changes", ""))
        state = str(told.get("state", ""))
        if self._of_itself and state != "offered":  # a weekly check reports only news
            self._settle(Stage.UNKNOWN, self.words)
        elif state == "offered":
            self._on_offered(can_install=bool(told.get("can_install")))
        elif state in _SENTENCES:
            stage, words = _SENTENCES[state]
            self._settle(stage, tr(words, version=self.version))
        else:
            reason = " ".join(said(str(told.get(each, ""))) for each in ("message", "hint")).strip()
            self._settle(Stage.FAILED, reason or tr(_NO_ANSWER))

    def _on_offered(self, *, can_install: bool) -> None:
        stage = Stage.OFFERED if can_install else Stage.SETTLED
        self._settle(stage, tr(_OFFERED if can_install else _ELSEWHERE, version=self.version))
        if self._of_itself:
            there = tr("Rubato {version} is available: More ▸ About Rubato.", version=self.version)
            self._show(there)


_OFFERED = mark("{version} is available.")
_ELSEWHERE = mark("{version} is available; update this copy the way you installed it.")
_NO_ANSWER = mark("The check failed. Run `rubato update --check` in a terminal.")
_SENTENCES = {
    "off": (Stage.SETTLED, mark("This copy has no source of updates, so nothing was checked.")),
    "current": (Stage.SETTLED, mark("This is the newest version.")),
    "installed": (Stage.INSTALLED, mark("{version} is used from the next start.")),
}
