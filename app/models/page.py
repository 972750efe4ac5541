"""The page of models: the recommended ones, all others, and ways to add more.

Invariant: it shows what the engine has listed, and asks for the list whenever it is opened. Only
then are servers looked for, and only on this machine. Every button says how much it would fetch
before it fetches anything.
"""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QWidget

from app.bridge import Post
from app.language import mark, tr
from app.look.controls import Progress, button
from app.look.file_dialogs import ask_for
from app.look.label import Label, WrappingLabel
from app.look.layout import Spring, column, fill, row
from app.look.page import Page, Returning, take_away
from app.look.theme import Theme
from app.models.row import KINDS, ModelRow, size_of
from engine import api

_ABOUT = mark(
    "What Rubato listens, thinks and speaks with. Nothing is fetched before you press a button that"
    " says how much it is."
)
_PARTS = mark("Parts of a voice")
_MOST_DROPPED = 20


class RecommendedCard(QFrame):
    """The card on top: what fits this machine, its sizes, and a button that fetches and uses it."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._post = post
        self._shown = api.Recommendation()
        self._going: dict[str, api.ModelProgress] = {}
        title = Label(tr("Recommended for this computer"), self, strong=True)
        self.machine = WrappingLabel("", self, kind="muted", size=0.92, figures=True)
        self.text = WrappingLabel("", self, size=0.92, figures=True)
        self.warning = WrappingLabel("", self, kind="danger", size=0.92, figures=True)
        for label in (self.machine, self.text, self.warning):
            label.take_any_width()
        self.bar = Progress(theme, self)
        self.act = button("", self, self._on_act)
        parts = (title, self.machine, self.text, self.warning, self.bar, 4)
        column(*parts, row(self.act, Spring()), on=self, margins=(14, 12, 12, 12), spacing=4)
        self.show_recommendation(api.Recommendation(text=tr("Looking at this computer…")), "")

    def show_recommendation(self, recommendation: api.Recommendation, machine: str) -> None:
        self._shown = recommendation
        self.machine.setText(machine)
        self.text.setText(recommendation.text)
        self.warning.say(recommendation.warning)
        self._show_action()

    def on_event(self, event: api.ModelEvent) -> None:
        match event:
            case api.ModelProgress(name=name, activity=activity):
                if name in self._shown.names and activity is not api.Activity.VERIFYING:
                    self._going[name] = event
            case api.ModelSettled(name=name):
                self._going.pop(name, None)
            case _:
                return
        self._show_action()

    def _show_action(self) -> None:
        shown, going = self._shown, list(self._going.values())
        total = sum(each.total_bytes for each in going)
        done = sum(each.done_bytes for each in going)
        self.bar.show_share(done / total if total else None)
        self.bar.setVisible(bool(going))
        if going:
            self.act.setText(tr("Pause"))
        elif shown.in_use:
            self.act.setText(tr("In use"))
        else:
            fetch = (
                tr("Fetch {size} and use", size=size_of(shown.megabytes))
                if shown.megabytes
                else tr("Use")
            )
            self.act.setText(fetch)
        self.act.setEnabled(bool(going) or (bool(shown.names) and not shown.in_use))
        self.act.setAccessibleName(
            tr("{action}: recommended for this computer", action=self.act.text())
        )

    def _on_act(self) -> None:
        if self._going:
            for name in tuple(self._going):
                self._post(api.PauseFetch(name))
        else:
            self._post(api.FetchRecommended())


class ModelsPage(Page):
    """Not modal; fetches go on when it is closed."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Models"), tr(_ABOUT), parent)
        self._post = post
        self._theme = theme
        self.rows: dict[str, ModelRow] = {}
        self.recommended = RecommendedCard(post, theme, self)
        kinds = QFileDialog.FileMode
        self.add_file = button(tr("Add a &file…"), self, lambda: self.choose(kinds.ExistingFile))
        self.add_folder = button(tr("Add a f&older…"), self, lambda: self.choose(kinds.Directory))
        self.look = button(
            tr("Look for &servers"), self, lambda: post(api.ListModels(servers=True))
        )
        self.add_file.setToolTip(tr("A GGUF file of your own; it stays where it is"))
        self.add_folder.setToolTip(tr("A folder with GGUF files or with a converted Whisper model"))
        self.look.setToolTip(tr("Ollama, LM Studio and llama-server on this computer"))
        fill(self.foot, self.add_file, self.add_folder, self.look, Spring())
        self.body.addWidget(self.recommended)
        self._headings = {kind: self._heading(title) for kind, title in KINDS.items()}
        self._parts = self._heading(_PARTS)
        self.body.addStretch(1)
        self.setAcceptDrops(True)
        # `rubato models`, or another program that uses these files, may have changed them meanwhile
        Returning(self).returned.connect(lambda: post(api.ListModels()))

    def open_beside(self) -> None:
        self._post(api.ListModels(servers=True))
        super().open_beside()

    def on_event(self, event: api.Event) -> None:
        match event:
            case api.ModelsListed(entries, recommendation, machine):
                self._show_list(entries)
                self.recommended.show_recommendation(recommendation, machine)
            case api.ModelProgress(name=name):
                self.recommended.on_event(event)
                if name in self.rows:
                    self.rows[name].show_progress(event)
            case api.ModelSettled(name=name):
                self.recommended.on_event(event)
                if name in self.rows:
                    self.rows[name].show_settled(event)

    def choose(self, mode: QFileDialog.FileMode) -> QFileDialog:
        """Ask for a file or folder in a dialog that does not block the program."""
        filters = tr("Language models (*.gguf);;All files (*)")
        return ask_for(self, tr("Add a model"), self._add, filters=filters, mode=mode)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files and folders may be dropped anywhere on the page."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
        for url in urls[:_MOST_DROPPED]:
            self._add(Path(url.toLocalFile()))

    def _add(self, path: Path) -> None:
        self._post(api.AddModel(path))

    def _show_list(self, entries: Sequence[api.ModelEntry]) -> None:
        """Show the list grouped by kind; rows that stay keep their texts."""
        before, self.rows = self.rows, {}
        for entry in entries:
            row = before.pop(entry.name, None) or ModelRow(entry, self._post, self._theme, self)
            row.show_entry(entry)
            self.rows[entry.name] = row
        for row in before.values():
            take_away(row, self.body)
        place = self.body.indexOf(self.recommended) + 1
        for kind, heading in (*self._headings.items(), ("", self._parts)):
            kinds = {kind} if kind else {each.entry.kind for each in self.rows.values()} - {*KINDS}
            rows = [each for each in self.rows.values() if each.entry.kind in kinds]
            heading.setVisible(bool(rows))
            for widget in (heading, *rows):
                self.body.insertWidget(place, widget)
                place = self.body.indexOf(widget) + 1

    def _heading(self, title: str) -> Label:
        heading = Label(tr(title), self, strong=True)
        heading.hide()
        self.body.addWidget(heading)
        return heading


class Models:
    """Makes the page only when it is opened for the first time, so that the window opens sooner."""

    def __init__(self, post: Post, theme: Theme, window: QWidget) -> None:
        self._made = (post, theme, window)
        self._page: ModelsPage | None = None  # None = never opened

    def open(self) -> ModelsPage:
        """Show the page, in front."""
        if self._page is None:
            self._page = ModelsPage(*self._made)
        self._page.open_beside()
        return self._page

    def on_event(self, event: api.Event) -> None:
        if self._page is not None:
            self._page.on_event(event)
