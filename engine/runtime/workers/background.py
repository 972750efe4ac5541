"""Slow one-off jobs that no other thread may wait for: reading a dropped clip, changing the library
of voices, writing a conversation, looking for devices.

Invariant: the only state between two jobs is the requested clip; inspecting another one ends at
once. After each change of voices, successful or not, the list on disk is reported.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from engine.audio.clips.clip import inspect
from engine.errors import Cancelled, EngineError, ModelError, UnreadableClip
from engine.export import Conversation, write
from engine.messages import voices
from engine.messages.commands import AddVoice, CancelClip
from engine.messages.events import ClipInspected, Notice
from engine.runtime.factories import Factories
from engine.runtime.turn.facts import VoiceMoved
from engine.runtime.workers.voice.loaded_voice import LoadedVoice
from engine.runtime.workers.worker import Actor, Tell
from engine.tts.voice_lookup import Stretch
from engine.tts.voice_store import VoiceStore

DEVICE_LOOK_S = 1.0


@dataclass(frozen=True)
class WriteConversation:
    conversation: Conversation
    path: Path


@dataclass(frozen=True)
class NoteUse:
    """A voice spoke on a day (an ISO date)."""

    name: str
    day: str


MovingJob = (
    voices.RenameVoice
    | voices.RemoveVoice
    | voices.RestoreVoice
    | voices.RemakeVoice
    | voices.MixVoices
    | voices.ImportVoice
    | voices.ChooseLearnt
)
StoreJob = voices.StoreCommand | NoteUse
BackgroundJob = AddVoice | WriteConversation | StoreJob


class Background(Actor[BackgroundJob]):
    """One thread for jobs in the background."""

    def __init__(
        self,
        factories: Factories,
        tell: Tell,
        voice: LoadedVoice,
    ) -> None:
        super().__init__("background", tell)
        self._factories = factories
        self._voice = voice
        self._inspected: AddVoice | None = None  # the last request; None = no file is wanted

    def post(self, job: BackgroundJob | CancelClip) -> None:
        """Queue a job. A new file replaces the one being inspected, and CancelClip stops that."""
        if isinstance(job, CancelClip):
            self._inspected = None
            return
        if isinstance(job, AddVoice) and not job.consent:
            self._inspected = job
        super().post(job)

    def stop(self, timeout_s: float) -> bool:
        """See Actor; also stops inspecting a file."""
        self._inspected = None
        return super().stop(timeout_s)

    def _release(self) -> None:
        self._factories.devices.close()

    def _handle(self, job: BackgroundJob) -> None:
        match job:
            case AddVoice(clip, consent=True, name=name, start_s=start_s, seconds=seconds):
                self._voice.adopt(clip, name, Stretch(start_s, seconds))
            case AddVoice():
                with suppress(Cancelled):
                    self._tell(self._looked_at(job))
            case WriteConversation(conversation, path):
                write(conversation, path)
                self._tell(Notice.of("The conversation is in {path}.", path=path))
            case _:
                self._change_voices(job)

    def _looked_at(self, job: AddVoice) -> ClipInspected:
        report = inspect(
            job.clip, lambda: self._inspected is not job, start_s=job.start_s, seconds=job.seconds
        )
        levels = (report.seconds, report.level_db, report.noise_db)
        part = (job.start_s, report.seconds) if job.start_s or job.seconds else None
        return ClipInspected(
            job.clip, *levels, report.usable, report.advice, part=part, better=report.better
        )

    def _change_voices(self, job: StoreJob) -> None:
        """Change voices. InvalidInput, UnreadableClip and ModelError say what failed, and why."""
        catalogue = self._voice.catalogue()
        if catalogue is None:
            raise ModelError("No voice has loaded yet.", hint="Try again in a moment.")
        store = VoiceStore(catalogue)
        try:
            self._do_on(store, job)
        finally:
            entries = store.entries()
            here = tuple(each.name for each in entries if catalogue.voice_model in each.made_for)
            self._tell(
                voices.VoicesListed(entries, store.removed(), here if catalogue.can_mix else ())
            )

    def _do_on(self, store: VoiceStore, job: StoreJob) -> None:
        match job:
            case voices.ListVoices():
                pass  # done after every job
            case voices.DiscardVoice(name):
                store.discard(name)
            case voices.ExportVoice(name, path):
                written = store.export(name, path)
                self._tell(Notice.of("The voice and its recording are in {path}.", path=written))
            case voices.LearnVoice(name, on, words):
                store.note_learning(name, words if on else None)
            case voices.SetVoicePace(name, pace):
                store.set_pace(name, pace)
            case NoteUse(name, day):
                store.spoke(name, day)
            case _:
                self._tell(self._moved(store, job))

    def _moved(self, store: VoiceStore, job: MovingJob) -> VoiceMoved:
        """Do a job by which a voice comes, goes or changes, and return that."""
        match job:
            case voices.RenameVoice(name, new):
                return VoiceMoved(name, store.rename(name, new))
            case voices.RemoveVoice(name):
                return VoiceMoved(store.remove(name), "")
            case voices.RestoreVoice(name):
                return VoiceMoved("", store.restore(name))
            case voices.RemakeVoice(name):
                self._voice.remake(name)
                return VoiceMoved(name, name)
            case voices.MixVoices(name, mix):
                return VoiceMoved("", store.mix(name, mix))
            case voices.ImportVoice(path, name):
                return VoiceMoved("", store.read_in(path, name))
            case voices.ChooseLearnt(name, learnt):
                store.choose_learnt(name, learnt=learnt)
                return VoiceMoved(name, name)
            case _:
                assert_never(job)

    def _tick(self) -> float | None:
        if devices := self._factories.devices.poll():
            self._tell(devices)
        return DEVICE_LOOK_S

    def _unknown(self, error: Exception) -> EngineError:
        """The window waits for the report about a recording until this code comes."""
        return UnreadableClip(
            "Something went wrong: {error}", hint="Please report this.", error=error
        )
