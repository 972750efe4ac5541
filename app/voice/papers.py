"""The voices of the papers: the systems whose small packs come with the program, on the page of
voices.

Invariant: it shows what the engine has listed; using a system is using its voices.
"""

from PySide6.QtWidgets import QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.label import Label
from app.look.layout import column
from app.look.theme import Theme
from app.models.row import ModelRow
from engine import api

# The built-in voice is a small VoXtream2.
NAMES = ("starter", *(system.name for system in api.SYSTEMS))


class Papers(QWidget):
    """A row for each system, as on the page of models."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._made = (post, theme, self)
        self.rows: dict[str, ModelRow] = {}
        self._list = column(Label(tr("Voices of the papers"), self, strong=True), on=self)
        self._list.setSpacing(8)
        self.hide()

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
        self.setVisible(bool(self.rows))
