"""Slow one-off jobs that no other thread may wait for: reading a dropped clip, writing a
conversation, looking for devices.

Invariant: owns nothing between two jobs but which clip is wanted; looking at one ends as soon as
that is another.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.audio.clips.clip import inspect
from engine.audio.devices.portaudio import Devices
from engine.errors import Cancelled, EngineError, UnreadableClip
from engine.export.conversation import Conversation
from engine.export.files import write
from engine.messages.commands import AddVoice, CancelClip
from engine.messages.events import ClipInspected, Event, Notice
from engine.runtime.factories import Factories
from engine.runtime.turn.facts import Fact
from engine.runtime.workers.actor import Actor
from engine.runtime.workers.voice.loaded_voice import LoadedVoice
from engine.runtime.workers.voice_keeper import ShelfJob, VoiceKeeper
from engine.tts.voice_lookup import Stretch

DEVICE_LOOK_S = 1.0


@dataclass(frozen=True)
class WriteConversation:
    conversation: Conversation
    path: Path


BackgroundJob = AddVoice | WriteConversation | ShelfJob


class Background(Actor[BackgroundJob]):
    """One thread for jobs in the background."""

    def __init__(
        self,
        factories: Factories,
        tell: Callable[[Fact | Event], None],
        voice: LoadedVoice,
    ) -> None:
        super().__init__("background", tell)
        self._factories = factories
        self._voice = voice
        self._keeper = VoiceKeeper(tell, voice.roster, voice.remake)
        self._inspected: AddVoice | None = None  # asked for last; None = no file is wanted

    def post(self, job: BackgroundJob | CancelClip) -> None:
        """Queue a job; looking at a file takes the place of looking at the one before, which
        CancelClip gives up.
        """
        if isinstance(job, CancelClip):
            self._inspected = None
            return
        if isinstance(job, AddVoice) and not job.consent:
            self._inspected = job
        super().post(job)

    def stop(self, timeout_s: float) -> bool:
        """See Actor; looking at a file is given up."""
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
                self._keeper.do(job)

    def _looked_at(self, job: AddVoice) -> ClipInspected:
        report = inspect(
            job.clip,
            lambda: self._inspected is not job,
            start_s=job.start_s,
            seconds=job.seconds,
        )
        levels = (report.seconds, report.level_db, report.noise_db)
        return ClipInspected(
            job.clip,
            *levels,
            report.usable,
            report.advice,
            part=(job.start_s, report.seconds) if job.start_s or job.seconds else None,
            better=report.better,
        )

    def _tick(self) -> float | None:
        devices: Devices | None = self._factories.devices.poll()
        if devices:
            self._tell(devices)
        return DEVICE_LOOK_S

    def _unknown(self, error: Exception) -> EngineError:
        return UnreadableClip(
            "The file could not be read: {error}", hint="Try another one.", error=error
        )
