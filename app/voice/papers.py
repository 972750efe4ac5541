"""The voices of the papers, on the page of voices: the systems whose small packs come with the
program, and the way to compare them.

Invariant: it shows what the engine has listed; using a system is using its voices.
"""

from PySide6.QtWidgets import QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.button import button
from app.look.label import WrappingLabel
from app.look.layout import column, row, wide
from app.look.theme import Theme
from app.models.row import ModelRow
from app.voice.comparison import ComparisonPage
from engine import api

# The built-in voice is a small VoXtream2.
NAMES = ("starter", *(system.name for system in api.SYSTEMS))


class Papers(QWidget):
    """A row for each system, as on the page of models."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._made = (post, theme, self)
        self.rows: dict[str, ModelRow] = {}
        self.comparison = ComparisonPage(post, self)
        self.compare = button(tr("Com&pare voices…"), self, self.comparison.open_beside)
        heading = WrappingLabel(tr("Voices of the papers"), self, strong=True)
        self._list = column(row(wide(heading), self.compare), on=self, spacing=8)

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.ModelsListed(entries):
                self._show_list({entry.name: entry for entry in entries})
            case api.ModelSettled(name=name) if name in self.rows:
                self.rows[name].show_settled(event)

    def _show_list(self, entries: dict[str, api.ModelEntry]) -> None:
        for name in NAMES:
            if name not in entries:
                continue
            if name not in self.rows:
                post, theme, parent = self._made
                self.rows[name] = ModelRow(entries[name], post, theme, parent)
                self._list.addWidget(self.rows[name])
            self.rows[name].show_entry(entries[name])
