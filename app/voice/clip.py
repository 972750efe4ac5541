"""The dialog of a recording: its quality, and what a voice made from it needs: a good part of it, a
name, the person's consent, and perhaps another voice model, which the same button fetches.

Invariant: it reads no audio; the engine inspects a part and reports its quality. Nothing is sent
until the box is ticked; showing another recording clears it. A recording that waits for a model is
kept as a voice before that is fetched. The dialog can be closed at any time, with Esc too, without
keeping anything.
"""

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from app.bridge import Post
from app.language import decimal, tr
from app.look.controls import button
from app.look.label import WrappingLabel
from app.look.layout import LEFT, column, placed, room_for_window
from app.look.page import Dialog, bring_to_front
from app.look.plain_text import one_line, plain
from app.models import size_of
from engine.api import AddVoice, CancelClip, ClipInspected, FetchModels, LearnVoice, PreviewVoice

LONGEST_NAME = 60  # characters; a name is read out and shown in a list
LONGEST_WORDS = 1_000  # characters


class BetterPart(QPushButton):
    """Offers the better part of a recording that is refused or poor."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent)
        self._clip: ClipInspected | None = None  # None = none was shown yet
        self._post = post
        self.clicked.connect(self._on_clicked)
        self.hide()

    def show_clip(self, clip: ClipInspected) -> None:
        self._clip = clip
        self.setVisible(clip.better is not None)
        if clip.better is not None:
            start_s, seconds = clip.better
            start, end = _clock(start_s), _clock(start_s + seconds)
            self.setText(tr("Use {start} to {end} instead", start=start, end=end))

    def _on_clicked(self) -> None:
        if self._clip is not None and self._clip.better is not None:
            start_s, seconds = self._clip.better
            self._post(AddVoice(self._clip.clip, start_s=start_s, seconds=seconds))


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{seconds % 60:04.1f}"


class Consent(QWidget):
    """Name, consent and button for a recording that could become a voice."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._clip: ClipInspected | None = None  # None = none was shown yet
        self.name = name_field(self)
        self.words = QLineEdit(self)
        self.words.setMaxLength(LONGEST_WORDS)
        self.words.setPlaceholderText(tr("What is said in it (empty: it is written down)"))
        self.words.setAccessibleName(tr("What is said in the recording"))
        self.agreed = QCheckBox(tr("I &may use this voice"), self)
        self.hear = button(tr("&Hear a similar voice"), self, self._on_hear)
        self.adopt = button("", self, self._on_adopt)
        self.agreed.toggled.connect(self._refresh)
        self.name.textChanged.connect(self._refresh)
        self.name.returnPressed.connect(self.adopt.click)
        buttons = placed(LEFT, self.hear), placed(LEFT, self.adopt)
        column(self.name, self.words, self.agreed, *buttons, on=self, spacing=8)
        self.hide()

    def show_clip(self, clip: ClipInspected, words: str = "") -> None:
        """Offer a voice of a suitable recording. `words`: its transcript, if known."""
        self._clip = clip
        self.words.setText(words)
        self.words.setVisible(clip.resembles)
        self.agreed.setChecked(False)
        self.name.setText(one_line(clip.clip.stem.replace("_", " "))[:LONGEST_NAME])
        self.adopt.setText(_adopting(clip))
        self.hear.setVisible(clip.resembles and clip.needs is None and clip.part is None)
        self._refresh()
        self.setVisible(clip.usable)

    def _refresh(self) -> None:
        self.hear.setEnabled(self.agreed.isChecked())
        self.adopt.setEnabled(self.agreed.isChecked() and bool(self.name.text().strip()))

    def _on_hear(self) -> None:
        if self._clip is not None:  # the path of a recording names the voice made of it
            self._post(PreviewVoice(str(self._clip.clip.absolute())))

    def _on_adopt(self) -> None:
        if self._clip is not None and self.adopt.isEnabled():
            name, (start_s, seconds) = self.name.text().strip(), self._clip.part or (0.0, None)
            self._post(AddVoice(self._clip.clip, True, name, start_s, seconds))
            if self._clip.resembles:
                self._post(LearnVoice(name, words=self.words.text().strip()))
            if self._clip.needs is not None:
                self._post(FetchModels(self._clip.needs[:1], use=True))
            self.hide()


def _adopting(clip: ClipInspected) -> str:
    if clip.needs is not None and clip.needs[1]:
        size = size_of(clip.needs[1])
        return tr("&Fetch Kokoro ({size}) and learn this voice", size=size)
    return tr("&Learn this voice") if clip.resembles else tr("&Use this voice")


def name_field(parent: QWidget) -> QLineEdit:
    """Create the field for the name of a new voice."""
    field = QLineEdit(parent)
    field.setMaxLength(LONGEST_NAME)
    field.setPlaceholderText(tr("What to call this voice"))
    field.setAccessibleName(tr("Name of the new voice"))
    return field


_WIDTH = 360  # logical pixels at least
_LINES = 24  # in line heights: it grows with the text


class ClipSheet(Dialog):
    """The dialog of a recording, not modal."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Recording for a voice"))
        self.title = WrappingLabel("", self, strong=True)
        self.facts = WrappingLabel("", self, kind="muted", size=0.92, figures=True)
        self.advice = WrappingLabel("", self)
        self.part = BetterPart(post, self)
        self.consent = Consent(post, self)
        self.consent.adopt.clicked.connect(self._on_adopted)
        self.cancel = button(tr("&Cancel"), self, self.reject)
        self.rejected.connect(lambda: post(CancelClip()))
        labels = (self.title, self.facts, self.advice)
        for label in labels:
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        items = (*labels, placed(LEFT, self.part), self.consent, placed(LEFT, self.cancel))
        self._column = column(*items, on=self, margins=(18, 16, 18, 16), spacing=8)

    def show_waiting(self, clip: Path) -> None:
        """Show that a recording is being inspected."""
        self.part.hide()
        self.consent.hide()
        self._show(clip.name, tr("checking it…"), "")

    def show_failure(self, message: str) -> None:
        self._show(self.title.text(), tr("could not be used"), message)

    def show_clip(self, clip: ClipInspected) -> None:
        """Show length, level and noise of a recording, and how they would affect a voice."""
        self.part.show_clip(clip)
        self.consent.show_clip(clip)
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
        self.advice.say(advice)
        self.setAccessibleDescription(plain(f"{title}: {facts}. {advice}"))
        width = max(_WIDTH, _LINES * self.fontMetrics().height())
        size = QSize(width, self._column.totalHeightForWidth(width))
        self.resize(size.boundedTo(room_for_window(self)))
        first = self.cancel if self.consent.isHidden() else self.consent.name
        if not self.isVisible() or self.focusWidget() is self.cancel:
            first.setFocus(Qt.FocusReason.OtherFocusReason)
        bring_to_front(self)

    def _on_adopted(self) -> None:
        if self.consent.isHidden():
            self.accept()


def _length(seconds: float) -> str:
    """Format a length: 12.3 s, or 4:05 min for a long one."""
    if seconds < 60:
        return f"{decimal(seconds, 1)} s"
    return f"{int(seconds // 60)}:{int(seconds % 60):02d} min"
