"""How a recording becomes a voice: of a file, in a dialog, or made with the microphone on the page
of voices, with a sentence to read, a meter and the result. Both show its quality and what a voice
made from it needs: a good part of it, a name, the person's consent, and perhaps another voice
model, which the same button fetches.

Invariant: it reads no audio; the engine inspects a part and reports its quality. Nothing is sent
until the box is ticked; showing another recording clears it. A recording that waits for a model is
kept as a voice before that is fetched. The dialog can be closed at any time, with Esc too, without
keeping anything. Nothing is recorded before the person starts it. A recording stays until it has
become a voice, is recorded again or discarded by its own button, or the program ends.
"""

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QGridLayout,
    QLineEdit,
    QSizePolicy,
    QWidget,
)

from app.bridge import Post
from app.language import decimal, mark, tr
from app.look.controls import LevelMeter, button
from app.look.label import Label, WrappingLabel
from app.look.layout import LEFT, Spring, column, placed, room_for_window, row
from app.look.page import Dialog, bring_to_front
from app.look.plain_text import one_line, plain
from app.models import size_of
from engine.api import (
    AddVoice,
    CancelClip,
    ClipInspected,
    ClipRecording,
    DropClip,
    Event,
    Failed,
    FetchModels,
    LearnVoice,
    Levels,
    PreviewVoice,
    RecordClip,
)

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
        self.part = PartChoice(post, self)
        self.consent = Consent(post, self)
        self.consent.adopt.clicked.connect(self._on_adopted)
        self.cancel = button(tr("&Cancel"), self, self.reject)
        self.rejected.connect(lambda: post(CancelClip()))
        labels = (self.title, self.facts, self.advice)
        for label in labels:
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        buttons = placed(LEFT, self.cancel), Spring()
        items = (*labels, self.part, self.consent, *buttons)
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


# Some eleven seconds with every English phone, to learn a voice from.
TO_READ = (
    "The boy usually sings loudly about a young, curious bird. On bright mornings in June it "
    "watches three geese fly over the harbour. Then, with great pleasure, it chooses the shortest "
    "way home."
)
_AGAIN, _ANOTHER = mark("&Record again"), mark("&Record another")
_CLOSE, _DISCARD = mark("&Close"), mark("&Discard")


class VoiceRecorder(QWidget):
    """The recorder, hidden until the person opens it."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._recording = False
        self._awaited = False  # the recording is being inspected
        self._clip: ClipInspected | None = None  # the recording; None = none
        how = tr("Read this aloud, as you speak, in a quiet room:")
        self.how = WrappingLabel(how, self, kind="muted")
        self.sentence = WrappingLabel(f"“{TO_READ}”", self, size=1.05)
        self.meter = LevelMeter(tr("Level of the microphone"), self)
        self.facts = WrappingLabel("", self, size=0.9, figures=True)
        self.record = button(tr("&Record"), self, self._on_record)
        self.leave = button(tr(_CLOSE), self, self.give_up)
        self.part = PartChoice(post, self)
        self.consent = Consent(post, self)
        self.consent.adopt.clicked.connect(self._on_adopted)
        words = (self.how, self.sentence, self.meter, self.facts)
        buttons = row(self.record, self.leave, Spring())
        column(*words, self.part, self.consent, buttons, on=self, spacing=8)
        self.hide()

    def handle(self, event: Event) -> bool:
        """Handle an event. Return True if it answers a request of this recorder."""
        match event:
            case Levels(microphone_db=level_db) if self.isVisible():
                self.meter.show_level(level_db)
            case ClipRecording(on, seconds, ended_by):
                self._show_recording(on, seconds, ended_by)
                return True
            case ClipInspected(clip) if self._awaited or (self._clip and self._clip.clip == clip):
                self._show_clip(event)
                return True
            case Failed(code="unreadable-clip", message=message) if self._awaited:
                self._awaited = False
                self.facts.setText(message)
                self._name_leave()
                return True
        return False

    def give_up(self) -> None:
        """Discard the recording."""
        if self.has_take:
            self._post(DropClip())
        self._recording = self._awaited = False
        self._clip = None
        self.facts.setText("")
        self.record.setText(tr("&Record"))
        self._name_leave()
        self.part.hide()
        self.consent.hide()
        self.hide()

    def end(self) -> bool:
        """End the recording and keep it. False if none was running or being inspected."""
        if self._recording:
            self._post(RecordClip(on=False))
        return self._recording or self._awaited

    @property
    def has_take(self) -> bool:
        """True while a recording exists, or is being made, that has not become a voice."""
        return self._recording or self._awaited or self._clip is not None

    def _name_leave(self) -> None:
        self.leave.setText(tr(_DISCARD if self.has_take else _CLOSE))

    def _on_record(self) -> None:
        if not self._recording:
            self.part.hide()
            self.consent.hide()
        self._post(RecordClip(on=not self._recording))

    def _on_adopted(self) -> None:
        """Release the clip, because it becomes a voice."""
        self._clip = None
        self.part.hide()
        self.facts.setText("")
        self.record.setText(tr(_ANOTHER))
        self._name_leave()

    def _show_recording(self, on: bool, seconds: float, ended_by: str) -> None:
        was, self._recording = self._recording, on
        self.record.setText(tr("&End") if on else tr(_AGAIN))
        if on:
            self._clip = None  # recorded over
            self.facts.setText(tr("{seconds} s; ten are good", seconds=decimal(seconds, 0)))
        elif was:
            self._awaited = seconds > 0
            self.facts.setText(ended_by or tr("checking it…"))
        self._name_leave()

    def _show_clip(self, clip: ClipInspected) -> None:
        self._awaited, self._clip = False, clip
        noise = clip.level_db - clip.noise_db
        facts = tr(
            "{seconds} s · level {level} dB · {noise} dB above noise",
            seconds=decimal(clip.seconds, 1),
            level=decimal(clip.level_db, 0),
            noise=decimal(noise, 0),
        )
        self.facts.setText(f"{facts}\n{clip.advice}" if clip.advice else facts)
        self.part.show_clip(clip)
        self.consent.show_clip(clip, TO_READ if clip.part is None else "")
