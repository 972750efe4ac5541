"""Records a new voice with the microphone: a sentence to read, a meter, and the result.

Invariant: nothing is recorded before the person starts it. A recording stays until it has become a
voice, is recorded again or discarded by its own button, or the program ends.
"""

from PySide6.QtWidgets import QWidget

from app.bridge import Post
from app.language import decimal, mark, tr
from app.look.controls import LevelMeter, button
from app.look.label import WrappingLabel
from app.look.layout import LEFT, Spring, column, placed, row
from app.voice.clip import BetterPart, Consent
from engine.api import ClipInspected, ClipRecording, DropClip, Event, Failed, Levels, RecordClip

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
        self.part = BetterPart(post, self)
        self.consent = Consent(post, self)
        self.consent.adopt.clicked.connect(self._on_adopted)
        words = (self.how, self.sentence, self.meter, self.facts)
        buttons = row(self.record, self.leave, Spring())
        column(*words, placed(LEFT, self.part), self.consent, buttons, on=self, spacing=8)
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
