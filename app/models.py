"""The page of models: the recommended ones, all others, and ways to add more.

Invariant: it shows the engine's list and asks for it whenever it is opened. Only then are servers
looked for, and only on this machine. A row changes only when the engine reports a change. Every
button says how much it would fetch before it fetches anything. Sizes are decimal: 1 GB is 1000 MB,
as with disks and network speeds.
"""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QWidget

from app.bridge import Post
from app.language import decimal, mark, tr
from app.look.controls import ProgressBar, button
from app.look.file_dialogs import ask_for
from app.look.label import Label, WrappingLabel
from app.look.layout import TOP, Spring, column, fill, placed, row, wide
from app.look.page import CardRow, Page, take_away
from app.look.plain_text import one_line, plain, tool_tip
from app.look.theme import Theme
from engine import api

# The kinds that can be chosen, in the order of the page, with their headings; the rest are parts of
# a voice.
KINDS: dict[str, str] = {
    api.ModelKind.RECOGNISER: mark("Listens"),
    api.ModelKind.LANGUAGE_MODEL: mark("Thinks"),
    api.ModelKind.VOICE: mark("Speaks"),
}
_GIGABYTE = 1000  # megabytes
_ABOUT = mark(
    "What Rubato listens, thinks and speaks with. Nothing is fetched before you press a button that"
    " says how much it is."
)
_PARTS = mark("Parts of a voice")
_MOST_DROPPED = 20


