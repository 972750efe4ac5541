"""Records a new voice with the microphone: a sentence to read, a meter, and the result.

Invariant: nothing is recorded before the person starts it, and closing discards the recording.
"""

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.bridge import Post
from app.language.words import decimal, mark, tr
from app.look.label import Label
from app.look.meter import LevelMeter
from app.look.theme import Theme, scaled
from app.voice.consent import Consent
from app.voice.part import PartChoice
from engine.api import ClipInspected, ClipRecording, DropClip, Event, Failed, Levels, RecordClip

TO_READ = (
    "“On a bright morning in May, three grey geese flew over the harbour. Who would have thought "
    "that the youngest, quick and curious, would choose the longest way home?”"
)
_AGAIN, _ANOTHER = mark("&Record again"), mark("&Record another")


class VoiceRecorder(QWidget):
    """Shown on request."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._recording = False
        self._awaited = False  # the recording is being inspected
        self._clip: ClipInspected | None = None  # the recording; None = none
        self.how = Label(tr("Read this aloud, as you speak, in a quiet room:"), self)
        self.how.setProperty("kind", "muted")
        self.sentence = Label(TO_READ, self)
        self.sentence.setFont(scaled(self.font(), 1.05))
        self.meter = LevelMeter(tr("Level of the microphone"), theme, self)
        self.facts = Label("", self)
        self.facts.setFont(scaled(self.font(), 0.9, figures=True))
        self.record = QPushButton(tr("&Record"), self)
        self.record.clicked.connect(self._on_record)
        self.leave = QPushButton(tr("&Close"), self)
        self.leave.clicked.connect(self.give_up)
        self.part = PartChoice(post, self)
        self.consent = Consent(post, self)
        self.consent.adopt.clicked.connect(self._on_adopted)
        for label in (self.how, self.sentence, self.facts):
            label.setWordWrap(True)
        self._lay_out()
        self.hide()

    def takes(self, event: Event) -> bool:
        """Handle an event that answers its own request; False for all others."""
        match event:
            case Levels(microphone_db=level_db) if self.isVisible():
                self.meter.show_level(level_db)
            case ClipRecording(on, seconds, ended_by):
                self._show_recording(on, seconds, ended_by)
                return True
            case ClipInspected() if self._awaited or self._is_ours(event):
                self._show_clip(event)
                return True
            case Failed(code="unreadable-clip", message=message) if self._awaited:
                self._awaited = False
                self.facts.setText(message)
                return True
            case _:
                pass
        return False

    def give_up(self) -> None:
        """Discard the recording."""
        if self._recording or self._awaited or self._clip is not None:
            self._post(DropClip())
        self._recording = self._awaited = False
        self._clip = None
        self.facts.setText("")
        self.record.setText(tr("&Record"))
        self.part.hide()
        self.consent.hide()
        self.hide()

    def _is_ours(self, event: ClipInspected) -> bool:
        return self._clip is not None and self._clip.clip == event.clip

    def _on_record(self) -> None:
        if not self._recording:
            self.part.hide()
            self.consent.hide()
        self._post(RecordClip(on=not self._recording))

    def _on_adopted(self) -> None:
        """The clip becomes a voice; the recorder no longer has it."""
        self._clip = None
        self.part.hide()
        self.facts.setText("")
        self.record.setText(tr(_ANOTHER))

    def _show_recording(self, on: bool, seconds: float, ended_by: str) -> None:
        was, self._recording = self._recording, on
        self.record.setText(tr("&End") if on else tr(_AGAIN))
        if on:
            self.facts.setText(tr("{seconds} s; ten are good", seconds=decimal(seconds, 0)))
        elif was:
            self._awaited = seconds > 0
            self.facts.setText(ended_by or tr("checking it…"))

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
        self.consent.show_clip(clip)

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.addWidget(self.record)
        buttons.addWidget(self.leave)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for widget in (self.how, self.sentence, self.meter, self.facts, self.part, self.consent):
            column.addWidget(widget)
        column.addLayout(buttons)
