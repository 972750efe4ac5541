"""Slow one-off jobs that no other thread may wait for: reading a dropped clip, writing a
conversation, looking for devices.

Invariant: owns nothing between two jobs but the number of the clip that is wanted; looking at a
clip ends as soon as that is another one.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from engine.audio.clips.clip import inspect
from engine.audio.devices.portaudio import Devices
from engine.errors import Cancelled, EngineError, UnreadableClip
from engine.export.conversation import Conversation
from engine.export.files import write
from engine.messages import Event, Failed, Notice
from engine.runtime.parts import Parts
from engine.runtime.turn.facts import ClipRead, DevicesFound, Fact
from engine.runtime.workers.worker import Worker

DEVICE_LOOK_S = 1.0


@dataclass(frozen=True)
class InspectClip:
    """Look at a file, as long as `number` is the one that is wanted."""

    clip: Path
    number: int


@dataclass(frozen=True)
class AdoptVoice:
    """Make a recording a voice called `name`; the person has consented."""

    clip: Path
    name: str


@dataclass(frozen=True)
class WriteConversation:
    conversation: Conversation
    path: Path


BackgroundJob = InspectClip | AdoptVoice | WriteConversation


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
        self._wanted_clip = 0
        self._worker: Worker[BackgroundJob] = Worker(
            "errands", handle=self._handle, tick=self._look_for_devices, report=self._report
        )

    def start(self) -> None:
        self._worker.start()

    def post(self, errand: BackgroundJob) -> None:
        self._worker.post(errand)

    def inspect(self, clip: Path) -> None:
        """Have a file looked at instead of the one before."""
        self.cancel_clip()
        self.post(InspectClip(clip, self._wanted_clip))

    def cancel_clip(self) -> None:
        """No file is wanted any more."""
        self._wanted_clip += 1

    def stop(self, timeout_s: float) -> bool:
        """End the thread and release what watches the devices."""
        self.cancel_clip()
        ended = self._worker.stop(timeout_s)
        if ended:
            self._parts.devices.close()
        return ended

    def _handle(self, errand: BackgroundJob) -> None:
        match errand:
            case InspectClip(clip, number):
                with suppress(Cancelled):
                    report = inspect(clip, lambda: number != self._wanted_clip)
                    self._tell(ClipRead(clip, report))
            case AdoptVoice(clip, name):
                self._adopt(clip, name)
            case WriteConversation(conversation, path):
                write(conversation, path)
                self._tell(Notice(f"The conversation is in {path}."))
            case _:
                assert_never(errand)

    def _look_for_devices(self) -> float | None:
        devices: Devices | None = self._parts.devices.poll()
        if devices:
            self._tell(DevicesFound(devices))
        return DEVICE_LOOK_S

    def _report(self, error: Exception) -> None:
        if not isinstance(error, EngineError):
            error = UnreadableClip(f"The file could not be read: {error}", hint="Try another one.")
        self._tell(Failed.of(error))
