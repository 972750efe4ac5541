"""Previews, recordings and changes of voices, beside the conversation: a preview waits while the
assistant has something to say, and while a clip is recorded nobody is answered.

Invariant: runs on the conductor's thread and decides nothing about who has the floor. A preview
never sounds together with a reply, and the voice that speaks is never another in silence.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Final

from engine.errors import DeviceError, InvalidInput
from engine.messages.commands import AddVoice, Command, PressTalk, StopReply
from engine.messages.events import Event, Failed, Notice, VoicesChanged
from engine.messages.voices import (
    ClipRecording,
    DropClip,
    ListVoices,
    Mix,
    PreviewChanged,
    PreviewState,
    PreviewVoice,
    RecordClip,
    RemoveVoice,
    StopPreview,
    VoiceCommand,
    VoicesListed,
)
from engine.messages.words import Ending, Part, Phase
from engine.runtime.host.status import Status
from engine.runtime.threads import Workers
from engine.runtime.turn import facts as h
from engine.runtime.turn.facts import Fact
from engine.runtime.turn.reply import Reply
from engine.runtime.workers.voice.orders import PREVIEW, Audition, SelectVoice
from engine.runtime.workers.voice_keeper import NoteUse
from engine.settings import Value
from engine.text.speakable import LEFT_OUT
from engine.text.stream.paced import PacedText
from engine.text.word import Word
from engine.translatable import Translatable
from engine.tts.shelf import SENTENCE

LONGEST_TEXT: Final = 1_000  # characters of a preview
VOICE: Final = "speech.voice"


@dataclass(frozen=True)
class Hands:
    """What the desk may ask of the conductor. `change` changes a setting, `chosen` is the voice
    the settings name, `stop_reply` ends what is being said, `attend` tells the ears what to listen
    for now.
    """

    emit: Callable[[Event], None]
    change: Callable[[str, Value], None]
    chosen: Callable[[], str]
    stop_reply: Callable[[], None]
    attend: Callable[[], None]
    today: Callable[[], str] = lambda: date.today().isoformat()


class VoiceDesk:
    """Takes the commands and facts that are about voices."""

    def __init__(self, workers: Workers, status: Status, hands: Hands) -> None:
        self._workers = workers
        self._status = status
        self._hands = hands
        self._name = ""  # of the voice that is previewed
        self._mix: Mix | None = None  # that is previewed instead of a voice with a name
        self._waiting: tuple[Word, ...] = ()  # of a preview that could not begin yet
        self._reply: Reply | None = None  # the preview that goes on
        self._recording = False
        self._listed = False  # whether the voices have been listed
        self._paces: dict[str, float] = {}  # by casefolded name
        self._chosen_anew = False  # the voice's pace applies once it is known who speaks
        self._removed_chosen = ""  # it was removed while it was the chosen one
        self._noted = ("", "")  # the voice and day that were noted last

    @property
    def hearing(self) -> bool:
        """Whether a preview sounds, or is about to."""
        return self._reply is not None

    @property
    def recording(self) -> bool:
        """Whether a clip is being recorded."""
        return self._recording

    def phase_is(self, phase: Phase) -> None:
        """A preview makes room for who has the floor, and begins when nobody has it."""
        if phase is not Phase.IDLE and self._reply is not None:
            self._over()
        elif phase is Phase.IDLE and self._waiting:
            self._play()

    def voice_chosen(self) -> None:
        """Another voice was chosen: it brings its pace along."""
        self._chosen_anew = True

    def sees(self, message: Command | Fact | Event) -> bool:
        """Look at every message; True for those that only a preview concerns."""
        if getattr(message, "turn", None) == PREVIEW:
            self._follow(message)
            return True
        self._note(message)
        return False

    def take(self, message: VoiceCommand | h.VoiceMoved | h.ClipTaken) -> None:
        """Act on what is about voices. InvalidInput, DeviceError say why it cannot be done."""
        match message:
            case PreviewVoice(name, text, mix):
                self._ask(name, text, mix)
            case StopPreview():
                self._stop_preview()
            case RecordClip() | DropClip():
                self._record(message)
            case h.ClipTaken(clip):
                self._workers.background.post(AddVoice(clip))
            case h.VoiceMoved(name, now):
                self._moved(name, now)
            case _:
                if isinstance(message, RemoveVoice) and message.name == self._name:
                    self._stop_preview()
                self._workers.background.post(message)

    # ------------------------------------------------------------------------ preview

    def _ask(self, name: str, text: str, mix: Mix | None) -> None:
        if len(text) > LONGEST_TEXT:
            raise InvalidInput(
                "That text has {count} characters; {most} can be heard.",
                hint="Give a sentence or two.",
                count=len(text),
                most=LONGEST_TEXT,
            )
        stream = PacedText(pacing=False)
        words = (*stream.push(text or SENTENCE).words, *stream.end().words)
        if not words:
            hint = LEFT_OUT if stream.left_out else Translatable("Give it some words.")
            raise InvalidInput("There is nothing to say in this text.", hint=hint)
        if self._recording:
            raise InvalidInput("A clip is being recorded.", hint="End that first.")
        if stream.left_out:
            self._hands.emit(Notice(LEFT_OUT))
        self._stop_preview()
        self._name, self._mix, self._waiting = name, mix, words
        self._hands.emit(PreviewChanged(name, PreviewState.WAITING))
        self._hands.attend()  # which begins it when nobody has the floor

    def _play(self) -> None:
        words, self._waiting = self._waiting, ()
        self._reply = Reply(PREVIEW, self._workers.dials, aloud=True)
        self._hands.emit(PreviewChanged(self._name, PreviewState.MAKING))
        pace = self._paces.get(self._name.casefold())
        self._workers.speaker.post(Audition(self._reply, self._mix or self._name, words, pace))

    def _stop_preview(self) -> None:
        if self._reply is not None or self._waiting:
            self._over()
            self._hands.attend()

    def _over(self) -> None:
        """End the preview, whether it was heard or not."""
        name, self._name, self._waiting = self._name, "", ()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.end(Ending.INTERRUPTED_BY_STOP)
        self._hands.emit(PreviewChanged(name, PreviewState.OVER))

    def _follow(self, message: object) -> None:
        """What the speaker tells of a preview; of an older one nothing counts any more."""
        match message:
            case h.ReplyAudible() if self._reply is not None and self._reply.ending is None:
                self._hands.emit(PreviewChanged(self._name, PreviewState.SPEAKING))
            case h.ReplyEnded() if self._reply is not None and self._reply.ending is not None:
                self._over()
                self._hands.attend()
            case Failed(code, text, hint):
                self._hands.emit(Failed(code, text, hint))

    # ---------------------------------------------------------------------- recording

    def _record(self, command: RecordClip | DropClip) -> None:
        if isinstance(command, RecordClip) and command.on:
            if Part.MICROPHONE not in self._status.running:
                self._hands.emit(ClipRecording(False))
                raise DeviceError(
                    "There is no microphone.", hint="Connect one, or drop a recording instead."
                )
            self._stop_preview()
            self._hands.stop_reply()
            self._recording = True
            self._hands.attend()
        self._workers.recorder.post(command)

    # ------------------------------------------------------------------------- shelf

    def _moved(self, name: str, now: str) -> None:
        """A voice was renamed, removed, brought back, taken in or made again."""
        chosen = self._hands.chosen()
        if name and name.casefold() == chosen.casefold():
            if not now:
                self._removed_chosen = name
            if now != chosen:
                self._hands.change(VOICE, now)
            if not now:
                self._hands.emit(
                    Notice.of("{name} was removed; the default voice speaks now.", name=name)
                )
        elif not name and now and now == self._removed_chosen:
            self._removed_chosen = ""
            self._hands.change(VOICE, now)
        # the list of choices has changed, and with it perhaps the voice
        self._workers.speaker.post(SelectVoice(self._hands.chosen()))

    def _note(self, message: object) -> None:
        """What is for others, and of interest here."""
        match message:
            case StopReply() | PressTalk() if self.hearing or self._waiting:
                self._stop_preview()
            case VoicesListed(voices):
                self._paces = {v.name.casefold(): v.pace for v in voices if v.pace is not None}
                self._listed = True
            case VoicesChanged(selected=selected):
                self._known(selected)
            case h.VoiceAdopted():
                self._workers.recorder.post(DropClip())  # it is kept with the voice
                self._workers.background.post(ListVoices())
            case h.ReplyAudible() if self._noted != (self._status.voice, self._hands.today()):
                self._noted = (self._status.voice, self._hands.today())
                self._workers.background.post(NoteUse(*self._noted))
            case ClipRecording(on=False) if self._recording:
                self._recording = False
                self._hands.attend()
            case Failed(part=Part.MICROPHONE) if self._recording:
                self._workers.recorder.post(RecordClip(on=False))

    def _known(self, selected: str) -> None:
        """Note whose voice speaks."""
        pace = self._paces.get(selected.casefold())
        if self._chosen_anew and pace is not None:
            self._hands.change("speech.rate", pace)
        self._chosen_anew = False
        self._workers.background.post(ListVoices())