class ModelRow(CardRow):
    """Shows an entry and the progress of its fetch or check."""

    def __init__(self, entry: api.ModelEntry, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.entry = entry
        self._post = post
        self._progress: api.ModelProgress | None = None  # None = nothing happens with it
        self.remarks = WrappingLabel("", self, kind="muted", size=0.9, figures=True)
        self.said = WrappingLabel("", self, size=0.9, figures=True)
        self.bar = ProgressBar(theme, self)
        self.act = button("", self, self._on_act)
        actions = {
            tr("Verify its files"): lambda: post(api.VerifyModel(self.entry.name)),
            tr("Remove"): lambda: post(api.RemoveModel(self.entry.name)),
        }
        self.verify, self.remove = self.offer(actions).values()
        self.say("")
        labels = (self.title, self.facts, self.remarks, self.said)
        for label in labels:
            label.take_any_width()
        line = row(wide(column(*labels, spacing=2)), placed(TOP, self.act), placed(TOP, self.more))
        column(line, self.bar, on=self, margins=(14, 10, 10, 10), spacing=6)
        self.show_entry(entry)

    @property
    def is_busy(self) -> bool:
        """True while a fetch or check of the entry runs or is queued."""
        return self._progress is not None

    def show_entry(self, entry: api.ModelEntry) -> None:
        self.entry = entry
        in_use = tr("  ·  in use") if entry.in_use else ""
        self.title.setText(one_line(entry.title) + in_use)
        self.facts.setText(facts_of(entry))
        self.remarks.say(remarks_on(entry))
        self.setAccessibleName(plain(entry.title))
        self.more.setAccessibleName(tr("More for {title}", title=plain(entry.title)))
        where = f"\n{entry.folder}" if entry.folder else ""
        self.title.setToolTip(tool_tip(f"{entry.name}: {entry.attribution}{where}"))
        self._show_actions()

    def show_progress(self, progress: api.ModelProgress) -> None:
        self._progress = progress
        total = progress.total_bytes
        self.bar.show_share(progress.done_bytes / total if total else None)
        self.said.setText(progress_of(progress))
        self.said.show()
        self._show_actions()

    def show_settled(self, settled: api.ModelSettled) -> None:
        """Show that the entry's fetch or check has ended."""
        self._progress = None
        self.say(settled.text, failed=settled.failed)
        self._show_actions()

    def say(self, text: str, *, failed: bool = False) -> None:
        """Show the result of an action, or why it failed."""
        self.said.say(text, kind="danger" if failed else "")

    def _show_actions(self) -> None:
        entry, fetched = self.entry, self.entry.state is api.Presence.COMPLETE
        self.bar.setVisible(self.is_busy)
        self.act.setText(self._act_words())
        self.act.setVisible(bool(self.act.text()))
        self.act.setEnabled(self.is_busy or not fetched or not entry.obstacle)
        self.act.setAccessibleName(plain(f"{self.act.text()}: {entry.title}"))
        listed = entry.origin is api.Origin.LISTED and entry.state is not api.Presence.MISSING
        self.verify.setVisible(listed and fetched)
        self.remove.setVisible(listed or entry.origin is api.Origin.ADDED)
        self.more.setVisible(self.remove.isVisible() and not self.is_busy)

    def _act_words(self) -> str:
        """Return the button's text, which names its action; empty if there is no action."""
        entry = self.entry
        if self.is_busy:
            return tr("Pause")
        if entry.origin is api.Origin.LISTED and entry.state is not api.Presence.COMPLETE:
            fetch = tr("Fetch {size}", size=size_of(entry.megabytes))
            return tr("Resume") if entry.state is api.Presence.PARTIAL else fetch
        if entry.origin is api.Origin.MADE and entry.state is not api.Presence.COMPLETE:
            return ""  # a button does not start hours of training: the remarks name the command
        return "" if entry.in_use or entry.kind not in KINDS else tr("Use")

    def _on_act(self) -> None:
        name = self.entry.name
        self.say("")
        if self.is_busy:
            self._post(api.PauseFetch(name))
        elif self.entry.state is api.Presence.COMPLETE:
            self._post(api.UseModel(name))
        else:
            self._post(api.FetchModels((name,)))


def size_of(megabytes: float) -> str:
    """Format a size, such as 148 MB or 2.5 GB."""
    if megabytes < _GIGABYTE:
        return tr("{size} MB", size=decimal(megabytes, 0))
    return tr("{size} GB", size=decimal(megabytes / _GIGABYTE, 1))


def facts_of(entry: api.ModelEntry) -> str:
    """Size, licence and memory, as far as they are known."""
    found = [size_of(entry.megabytes)] if entry.megabytes else []
    is_own = entry.origin in (api.Origin.ADDED, api.Origin.SERVER)
    found.append(entry.attribution if is_own else tr("licence: {licence}", licence=entry.licence))
    if entry.memory_mb:
        found.append(tr("needs about {size} of memory", size=size_of(entry.memory_mb)))
    return " · ".join(found)


def remarks_on(entry: api.ModelEntry) -> str:
    """Further remarks before its use; usually empty."""
    short = "" if entry.fits else tr("That is more memory than this computer has to spare.")
    half = ""
    if entry.state is api.Presence.PARTIAL:
        half = tr(
            "{size} of it are here; it goes on from there.", size=size_of(entry.megabytes_here)
        )
    said = (entry.notice, entry.obstacle, short, half, entry.measured)
    return " ".join(each for each in said if each)


def progress_of(event: api.ModelProgress) -> str:
    """The progress in words."""
    match event.activity:
        case api.Activity.WAITING:
            return tr("Waiting for its turn…")
        case api.Activity.VERIFYING:
            doing = tr("Verifying")
        case _:
            doing = tr("Fetching")
    done, total = event.done_bytes / 1e6, event.total_bytes / 1e6
    return (
        tr("{doing}: {done} of {total}", doing=doing, done=size_of(done), total=size_of(total))
        if total
        else f"{doing}…"
    )


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
        self.bar = ProgressBar(theme, self)
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
    """The window of models, not modal. Fetches continue after it is closed."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Models"), tr(_ABOUT), parent)
        self._post = post
        self._theme = theme
        self.rows: dict[str, ModelRow] = {}
        self.recommended = RecommendedCard(post, theme, self)
        kinds = QFileDialog.FileMode
        self.add_file = button(tr("Add a &file…"), self, lambda: self.choose(kinds.ExistingFile))
        self.add_folder = button(tr("Add a f&older…"), self, lambda: self.choose(kinds.Directory))
        self.add_file.setToolTip(tr("A GGUF file of your own; it stays where it is"))
        self.add_folder.setToolTip(tr("A folder with GGUF files or with a converted Whisper model"))
        fill(self.foot, self.add_file, self.add_folder, Spring())
        self.body.addWidget(self.recommended)
        self._headings = {kind: self._heading(title) for kind, title in KINDS.items()}
        self._parts = self._heading(_PARTS)
        self.body.addStretch(1)
        self.setAcceptDrops(True)

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
        """Accept files and folders that are dropped anywhere on the page."""
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
