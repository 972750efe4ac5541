"""The page of voices: all voices, the removed ones, and ways to add new ones.

Invariant: it shows what the engine has listed, and asks for the list whenever it is opened.
"""

from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPushButton, QWidget

from app.bridge import Post
from app.language import mark, tr
from app.look.controls import ElidedBox, button
from app.look.file_dialogs import ask_for
from app.look.label import WrappingLabel
from app.look.layout import Spring, card, column, fill, row, wide
from app.look.page import Page, take_away
from app.look.plain_text import one_line
from app.look.theme import Theme
from app.voice.clip import VoiceRecorder
from app.voice.comparison import ComparisonPage
from app.voice.learning import Learning
from app.voice.mixer import VoiceMixer
from app.voice.row import VoiceRow
from engine import api

_OWN = "own"
_SEXES = {
    mark("All voices"): "",
    mark("Women"): "female",
    mark("Men"): "male",
    mark("Your own"): _OWN,
}
_ACCENTS = {
    mark("Any language"): "",
    mark("American"): "american",
    mark("British"): "british",
    mark("Spanish"): "spanish",
    mark("Italian"): "italian",
    mark("Brazilian"): "brazilian",
    mark("French"): "french",
}
_ABOUT = mark("Hear a voice before you choose it. A voice you made stays on this computer.")


