"""The voice area: which voice speaks, and a place to drop a recording for a new voice.

Invariant: it reads no audio. It passes on a file by name (AddVoice) and shows what the engine found
out about it.
"""

from pathlib import Path

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QWidget

from app.bridge import Post
from app.language import mark, tr
from app.look.controls import ElidedBox, IconButton
from app.look.file_dialogs import ask_for
from app.look.label import Label, WrappingLabel
from app.look.layout import column, row, wide
from app.look.plain_text import one_line
from app.look.theme import Theme
from app.voice.clip import ClipSheet
from app.voice.learning import Learning, LearningLine
from app.voice.page import VoicesPage
from engine import api

# The first filter of the dialog. Any other file can be chosen too; the engine reports
# whether it can read it.
_FILTER = mark(
    "Audio (*.wav *.flac *.ogg *.oga *.opus *.mp3 *.m4a *.aac *.aif *.aiff *.au *.caf *.wma"
    " *.webm *.mka *.mp4);;All files (*)"
)


def dropped_file(data: QMimeData) -> Path | None:
    """Return the first local file of a drag; None if there is none."""
    paths = (Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return next(paths, None)


class VoiceArea(QWidget):
    """The choice of voice, the drop target, and the sheet that a dropped recording opens."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._theme = theme
        self._voices = api.VoicesChanged((), "")
        self.names = ElidedBox(self)
        self.names.setAccessibleName(tr("Voice"))
        self.names.setEnabled(False)
        self.names.activated.connect(
            lambda index: post(api.ChangeSetting(api.SettingKey.VOICE, self._voices.alike[index]))
        )
        by_file, all_voices = (
            tr("Choose a recording (Ctrl+O)"),
            tr("Voices: hear, rename, record, remove"),
        )
        self.choose = IconButton("folder", by_file, theme, self, self.choose_file)
        self.manage = IconButton("voices", all_voices, theme, self, lambda: self.open_page())
        self.page: VoicesPage | None = None  # None = it was not opened yet
        self.learning = Learning(post, self)
        self._listed: api.VoicesListed | None = None  # None = nothing was listed yet
        self.target = DropTarget(self)
        self.sheet = ClipSheet(post, self)
        self.line = LearningLine(self.learning, self, choose=self._on_choose)
        self.setAcceptDrops(True)
        heading = Label(tr("&Voice"), self, strong=True)
        heading.setBuddy(self.names)
        top = row(heading, 12, wide(self.names), self.choose, self.manage)
        column(top, self.line, self.target, on=self, spacing=10)

    def on_event(self, event: api.Event) -> None:
        self.learning.on_event(event)
        if isinstance(event, api.VoicesListed):
            self._listed = event
        if self.page is not None and self.page.handle(event):
            return
        match event:
            case api.VoicesChanged(can_clone=can_clone, resembles=resembles):
                self._show_names(event)
                self.target.show_requirements(learns=resembles or not can_clone)
            case api.ClipInspected():
                self.sheet.show_clip(event)
            case api.Failed(code="unreadable-clip", message=message):
                self.sheet.show_failure(message)

    def open_page(self) -> "VoicesPage":
        """Show the page of all voices."""
        if self.page is None:
            self.page = VoicesPage(self._post, self.learning, self._theme, self.window())
            if self._listed is not None:
                self.page.handle(self._listed)
        self.page.show_chosen(self._voices)
        self.page.open_beside()
        return self.page

    def add_file(self, clip: Path) -> None:
        """Let the engine inspect a recording."""
        self.sheet.show_waiting(clip)
        self._post(api.AddVoice(clip))

    def choose_file(self) -> None:
        """Ask for a file in a dialog that does not block the program."""
        ask_for(self.window(), tr("Choose a recording"), self.add_file, filters=tr(_FILTER))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_file(event.mimeData()) is not None:
            event.acceptProposedAction()
            self.target.invite(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.target.invite(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self.target.invite(False)
        clip = dropped_file(event.mimeData())
        if clip is not None:
            event.acceptProposedAction()
            self.add_file(clip)

    def _on_choose(self) -> None:
        self.open_page().show_voice(self.learning.newest)

    def _show_names(self, voices: api.VoicesChanged) -> None:
        """Offer the voices of the conversation's language."""
        self._voices = voices
        names, selected = voices.alike, voices.selected
        self.names.clear()
        self.names.addItems([one_line(name) for name in names])  # the list cannot show every letter
        self.names.setEnabled(bool(names))
        self.names.setCurrentIndex(names.index(selected) if selected in names else -1)


class DropTarget(QFrame):
    """The dashed field on which recordings are dropped."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "drop")
        wanted = tr("Drop a recording of a voice here")
        title = WrappingLabel(wanted, self, size=0.95, strong=True)
        self.facts = WrappingLabel("", self, kind="muted", size=0.9, figures=True)
        self.show_requirements(learns=False)
        for label in (title, self.facts):
            label.take_any_width(whole=True)
        column(title, self.facts, on=self, margins=(12, 10, 12, 10), spacing=4)

    def show_requirements(self, *, learns: bool) -> None:
        """Show the requirements of a recording, and whether a voice only learns from it."""
        wanted = tr("ten seconds of clear speech, any format")
        more = "\n" + tr("for a voice that learns from your recording") if learns else ""
        self.facts.setText(wanted + more)

    def invite(self, on: bool) -> None:
        """Highlight the drop target while a file is dragged over the window."""
        self.setProperty("inviting", on)
        self.style().polish(self)
