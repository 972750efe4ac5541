"""The page of voices: all voices, the removed ones, and ways to add new ones.

Invariant: it shows what the engine has listed, and asks for the list whenever it is opened.
"""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.bridge import Post
from app.language.words import mark, tr
from app.look.label import Label
from app.look.page import Page, card
from app.look.plain_text import one_line
from app.look.returning import Returning
from app.look.theme import Theme
from app.voice.mixer import VoiceMixer
from app.voice.recorder import VoiceRecorder
from app.voice.row import VoiceRow
from engine.api import (
    DiscardVoice,
    Event,
    Failed,
    ImportVoice,
    ListVoices,
    Notice,
    PreviewChanged,
    PreviewState,
    RestoreVoice,
    StopPreview,
    VoiceEntry,
    VoicesChanged,
    VoicesListed,
)

_ABOUT = mark("Hear a voice before you choose it. A voice you made stays on this computer.")


class VoicesPage(Page):
    """Not modal; keeps working while the person talks."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Voices"), tr(_ABOUT), parent)
        self._post = post
        self._theme = theme
        self._chosen = ""
        self.rows: dict[str, VoiceRow] = {}
        self._removed: list[QWidget] = []  # one line for each
        self._listed: VoicesListed | None = None  # None = nothing was listed yet
        self._preview: PreviewChanged | None = None  # None = none was asked for
        self.text = QLineEdit(self)
        self.text.setMaxLength(1_000)
        self.text.setPlaceholderText(
            tr("What they say when you hear them (empty: a fixed sentence)")
        )
        self.text.setAccessibleName(tr("What a voice says when it is heard"))
        self.notice = Label("", self)
        self.notice.setWordWrap(True)
        self.notice.hide()
        self.recorder = VoiceRecorder(post, theme, self)
        self.record, self._recorder_card = self._opening(
            tr("Record a &voice…"), self.recorder, self.recorder.record
        )
        self.take_in = QPushButton(tr("&Import…"), self)
        self.take_in.clicked.connect(self.choose_file)
        self.mixer = VoiceMixer(post, self.text.text, self)
        self.mix, self._mixer_card = self._opening(tr("&Mix voices…"), self.mixer, self.mixer.one)
        self.mix.hide()
        self._list, self._bin = QVBoxLayout(), QVBoxLayout()
        self._lay_out()
        # `rubato voices` may have changed them meanwhile
        Returning(self).returned.connect(lambda: post(ListVoices()))

    def open_beside(self) -> None:
        self._post(ListVoices())
        super().open_beside()

    def takes(self, event: Event) -> bool:
        """Show an event; True if it is about a recording made here, so that nobody else handles
        it."""
        match event:
            case VoicesListed():
                self._show_list(event)
            case VoicesChanged(selected=selected):
                self.show_chosen(selected)
            case PreviewChanged(name, state):
                self._show_preview(name, state)
            case Failed(message=message, hint=hint, part=None) if self.isVisible():
                self.say(f"{message} {hint}")
            case Notice(text) if self.isVisible():
                self.say(text)
            case _:
                pass
        return self.recorder.takes(event)

    def show_chosen(self, name: str) -> None:
        """Show which voice speaks."""
        self._chosen = name
        for row in self.rows.values():
            row.show_entry(row.entry, name)

    def say(self, text: str) -> None:
        """Show a line about what was done, or why it failed."""
        self.notice.setText(text)
        self.notice.setVisible(bool(text))

    def choose_file(self) -> QFileDialog:
        """Ask for a voice file in a dialog that does not block the program."""
        dialog = QFileDialog(
            self, tr("Import a voice"), "", tr("Voices (*.safetensors);;All files (*)")
        )
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self._post(ImportVoice(Path(name))))
        dialog.open()
        return dialog

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A letter typed outside a field goes to the next voice whose name begins with it."""
        letter, names = event.text().casefold(), list(self.rows)
        focus = self.focusWidget()
        at = 1 + next((i for i, n in enumerate(names) if self.rows[n].isAncestorOf(focus)), -1)
        for name in (*names[at:], *names[:at]):
            if letter.isalnum() and name.casefold().startswith(letter):
                row = self.rows[name]
                (row.hear if row.hear.isEnabled() else row.pace).setFocus()
                self.scroll_to(row)
                return
        super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Closing the page stops its preview and its recording."""
        super().hideEvent(event)
        if event.spontaneous():
            return  # minimised
        if self._preview is not None and self._preview.state is not PreviewState.OVER:
            self._post(StopPreview())
        self.recorder.give_up()
        self._recorder_card.hide()
        self._mixer_card.hide()
        self.say("")

    def _opening(
        self, words: str, content: VoiceRecorder | VoiceMixer, first: QWidget
    ) -> tuple[QPushButton, QWidget]:
        """A button that opens a card with `content`, where `first` gets the focus."""
        button, frame = QPushButton(words, self), card(content, self)
        frame.hide()
        content.leave.clicked.connect(frame.hide)

        def show() -> None:
            frame.show()
            content.show()
            self.scroll_to_top()
            first.setFocus(Qt.FocusReason.OtherFocusReason)

        button.clicked.connect(show)
        return button, frame

    def _show_list(self, listed: VoicesListed) -> None:
        if listed == self._listed:
            return
        self._listed = listed
        self.mix.setVisible(bool(listed.mixable))
        self.mixer.show_voices(listed.mixable)
        before, self.rows = self.rows, {}
        for at, entry in enumerate(listed.voices):
            row = before.pop(entry.name, None) or self._make_row(entry)
            row.show_entry(entry, self._chosen)
            self.rows[entry.name] = row
            self._list.insertWidget(at, row)
        # removeWidget and not takeAt: an item that survives keeps an outdated size
        for gone in (*before.values(), *self._removed):
            self._list.removeWidget(gone)
            self._bin.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        self._removed = [self._make_removed(name) for name in listed.removed]
        for line in self._removed:
            self._bin.addWidget(line)

    def _make_row(self, entry: VoiceEntry) -> VoiceRow:
        return VoiceRow(entry, self._post, self.text.text, self._theme, self)

    def _make_removed(self, name: str) -> QWidget:
        line = QWidget(self)
        row = QHBoxLayout(line)
        row.setContentsMargins(14, 2, 10, 2)
        label = Label(tr("{name} was removed", name=one_line(name)), line)
        label.setProperty("kind", "muted")
        label.setWordWrap(True)
        back = QPushButton(tr("Bring back"), line)
        back.setAccessibleName(tr("Bring back {name}", name=one_line(name)))
        back.clicked.connect(lambda: self._post(RestoreVoice(name)))
        gone = QPushButton(tr("Delete now"), line)
        gone.setAccessibleName(tr("Delete {name} for good", name=one_line(name)))
        gone.clicked.connect(lambda: self._post(DiscardVoice(name)))
        row.addWidget(label, 1)
        row.addWidget(back)
        row.addWidget(gone)
        return line

    def _show_preview(self, name: str, state: PreviewState) -> None:
        self._preview = PreviewChanged(name, state)
        self.mixer.show_preview(PreviewState.OVER if name else state)
        for row in self.rows.values():
            same = row.entry.name.casefold() == name.casefold()
            row.show_preview(state if same else PreviewState.OVER)

    def _lay_out(self) -> None:
        self.head.addWidget(self.text)
        self.head.addWidget(self.notice)
        self.body.addWidget(self._recorder_card)
        self.body.addWidget(self._mixer_card)
        self.body.addLayout(self._list)
        self.body.addLayout(self._bin)
        self.body.addStretch(1)
        self.foot.addWidget(self.record)
        self.foot.addWidget(self.take_in)
        self.foot.addWidget(self.mix)
        self.foot.addStretch(1)
