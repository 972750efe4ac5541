"""The requirements for making a voice of a recording: a good part of it, a name, the person's
consent, and perhaps another voice model, which the same button fetches.

Invariant: it reads no audio; the engine inspects a part and reports its quality. Nothing is sent
until the box is ticked; showing another recording clears it. A recording that waits for a model is
kept as a voice before that is fetched.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QGridLayout, QLineEdit, QWidget

from app.bridge import Post
from app.language import tr
from app.look.controls import button
from app.look.label import Label
from app.look.layout import LEFT, column, placed
from app.look.plain_text import one_line
from app.models import size_of
from engine.api import AddVoice, ClipInspected, FetchModels, LearnVoice, PreviewVoice

LONGEST_NAME = 60  # characters; a name is read out and shown in a list
LONGEST_WORDS = 1_000  # characters
LONGEST_S = 30.0  # of a part; a voice uses at most 20 s
_USUAL_S = 8.0
_SHORTEST_S = 1.0


class PartChoice(QWidget):
    """Offers a better part of a recording that is refused or poor, and lets the person choose a
    part.
    """

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._clip: ClipInspected | None = None  # None = none was shown yet
        self._length_s = 0.0  # of the whole recording
        self.better = button("", self, self._look_at_better)
        self.start = _seconds(tr("Where the part begins"), self)
        self.length = _seconds(tr("How long the part is"), self)
        self.length.setRange(_SHORTEST_S, LONGEST_S)
        self.look = button(tr("Chec&k this part"), self, self._look_at_chosen)
        row = QGridLayout()
        row.setSpacing(6)
        row.setColumnStretch(2, 1)
        for line, (words, box) in enumerate(
            ((tr("Part from"), self.start), (tr("for"), self.length))
        ):
            row.addWidget(Label(words, self), line, 0)
            row.addWidget(box, line, 1)
        column(placed(LEFT, self.better), row, placed(LEFT, self.look), on=self, spacing=8)
        self.hide()

    def show_clip(self, clip: ClipInspected) -> None:
        """Offer other parts if the recording is not good or is itself a part."""
        same = self._clip is not None and self._clip.clip == clip.clip
        if clip.part is None or not same:
            self._length_s = clip.seconds
        self._clip = clip
        start_s, seconds = clip.better or clip.part or (0.0, _USUAL_S)
        self.better.setVisible(clip.better is not None)
        start, end = _clock(start_s), _clock(start_s + seconds)
        self.better.setText(tr("Use {start} to {end} instead", start=start, end=end))
        self.start.setRange(0.0, max(0.0, self._length_s - _SHORTEST_S))
        self.start.setValue(start_s)
        self.length.setValue(min(seconds, max(_SHORTEST_S, self._length_s)))
        poor = not clip.usable or clip.better is not None or clip.part is not None
        self.setVisible(poor and self._length_s > _SHORTEST_S)

    def _look_at_better(self) -> None:
        if self._clip is not None and self._clip.better is not None:
            self._look_at(*self._clip.better)

    def _look_at_chosen(self) -> None:
        self._look_at(self.start.value(), self.length.value())

    def _look_at(self, start_s: float, seconds: float) -> None:
        if self._clip is not None:
            self._post(AddVoice(self._clip.clip, start_s=start_s, seconds=seconds))


def _seconds(name: str, parent: QWidget) -> QDoubleSpinBox:
    box = QDoubleSpinBox(parent)
    box.setDecimals(1)
    box.setAlignment(Qt.AlignmentFlag.AlignCenter)
    box.setSingleStep(0.5)
    box.setSuffix(" s")
    box.setAccessibleName(name)
    return box


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
        """Offer to create a voice if the recording is suitable. `words`: its transcript, if
        known."""
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
