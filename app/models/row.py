"""One model on the page: what it is, what is happening with it, and what one can do with it.

Invariant: it only asks and shows; nothing changes until the engine says so.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.bridge import Post
from app.language.words import mark, tr
from app.look.icons import IconButton
from app.look.label import Label
from app.look.plain_text import one_line, plain, tool_tip
from app.look.progress import Progress
from app.look.theme import Theme, scaled
from app.models import words
from engine.api import (
    FetchModels,
    ModelEntry,
    ModelProgress,
    ModelSettled,
    Origin,
    PauseFetch,
    Presence,
    RemoveModel,
    UseModel,
    VerifyModel,
)


class ModelRow(QFrame):
    """Shows an entry and, while something happens with it, the progress."""

    def __init__(self, entry: ModelEntry, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.entry = entry
        self._post = post
        self._progress: ModelProgress | None = None  # None = nothing happens with it
        self.title = wrapping("", self)
        self.title.setFont(scaled(self.font(), 1.0, strong=True))
        self.facts = wrapping("muted", self)
        self.remarks = wrapping("muted", self)
        self.said = wrapping("", self)
        for label in (self.facts, self.remarks, self.said):
            label.setFont(scaled(self.font(), 0.9, figures=True))
        self.bar = Progress(theme, self)
        self.act = QPushButton("", self)
        self.act.clicked.connect(self._on_act)
        self.more = IconButton("more", tr("More"), theme, self)
        self._menu = QMenu(self)
        self.verify = self._menu.addAction(tr("Verify its files"))
        self.remove = self._menu.addAction(tr("Remove"))
        self.verify.triggered.connect(lambda: post(VerifyModel(self.entry.name)))
        self.remove.triggered.connect(lambda: post(RemoveModel(self.entry.name)))
        self.more.setMenu(self._menu)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.say("")
        self._lay_out()
        self.show_entry(entry)

    @property
    def is_busy(self) -> bool:
        """Whether something happens with it or is queued."""
        return self._progress is not None

    def show_entry(self, entry: ModelEntry) -> None:
        self.entry = entry
        in_use = tr("  ·  in use") if entry.in_use else ""
        self.title.setText(one_line(entry.title) + in_use)
        self.facts.setText(words.facts(entry))
        remarks = words.remarks(entry)
        self.remarks.setText(remarks)
        self.remarks.setVisible(bool(remarks))
        self.setAccessibleName(plain(entry.title))
        self.more.setAccessibleName(tr("More for {title}", title=plain(entry.title)))
        where = f"\n{entry.folder}" if entry.folder else ""
        self.title.setToolTip(tool_tip(f"{entry.name}: {entry.attribution}{where}"))
        self._show_actions()

    def show_progress(self, progress: ModelProgress) -> None:
        self._progress = progress
        total = progress.total_bytes
        self.bar.show_share(progress.done_bytes / total if total else None)
        self.said.setText(words.progress(progress))
        self.said.show()
        self._show_actions()

    def show_settled(self, settled: ModelSettled) -> None:
        """Show that nothing happens with it any more."""
        self._progress = None
        self.say(settled.text, failed=settled.failed)
        self._show_actions()

    def say(self, text: str, *, failed: bool = False) -> None:
        """Show a line about what was done, or why it failed."""
        self.said.setProperty("kind", "danger" if failed else "")
        self.said.style().polish(self.said)
        self.said.setText(text)
        self.said.setVisible(bool(text))

    def _show_actions(self) -> None:
        entry, fetched = self.entry, self.entry.state is Presence.COMPLETE
        self.bar.setVisible(self.is_busy)
        self.act.setText(self._act_words())
        self.act.setVisible(bool(self.act.text()))
        self.act.setEnabled(self.is_busy or not fetched or not entry.obstacle)
        self.act.setAccessibleName(plain(f"{self.act.text()}: {entry.title}"))
        listed = entry.origin is Origin.LISTED and entry.state is not Presence.MISSING
        self.verify.setVisible(listed and fetched)
        self.remove.setVisible(listed or entry.origin is Origin.ADDED)
        self.more.setVisible(self.remove.isVisible() and not self.is_busy)

    def _act_words(self) -> str:
        """The button's text, which says what it would do; empty = nothing."""
        entry = self.entry
        if self.is_busy:
            return tr("Pause")
        if entry.origin is Origin.LISTED and entry.state is not Presence.COMPLETE:
            return tr("Resume") if entry.state is Presence.PARTIAL else self._fetch_words()
        if entry.origin is Origin.MADE and entry.state is not Presence.COMPLETE:
            return ""  # hours of training are no button's matter: the remarks name the command
        return "" if entry.in_use or entry.kind not in KINDS else tr("Use")

    def _fetch_words(self) -> str:
        return tr("Fetch {size}", size=words.size(self.entry.megabytes))

    def _on_act(self) -> None:
        name = self.entry.name
        self.say("")
        if self.is_busy:
            self._post(PauseFetch(name))
        elif self.entry.state is Presence.COMPLETE:
            self._post(UseModel(name))
        else:
            self._post(FetchModels((name,)))

    def _lay_out(self) -> None:
        text = QVBoxLayout()
        text.setSpacing(2)
        for label in (self.title, self.facts, self.remarks, self.said):
            text.addWidget(label)
        row = QHBoxLayout()
        row.addLayout(text, 1)
        row.addWidget(self.act, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.more, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 10, 10)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self.bar)


# The kinds that can be chosen, in the order of the page, with their headings; the rest are parts of
# a voice.
KINDS = {
    "recogniser": mark("Listens"),
    "language model": mark("Thinks"),
    "voice": mark("Speaks"),
}


def wrapping(kind: str, parent: QWidget) -> Label:
    label = Label("", parent)
    label.setProperty("kind", kind)
    label.setWordWrap(True)
    # labels that wrap are cut off if a layout does not support height-for-width
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.MinimumExpanding)
    return label
