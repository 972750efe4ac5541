"""Previews, recordings and changes of voices beside the conversation. A preview waits while the
assistant speaks; while a clip is recorded, the assistant does not answer.

Invariant: runs on the conductor's thread and makes no decision about the floor. A preview never
sounds together with a reply, and the speaking voice never changes unnoticed.
"""

from datetime import date
from typing import Final

from engine.errors import DeviceError, InvalidInput
from engine.languages import ENGLISH
from engine.messages import voices
from engine.messages.commands import StopReply
from engine.messages.events import Failed, Notice
from engine.messages.words import Ending, Part, Phase
from engine.names_file import in_force
from engine.runtime.host.port import ConductorPort
from engine.runtime.host.status import Status
from engine.runtime.threads import Workers
from engine.runtime.turn import facts
from engine.runtime.turn.reply import Reply
from engine.runtime.workers.background import NoteUse
from engine.runtime.workers.voice.orders import PREVIEW, Audition, SelectVoice
from engine.settings import SettingKey
from engine.text.names import Name, checked
from engine.text.paced import PacedText
from engine.text.speakable import LEFT_OUT, check_length, nothing_to_say
from engine.text.word import Word
from engine.tts.voice_store import preview_sentence

LONGEST_TEXT: Final = 1_000  # characters of a preview
VOICE: Final = SettingKey.VOICE


