"""Record a clip with the microphone, for a voice.

Invariant: recording starts and ends on request, and ClipRecording reports both. Writing never
delays the ears.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from engine.audio.base import Pcm
from engine.audio.clips.recording import Take, forget
from engine.errors import EngineError
from engine.messages.commands import AddVoice
from engine.messages.voices import ClipRecording, DropClip, RecordClip
from engine.runtime.workers.worker import Actor, Tell
from engine.settings_file import data_folder
from engine.translatable import Translatable

REPORT_S = 0.2  # between two reports of a clip's length

Sink = Callable[[Pcm, int], None]


@dataclass(frozen=True)
class Tap:
    """An order to the ears: pass all sound of the microphone to `sink`; None = stop."""

    sink: Sink | None


@dataclass(frozen=True)
class _Block:
    heard: Pcm
    rate: int


RecorderOrder = RecordClip | DropClip | _Block


class Recorder(Actor[RecorderOrder]):
    """One thread that writes. `tap` starts and (with None) ends the calls of feed(). `inspect` gets
    each complete clip.
    """

    def __init__(
        self,
        tell: Tell,
        tap: Callable[[Sink | None], None],
        inspect: Callable[[AddVoice], None],
    ) -> None:
        super().__init__("recorder", tell)
        self._tap = tap
        self._inspect = inspect
        self._take: Take | None = None  # None = nothing is recorded
        self._reported_s = 0.0  # length of the clip in the last report

    # -------------------------------------------------------------- from any thread

    def feed(self, heard: Pcm, rate: int) -> None:
        """Queue samples of the microphone (mono, `rate` Hz); called from one thread."""
        self.post(_Block(heard, rate))

    def _release(self) -> None:
        self._end(keep=False)
        forget(_takes())

    # ------------------------------------------------------------------ orders

    def _handle(self, order: RecorderOrder) -> None:
        match order:
            case RecordClip(on=True):
                self._begin()
            case RecordClip():
                self._end()
            case DropClip():
                self._end(keep=False)
                forget(_takes())
            case _Block():
                self._write(order)
            case _:
                assert_never(order)

    def _begin(self) -> None:
        if self._take is not None:
            return
        try:
            self._take = Take(_takes())
        except EngineError:
            self._tell(ClipRecording(False))
            raise
        self._reported_s = 0.0
        self._tap(self.feed)
        self._tell(ClipRecording(True))

    def _end(self, *, keep: bool = True) -> None:
        take, self._take = self._take, None
        if take is None:
            return
        self._tap(None)
        clip = take.close()
        if not keep:
            forget(_takes())
        ended_by = take.ended_by or ("" if clip or not keep else Translatable("Nothing was heard."))
        self._tell(ClipRecording(False, take.seconds, ended_by))
        if keep and clip is not None:
            self._inspect(AddVoice(clip))

    def _write(self, block: _Block) -> None:
        if self._take is None:
            return
        self._take.add(block.heard, block.rate)
        if self._take.ended_by:
            self._end()
        elif self._take.seconds - self._reported_s >= REPORT_S:
            self._reported_s = self._take.seconds
            self._tell(ClipRecording(True, self._reported_s))


def _takes() -> Path:
    """Return the folder of clips that are not voices yet."""
    return data_folder() / "takes"
