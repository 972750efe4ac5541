"""One model on the page: what it is, what is happening with it, and what one can do with it.

Invariant: it only asks and shows; nothing changes until the engine says so. Sizes are decimal: 1 GB
is 1000 MB, as with disks and network speeds.
"""

from PySide6.QtWidgets import QWidget

from app.bridge import Post
from app.language import decimal, mark, tr
from app.look.controls import Progress, button
from app.look.label import WrappingLabel
from app.look.layout import TOP, column, placed, row, wide
from app.look.page import CardRow
from app.look.plain_text import one_line, plain, tool_tip
from app.look.theme import Theme
from engine import api

# The kinds that can be chosen, in the order of the page, with their headings; the rest are parts of
# a voice.
KINDS = {"recogniser": mark("Listens"), "language model": mark("Thinks"), "voice": mark("Speaks")}
_GIGABYTE = 1000  # megabytes


class ModelRow(CardRow):
    """Shows an entry and, while something happens with it, the progress."""

    def __init__(self, entry: api.ModelEntry, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.entry = entry
        self._post = post
        self._progress: api.ModelProgress | None = None  # None = nothing happens with it
        self.remarks = WrappingLabel("", self, kind="muted", size=0.9, figures=True)
        self.said = WrappingLabel("", self, size=0.9, figures=True)
        self.bar = Progress(theme, self)
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
        """Whether something happens with it or is queued."""
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
        """Show that nothing happens with it any more."""
        self._progress = None
        self.say(settled.text, failed=settled.failed)
        self._show_actions()

    def say(self, text: str, *, failed: bool = False) -> None:
        """Show a line about what was done, or why it failed."""
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
        """The button's text, which says what it would do; empty = nothing."""
        entry = self.entry
        if self.is_busy:
            return tr("Pause")
        if entry.origin is api.Origin.LISTED and entry.state is not api.Presence.COMPLETE:
            fetch = tr("Fetch {size}", size=size_of(entry.megabytes))
            return tr("Resume") if entry.state is api.Presence.PARTIAL else fetch
        if entry.origin is api.Origin.MADE and entry.state is not api.Presence.COMPLETE:
            return ""  # hours of training are no button's matter: the remarks name the command
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
    """148 MB, 2.5 GB."""
    if megabytes < _GIGABYTE:
        return tr("{size} MB", size=decimal(megabytes, 0))
    return tr("{size} GB", size=decimal(megabytes / _GIGABYTE, 1))


def facts_of(entry: api.ModelEntry) -> str:
    """Size, licence and memory, as far as they are known."""
    found = [size_of(entry.megabytes)] if entry.megabytes else []
    own = entry.origin in (api.Origin.ADDED, api.Origin.SERVER)
    found.append(entry.attribution if own else tr("licence: {licence}", licence=entry.licence))
    if entry.memory_mb:
        found.append(tr("needs about {size} of memory", size=size_of(entry.memory_mb)))
    return " · ".join(found)


def remarks_on(entry: api.ModelEntry) -> str:
    """What else one should know before using it; usually empty."""
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
