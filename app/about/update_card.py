"""The part of the page about updates: check, see what changes, install, and whether to check
weekly.

Invariant: it shows the state of Updates and decides nothing; closing the page loses nothing.
"""

from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.about.updates import LOOK_KEY, WEEKLY, WHEN_ASKED, Stage, Updates
from app.language.words import tr
from app.look.label import Label
from app.look.progress import Progress
from app.look.switch import Switch
from app.look.theme import Theme

_STOPPABLE = (Stage.WAITING, Stage.INSTALLING)
_BUSY = (Stage.LOOKING, Stage.WAITING, Stage.INSTALLING, Stage.INSTALLED)
_MOST = 1200  # characters of the changes; the rest is in the notes of the release


class UpdateCard(QWidget):
    """`change` changes a setting; `is_weekly` is the current one."""

    def __init__(
        self,
        updates: Updates,
        change: Callable[[str, str], None],
        theme: Theme,
        parent: QWidget,
        *,
        is_weekly: bool,
    ) -> None:
        super().__init__(parent)
        self._updates = updates
        self.act = QPushButton("", self)
        self.act.clicked.connect(self._on_act)
        self.cancel = QPushButton(tr("&Cancel"), self)
        self.cancel.clicked.connect(updates.cancel)
        self.bar = Progress(theme, self)
        self.words = _muted(self)
        self.changes = _muted(self)
        self.weekly = Switch(tr("Look once a &week"), theme, self)
        self.weekly.setChecked(is_weekly)
        self.weekly.toggled.connect(lambda on: change(LOOK_KEY, WEEKLY if on else WHEN_ASKED))
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.act)
        row.addWidget(self.cancel)
        row.addWidget(self.words, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self.bar)
        column.addWidget(self.changes)
        column.addWidget(self.weekly)
        updates.changed.connect(self._show)
        self._show()

    def _on_act(self) -> None:
        if self._updates.stage is Stage.OFFERED:
            self._updates.take()
        else:
            self._updates.look()

    def _show(self) -> None:
        updates = self._updates
        is_offered = updates.stage is Stage.OFFERED
        self.act.setText(tr("&Install") if is_offered else tr("Look for &updates"))
        self.act.setEnabled(updates.stage not in _BUSY)
        self.cancel.setVisible(updates.stage in _STOPPABLE)
        self.bar.setVisible(updates.stage is Stage.INSTALLING)
        self.bar.show_share(updates.share)
        self.words.setText(updates.words)
        self.changes.setText(updates.changes[:_MOST])
        self.changes.setVisible(bool(updates.changes))


def _muted(parent: QWidget) -> Label:
    label = Label("", parent)
    label.setWordWrap(True)
    label.setProperty("kind", "muted")
    return label
