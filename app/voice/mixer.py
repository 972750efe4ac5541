"""The mixer of two voices: their choice, their shares, a preview, and a name.

Invariant: the mixture is saved only when the person asks for it.
"""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QSlider, QWidget

from app.bridge import Post
from app.language import tr
from app.look.controls import ElidedBox, button
from app.look.label import Label, WrappingLabel
from app.look.layout import Spring, column, row
from app.look.plain_text import one_line
from app.voice.clip import name_field
from app.voice.learning import HearButton
from engine.api import Mix, MixVoices, PreviewVoice, StopPreview

STEP = 5  # percent of the share: a mixture takes seconds to get ready


class VoiceMixer(QWidget):
    """The mixer. `text` returns the sentence of the preview; empty = the fixed sentence."""

    def __init__(self, post: Post, text: Callable[[], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._names: tuple[str, ...] = ()
        self._kept = ""  # the name that was asked for; empty = none was
        self.one, self.other = ElidedBox(self), ElidedBox(self)
        self.share = QSlider(Qt.Orientation.Horizontal, self)
        self.share.setRange(0, 100 // STEP)
        self.share.setPageStep(2)
        self.share.setValue(self.share.maximum() // 2)
        self.share.setAccessibleName(tr("From the first voice to the second"))
        self.shares = WrappingLabel("", self, kind="muted")
        self.name = name_field(self)
        self.hear = HearButton(post, lambda: PreviewVoice("", text(), self._mix()), self)
        self.keep = button(tr("&Keep"), self, self._on_keep)
        self.leave = button(tr("&Close"), self, self.give_up)
        for box in (self.one, self.other):
            box.activated.connect(self._refresh)
        self.share.valueChanged.connect(self._refresh)
        self.name.textChanged.connect(self._refresh)
        self.name.returnPressed.connect(self.keep.click)
        self._lay_out()

    def show_voices(self, names: tuple[str, ...]) -> None:
        """Offer these voices and keep the chosen ones. Close the mixer once the list contains the
        mixture, or is empty.
        """
        before, self._names = self._names, names
        if not names or (self._kept in names and self._kept not in before):
            self.leave.click()
        for at, box in enumerate((self.one, self.other)):
            chosen = before[box.currentIndex()] if before else ""
            box.clear()
            box.addItems([one_line(name) for name in names])
            box.setCurrentIndex(names.index(chosen) if chosen in names else min(at, len(names) - 1))
        self._refresh()

    def give_up(self) -> None:
        """Forget the name, and stop the preview."""
        if self.hear.is_playing:
            self._post(StopPreview())
        self._kept = ""
        self.name.clear()

    def _mix(self) -> Mix:
        one, other = (self._names[box.currentIndex()] for box in (self.one, self.other))
        return Mix(one, other, (100 - STEP * self.share.value()) / 100)

    def _refresh(self) -> None:
        if not self._names:
            return
        mix = self._mix()
        first = round(100 * mix.share)
        shares = f"{first} % {one_line(mix.one)}, {100 - first} % {one_line(mix.other)}"
        self.shares.setText(shares)
        self.share.setAccessibleDescription(shares)
        self.keep.setEnabled(bool(self.name.text().strip()))

    def _on_keep(self) -> None:
        if self.keep.isEnabled():
            self._kept = self.name.text().strip()
            self._post(MixVoices(self._kept, self._mix()))

    def _lay_out(self) -> None:
        voices = QGridLayout()
        names = (tr("First voice"), self.one), (tr("Second voice"), self.other)
        for at, (words, box) in enumerate(names):
            label = Label(words, self)
            label.setBuddy(box)
            voices.addWidget(label, 0, at)
            voices.addWidget(box, 1, at)
            voices.setColumnStretch(at, 1)
        buttons = row(self.hear, self.keep, self.leave, Spring())
        column(voices, self.share, self.shares, self.name, buttons, on=self, spacing=8)