class VoicePreview:
    """Handles commands and facts about voices."""

    def __init__(self, workers: Workers, status: Status, port: ConductorPort) -> None:
        self._workers = workers
        self._status = status
        self._port = port
        self._name = ""  # of the previewed voice
        self._mix: voices.Mix | None = None  # previewed instead of a named voice
        self._waiting: tuple[Word, ...] = ()  # words of a preview that could not begin yet
        self._reply: Reply | None = None  # the running preview
        self.recording = False  # a clip is being recorded
        self._ignored_for: set[type] = set()  # commands that block the microphone
        self._paces: dict[str, float] = {}  # by casefolded name
        self._languages: dict[str, str] = {}  # likewise
        self._chosen = port.settings().speech.voice
        self._chosen_anew = False  # the voice's pace applies once the voice is known
        self._removed_chosen = ""  # it was removed while it was the chosen one
        self._noted = ("", "")  # the voice and day that were noted last

    @property
    def hearing(self) -> bool:
        """Whether speech is not addressed to the assistant: during or just before a preview, a
        comparison of systems, or a test of the microphone.
        """
        return self._reply is not None or bool(self._ignored_for)

    def phase_is(self, phase: Phase) -> None:
        """Stop the preview when the floor is taken; begin a waiting one when it is free."""
        if phase is not Phase.IDLE and self._reply is not None:
            self._over()
        elif phase is Phase.IDLE and self._waiting:
            self._play()

    def voice_chosen(self) -> None:
        """Another voice was chosen: use its pace. If it speaks another language than the one
        before, that one goes on speaking its own.
        """
        self._chosen_anew = True
        before, self._chosen = self._chosen, self._port.settings().speech.voice
        names = (before, self._chosen)
        was, now = (self._languages.get(name.casefold(), ENGLISH) for name in names)
        if was != now:
            self._port.change(f"speech.voice_{was}", before)

    def rate_chosen(self) -> None:
        """Keep a rate that was chosen after the voice."""
        self._chosen_anew = False

    def handle(self, message: voices.VoiceCommand | facts.VoiceMoved) -> None:
        """Act on a message about voices. InvalidInput, DeviceError."""
        match message:
            case voices.PreviewVoice():
                self._ask(message)
            case voices.StopPreview():
                self.stop_preview()
            case voices.RecordClip() | voices.DropClip():
                self._record(message)
            case voices.Comparing(on) | voices.TryMicrophone(on):
                change = self._ignored_for.add if on else self._ignored_for.discard
                change(type(message))
                self._port.attend()
            case facts.VoiceMoved(name, now):
                self._moved(name, now)
            case _:
                if isinstance(message, voices.RemoveVoice) and message.name == self._name:
                    self.stop_preview()
                self._workers.background.post(message)

    # ------------------------------------------------------------------------ preview

    def _ask(self, asked: voices.PreviewVoice) -> None:
        name, text, mix = asked.name, asked.text, asked.mix
        check_length(text, LONGEST_TEXT)
        language = self._languages.get((mix.one if mix else name).casefold(), ENGLISH)
        of_name = language if asked.language == language else ""  # another voice says it too
        said = (checked(Name(text, asked.said, of_name)),) if asked.said else ()
        stream = PacedText(pacing=False, usual=language, names=(*in_force(), *said))
        text = text or preview_sentence(language)
        words = (*stream.push(text).words, *stream.end().words)
        if not words:
            raise nothing_to_say(left_out=stream.left_out)
        if self.recording:
            raise InvalidInput("A clip is being recorded.", hint="End the recording first.")
        if stream.left_out:
            self._port.emit(Notice(LEFT_OUT))
        self.stop_preview()
        self._name, self._mix, self._waiting = name, mix, words
        self._port.emit(voices.PreviewChanged(name, voices.PreviewState.WAITING))
        self._port.attend()  # begins it if the floor is free

    def _play(self) -> None:
        words, self._waiting = self._waiting, ()
        self._reply = Reply(PREVIEW, self._workers.controls, aloud=True)
        self._port.emit(voices.PreviewChanged(self._name, voices.PreviewState.MAKING))
        pace = self._paces.get(self._name.casefold())
        self._workers.speaker.post(Audition(self._reply, self._mix or self._name, words, pace))

    def stop_preview(self) -> None:
        if self._reply is not None or self._waiting:
            self._over()
            self._port.attend()

    def _over(self) -> None:
        """End the preview, whether it was heard or not."""
        name, self._name, self._waiting = self._name, "", ()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.end(Ending.INTERRUPTED_BY_STOP)
        self._port.emit(voices.PreviewChanged(name, voices.PreviewState.OVER))

    def follow(self, message: object) -> None:
        """Handle messages of the turn PREVIEW; ignore those of an older preview."""
        match message:
            case facts.ReplyAudible() if self._reply is not None and self._reply.ending is None:
                self._port.emit(voices.PreviewChanged(self._name, voices.PreviewState.SPEAKING))
            case facts.ReplyEnded() if self._reply is not None and self._reply.ending is not None:
                self._over()
                self._port.attend()
            case Failed(code, text, hint):
                self._port.emit(Failed(code, text, hint))

    # ---------------------------------------------------------------------- recording

    def _record(self, command: voices.RecordClip | voices.DropClip) -> None:
        if isinstance(command, voices.RecordClip) and command.on:
            if Part.MICROPHONE not in self._status.running:
                self._port.emit(voices.ClipRecording(False))
                raise DeviceError(
                    "No microphone is connected.", hint="Connect one, or drop a recording instead."
                )
            self.stop_preview()
            self._port.decide(StopReply())
            self.recording = True
            self._port.attend()
        self._workers.recorder.post(command)

    # ------------------------------------------------------------------------- shelf

    def _moved(self, name: str, now: str) -> None:
        """A voice was renamed, removed, restored, imported or made again."""
        chosen = self._port.settings().speech.voice
        if name and name.casefold() == chosen.casefold():
            if now != chosen:
                self._port.change(VOICE, now)
            if not now:
                self._removed_chosen = name
                self._port.emit(
                    Notice.of("{name} was removed; the default voice speaks now.", name=name)
                )
        elif not name and now and now == self._removed_chosen:
            self._removed_chosen = ""
            self._port.change(VOICE, now)
        # the list of choices has changed, and with it perhaps the voice
        self._workers.speaker.post(SelectVoice(self._port.settings().speech))

    def listed(self, listed: voices.VoicesListed) -> None:
        """Update the list of voices."""
        self._paces = {v.name.casefold(): v.pace for v in listed.voices if v.pace is not None}
        self._languages = {v.name.casefold(): v.language for v in listed.voices}

    def adopted(self) -> None:
        """The clip has become a voice, which keeps it."""
        self._workers.recorder.post(voices.DropClip())
        self._workers.background.post(voices.ListVoices())

    def spoke(self) -> None:
        """The voice of the conversation is audible: note the day."""
        spoke = (self._status.speaking, date.today().isoformat())
        if self._noted != spoke:
            self._noted = spoke
            self._workers.background.post(NoteUse(*spoke))

    def recorded(self, clip: voices.ClipRecording) -> None:
        """Follow the recording of a clip; the assistant answers again once it has ended."""
        if self.recording and not clip.on:
            self.recording = False
            self._port.attend()

    def failed(self, fault: Failed) -> None:
        """End the recording of a clip without a microphone."""
        if self.recording and fault.part is Part.MICROPHONE:
            self._workers.recorder.post(voices.RecordClip(on=False))

    def known(self, selected: str) -> None:
        """Note the speaking voice, and begin at the pace of one that was just chosen."""
        chosen = self._port.settings().speech.voice or selected
        pace = self._paces.get(chosen.casefold())
        if self._chosen_anew and pace is not None:
            self._port.change(SettingKey.RATE, pace)
        self._chosen_anew = False
        self._workers.background.post(voices.ListVoices())
