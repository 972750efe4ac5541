"""Slow one-off jobs that no other thread may wait for: reading a dropped clip, writing a
conversation, looking for devices.

Invariant: owns nothing between two jobs but which clip is wanted; looking at one ends as soon as
that is another.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from engine.audio.clips.clip import ClipReport, inspect
from engine.audio.devices.portaudio import Devices
from engine.errors import Cancelled, EngineError, UnreadableClip
from engine.export.conversation import Conversation
from engine.export.files import write
from engine.messages import AddVoice, ClipInspected, Event, Failed, Notice
from engine.runtime.parts import Parts
from engine.runtime.turn.facts import Fact
from engine.runtime.workers.worker import Worker

DEVICE_LOOK_S = 1.0


@dataclass(frozen=True)
class WriteConversation:
    conversation: Conversation
    path: Path


BackgroundJob = AddVoice | WriteConversation


class Background:
    """One thread for jobs in the background."""

    def __init__(
        self,
        parts: Parts,
        tell: Callable[[Fact | Event], None],
        adopt: Callable[[Path, str], None],
    ) -> None:
        self._parts = parts
        self._tell = tell
        self._adopt = adopt
        self._inspected: AddVoice | None = None  # asked for last; None = no file is wanted
        self._worker: Worker[BackgroundJob] = Worker(
            "background", handle=self._handle, tick=self._look_for_devices, report=self._report
        )

    def start(self) -> None:
        self._worker.start()

    def post(self, job: BackgroundJob) -> None:
        """Queue a job; a file is looked at instead of the one before."""
        if isinstance(job, AddVoice) and not job.consent:
            self._inspected = job
        self._worker.post(job)

    def cancel_clip(self) -> None:
        """No file is wanted any more."""
        self._inspected = None

    def stop(self, timeout_s: float) -> bool:
        """End the thread and release what watches the devices."""
        self.cancel_clip()
        ended = self._worker.stop(timeout_s)
        if ended:
            self._parts.devices.close()
        return ended

    def _handle(self, job: BackgroundJob) -> None:
        match job:
            case AddVoice(clip, consent=True, name=name):
                self._adopt(clip, name)
            case AddVoice(clip):
                with suppress(Cancelled):
                    self._tell(_told(clip, inspect(clip, lambda: self._inspected is not job)))
            case WriteConversation(conversation, path):
                write(conversation, path)
                self._tell(Notice(f"The conversation is in {path}."))
            case _:
                assert_never(job)

    def _look_for_devices(self) -> float | None:
        devices: Devices | None = self._parts.devices.poll()
        if devices:
            self._tell(devices)
        return DEVICE_LOOK_S

    def _report(self, error: Exception) -> None:
        if not isinstance(error, EngineError):
            error = UnreadableClip(f"The file could not be read: {error}", hint="Try another one.")
        self._tell(Failed.of(error))


def _told(clip: Path, report: ClipReport) -> ClipInspected:
    levels = (report.seconds, report.level_db, report.noise_db)
    return ClipInspected(clip, *levels, report.usable, report.advice)