class VoicesPage(Page):
    """The page of voices, not modal: the conversation can continue beside it."""

    def __init__(self, post: Post, learning: Learning, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Voices"), tr(_ABOUT), parent)
        self._post = post
        self._learning = learning
        self._theme = theme
        self._chosen = api.VoicesChanged((), "")
        self.rows: dict[str, VoiceRow] = {}
        self._removed: list[QWidget] = []  # one line for each
        self._listed: api.VoicesListed | None = None  # None = nothing was listed yet
        self._preview: api.PreviewChanged | None = None  # None = none was asked for
        self.text = QLineEdit(self)
        self.text.setMaxLength(1_000)
        self.text.setPlaceholderText(
            tr("What they say when you hear them (empty: a fixed sentence)")
        )
        self.text.setAccessibleName(tr("What a voice says when it is heard"))
        self.sexes, self.accents = self._filter(_SEXES), self._filter(_ACCENTS)
        self.comparison = ComparisonPage(post, self)
        self.compare = button(tr("Com&pare voices…"), self, self.comparison.open_beside)
        self.notice = WrappingLabel("", self)
        self.notice.hide()
        self.recorder = VoiceRecorder(post, self)
        self.record, self._recorder_card = self._opening(
            tr("Record a &voice…"), self.recorder, self.recorder.record
        )
        self.take_in = button(tr("&Import…"), self, self.choose_file)
        self.mixer = VoiceMixer(post, self.text.text, self)
        self.mix, self._mixer_card = self._opening(tr("&Mix voices…"), self.mixer, self.mixer.one)
        self.mix.hide()
        self._list, self._bin = column(), column()
        filters = row(wide(self.sexes), wide(self.accents), self.compare, spacing=8)
        fill(self.head, self.text, filters, self.notice)
        fill(self.body, self._recorder_card, self._mixer_card, self._list, self._bin, Spring())
        fill(self.foot, self.record, self.take_in, self.mix, Spring())

    def open_beside(self) -> None:
        self._post(api.ListVoices())
        super().open_beside()

    def handle(self, event: api.Event) -> bool:
        """Handle an event. Return True if it is about a recording made on this page, so that no
        other part handles it.
        """
        match event:
            case api.VoicesListed():
                self._show_list(event)
            case api.VoicesChanged():
                self.show_chosen(event)
            case api.PreviewChanged(name, state):
                self._show_preview(name, state)
            case api.Failed(message=message, hint=hint, part=None) if self.isVisible():
                self.notice.say(f"{message} {hint}")
            case api.Notice(text) if self.isVisible():
                self.notice.say(text)
        return self.recorder.handle(event)

    def show_chosen(self, voices: api.VoicesChanged) -> None:
        """Show which voice speaks, and which one speaks in each other language."""
        self._chosen = voices
        for each in self.rows.values():
            each.show_entry(each.entry, voices)

    def choose_file(self) -> QFileDialog:
        """Ask for a voice file in a dialog that does not block the program."""
        return ask_for(
            self,
            tr("Import a voice"),
            lambda path: self._post(api.ImportVoice(path)),
            filters=tr("Voices (*.safetensors);;All files (*)"),
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next voice whose name begins with a letter typed outside a field. Esc ends a
        recording before it closes the page.
        """
        if event.key() == Qt.Key.Key_Escape and self.recorder.end():
            return  # the take is kept
        letter = event.text().casefold()
        names = [name for name, each in self.rows.items() if not each.isHidden()]
        focus = self.focusWidget()
        at = 1 + next((i for i, n in enumerate(names) if self.rows[n].isAncestorOf(focus)), -1)
        for name in (*names[at:], *names[:at]):
            if letter.isalnum() and name.casefold().startswith(letter):
                row = self.rows[name]
                (row.hear if row.hear.isEnabled() else row.pace).setFocus()
                self.area.ensureWidgetVisible(row)
                return
        super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Closing the page stops its preview, and ends a recording, which is kept."""
        super().hideEvent(event)
        if event.spontaneous():
            return  # minimised
        if self._preview is not None and self._preview.state is not api.PreviewState.OVER:
            self._post(api.StopPreview())
        self.recorder.end()
        self._recorder_card.setVisible(self.recorder.has_take)
        self._mixer_card.hide()
        self.notice.say("")

    def _opening(
        self, words: str, content: VoiceRecorder | VoiceMixer, first: QWidget
    ) -> tuple[QPushButton, QWidget]:
        """Return a button and the card with `content` that it opens; `first` gets the focus."""
        frame = card(self, content)
        frame.hide()
        content.leave.clicked.connect(frame.hide)

        def show() -> None:
            frame.show()
            content.show()
            self.area.verticalScrollBar().setValue(0)
            first.setFocus(Qt.FocusReason.OtherFocusReason)

        return button(words, self, show), frame

    def _show_list(self, listed: api.VoicesListed) -> None:
        if listed == self._listed:
            return
        is_first, self._listed = self._listed is None, listed
        self.mix.setVisible(bool(listed.mixable))
        languages = {each.name: each.language for each in listed.voices}
        usual = languages.get(self._chosen.selected, "en")
        self.mixer.show_voices(
            tuple(sorted(listed.mixable, key=lambda name: languages.get(name, "en") != usual))
        )
        before, self.rows = self.rows, {}
        for at, entry in enumerate(listed.voices):
            line = before.pop(entry.name, None)
            line = line or VoiceRow(
                entry, self._post, self.text.text, self._learning, self._theme, self
            )
            self.rows[entry.name] = line
            line.show_entry(entry, self._chosen)
            self._list.insertWidget(at, line)
        for gone in (*before.values(), *self._removed):
            take_away(gone, self._list, self._bin)
        self._removed = [self._make_removed(name) for name in listed.removed]
        fill(self._bin, *self._removed)
        if is_first:
            self._show_language()
        self._show_filtered()

    def show_voice(self, name: str) -> None:
        """Scroll to a voice and focus its button, or the choice by ear if it has one."""
        self.sexes.setCurrentIndex(0)
        self.accents.setCurrentIndex(0)
        self._show_filtered()
        if name in self.rows:
            found = self.rows[name]
            (found.choice.hear_all if found.entry.fit else found.hear).setFocus()
            QTimer.singleShot(0, found, lambda: self.area.ensureWidgetVisible(found))

    def _filter(self, kinds: Mapping[str, str]) -> ElidedBox:
        box = ElidedBox(self)
        box.setAccessibleName(tr("Show"))
        for words, kind in kinds.items():
            box.addItem(tr(words), kind)
        box.activated.connect(self._show_filtered)
        return box

    def _show_filtered(self) -> None:
        sex, accent = self.sexes.currentData(), self.accents.currentData()
        entries = [each.entry for each in self.rows.values()]
        for box in (self.sexes, self.accents):
            box.setVisible(any(each.sex for each in entries))
        for each in self.rows.values():
            kinds = (each.entry.sex or _OWN, each.entry.accent)
            each.setVisible(sex in ("", kinds[0]) and accent in ("", kinds[1]))

    def _show_language(self) -> None:
        """Begin with the voices of the conversation's language, unless that is English."""
        chosen = self.rows.get(self._chosen.selected)
        if chosen is not None and chosen.entry.language != "en":
            self.accents.setCurrentIndex(self.accents.findData(chosen.entry.accent))

    def _make_removed(self, name: str) -> QWidget:
        line = QWidget(self)
        post, shown = self._post, one_line(name)
        label = WrappingLabel(tr("{name} was removed", name=shown), line, kind="muted")
        back = button(tr("Bring back"), line, lambda: post(api.RestoreVoice(name)))
        back.setAccessibleName(tr("Bring back {name}", name=shown))
        gone = button(tr("Delete now"), line, lambda: post(api.DiscardVoice(name)))
        gone.setAccessibleName(tr("Delete {name} for good", name=shown))
        row(wide(label), back, gone, on=line, margins=(14, 2, 10, 2))
        return line

    def _show_preview(self, name: str, state: api.PreviewState) -> None:
        self._preview = api.PreviewChanged(name, state)
        self.mixer.hear.show_preview(api.PreviewState.OVER if name else state)
        for each in self.rows.values():
            each.choice.show_preview(name, state)
            same = each.entry.name.casefold() == name.casefold()
            each.hear.show_preview(state if same else api.PreviewState.OVER)
