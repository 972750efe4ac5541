"""The voice area: which voice speaks, and a place to drop a recording that is to become one.

Invariant: it reads no audio. A file is passed on by name (AddVoice) and what the engine found out
about it is shown.
"""

from pathlib import Path

from PySide6.QtCore import QMimeData, QRectF, Qt
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.bridge import Post
from app.language.words import decimal, mark, tr
from app.look.icons import IconButton
from app.look.label import Label
from app.look.plain_text import one_line, plain
from app.look.theme import Theme, scaled
from app.voice.consent import Consent
from app.voice.page import VoicesPage
from app.voice.part import PartChoice
from engine.api import (
    AddVoice,
    CancelClip,
    ChangeSetting,
    ClipInspected,
    Event,
    Failed,
    VoicesChanged,
)

VOICE_KEY = "speech.voice"
# What the dialog offers first; any other file can be chosen too and the engine says if it reads it.
_FILTER = mark(
    "Audio (*.wav *.flac *.ogg *.oga *.opus *.mp3 *.m4a *.aac *.aif *.aiff *.au *.caf *.wma"
    " *.webm *.mka *.mp4);;All files (*)"
)


def dropped_file(data: QMimeData) -> Path | None:
    """The first local file of a drag; None when there is none."""
    paths = (Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return next(paths, None)


class VoiceArea(QWidget):
    """Choice of voice, drop target, and what is known of the dropped recording."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._theme = theme
        self._selected = ""
        self._known: tuple[str, ...] = ()
        self.names = QComboBox(self)
        self.names.setAccessibleName(tr("Voice"))
        self.names.setEnabled(False)
        self.names.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.names.activated.connect(self._on_chosen)
        self.choose = IconButton("folder", tr("Choose a recording (Ctrl+O)"), theme, self)
        self.manage = IconButton("voices", tr("Voices: hear, rename, record, remove"), theme, self)
        self.page: VoicesPage | None = None  # None = it was not opened yet
        self.target = DropTarget(theme, self)
        self.part = PartChoice(post, self)
        self.consent = Consent(post, self)
        self.choose.clicked.connect(self.choose_file)
        self.manage.clicked.connect(lambda: self.open_page())
        self.target.cancel.clicked.connect(self._on_cancel)
        self.setAcceptDrops(True)
        self._lay_out()

    def on_event(self, event: Event) -> None:
        if self.page is not None and self.page.takes(event):
            return
        match event:
            case VoicesChanged(names, selected):
                self._show_names(names, selected)
            case ClipInspected():
                self.target.show_clip(event)
                self.part.show_clip(event)
                self.consent.show_clip(event)
            case Failed(code="unreadable-clip", message=message):
                self.target.show_failure(message)
            case _:
                pass

    def open_page(self) -> "VoicesPage":
        """Show all voices, and what can be done with them."""
        if self.page is None:
            self.page = VoicesPage(self._post, self._theme, self.window())
        self.page.show_chosen(self._selected)
        self.page.open_beside()
        return self.page

    def add_file(self, clip: Path) -> None:
        """Have a recording inspected."""
        self.target.show_waiting(clip)
        self.part.hide()
        self.consent.hide()
        self._post(AddVoice(clip))

    def choose_file(self) -> None:
        """Ask for a file in a dialog that does not stop the program."""
        dialog = QFileDialog(self.window(), tr("Choose a recording"), "", tr(_FILTER))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.add_file(Path(name)))
        dialog.open()

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

    def _on_cancel(self) -> None:
        self._post(CancelClip())
        self.target.show_invitation()
        self.part.hide()

    def _on_chosen(self, index: int) -> None:
        self._post(ChangeSetting(VOICE_KEY, self._known[index]))

    def _show_names(self, names: tuple[str, ...], selected: str) -> None:
        self._selected = selected
        self.names.clear()
        self._known = names  # which may hold what no list can show
        self.names.addItems([one_line(name) for name in names])
        self.names.setEnabled(bool(names))
        self.names.setCurrentIndex(names.index(selected) if selected in names else -1)

    def _lay_out(self) -> None:
        heading = Label(tr("&Voice"), self)
        heading.setFont(scaled(self.font(), 1.0, strong=True))
        heading.setBuddy(self.names)
        top = QHBoxLayout()
        top.addWidget(heading)
        top.addSpacing(12)
        top.addWidget(self.names, 1)
        top.addWidget(self.choose)
        top.addWidget(self.manage)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addLayout(top)
        column.addWidget(self.target)
        column.addWidget(self.part)
        column.addWidget(self.consent)


class DropTarget(QWidget):
    """The dashed field; says what was found out about the recording."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_inviting = False
        self.title = Label("", self)
        self.title.setFont(scaled(self.font(), 0.95, strong=True))
        self.facts = Label("", self)
        self.advice = Label("", self)
        self.cancel = QPushButton(tr("&Cancel"), self)
        for label in (self.title, self.facts, self.advice):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            # labels that wrap are cut off where a layout does not ask for height-for-width
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.MinimumExpanding)
        self.facts.setProperty("kind", "muted")
        self.facts.setFont(scaled(self.font(), 0.9, figures=True))
        self.advice.setFont(scaled(self.font(), 0.9))
        self.show_invitation()
        self._lay_out()
        theme.changed.connect(self.update)

    def invite(self, on: bool) -> None:
        """A file hovers over the window."""
        self._is_inviting = on
        self.update()

    def show_invitation(self) -> None:
        self._show(
            tr("Drop a recording of a voice here"),
            tr("ten seconds of clear speech, any format"),
            "",
        )

    def show_waiting(self, clip: Path) -> None:
        self._show(clip.name, tr("looking at it…"), "")
        self.cancel.show()

    def show_failure(self, message: str) -> None:
        self._show(self.title.text(), tr("could not be used"), message)

    def show_clip(self, clip: ClipInspected) -> None:
        """Length, level, noise and what that means for a voice."""
        facts = tr(
            "{length} · level {level} dB · noise {noise} dB",
            length=_length(clip.seconds),
            level=decimal(clip.level_db, 0),
            noise=decimal(clip.noise_db, 0),
        )
        self._show(clip.clip.name, facts, clip.advice)

    def _show(self, title: str, facts: str, advice: str) -> None:
        self.title.setText(title)
        self.facts.setText(facts)
        self.advice.setText(advice)
        self.advice.setVisible(bool(advice))
        self.cancel.hide()
        self.setAccessibleDescription(plain(f"{title}: {facts}. {advice}"))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        name = "accent" if self._is_inviting else "control"
        painter.setPen(QPen(self._theme.colour(name), 1.5, Qt.PenStyle.DashLine))
        if self._is_inviting:
            painter.setBrush(self._theme.colour("accent", 0.14))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 12, 12)
        painter.end()

    def _lay_out(self) -> None:
        self.setAccessibleName(tr("Recording for a voice"))
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(4)
        for label in (self.title, self.facts, self.advice):
            column.addWidget(label)
        column.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignLeft)


def _length(seconds: float) -> str:
    """12.3 s, or 4:05 min for a long one."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)}:{int(seconds % 60):02d} min"
