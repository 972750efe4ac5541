"""Records what is heard and played, while the person wants it.

Invariant: nothing is recorded before it is asked for and after its end, and RecordingChanged tells
of both. Writing never holds up the ears: what a disk cannot take in time ends the recording.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import assert_never

from engine.audio.base import Pcm, Played
from engine.audio.clips.recording import LONGEST_S, Recorded, Recording, join, longest_s
from engine.audio.clips.take import Take, forget
from engine.errors import DeviceError, EngineError, InvalidInput
from engine.messages.commands import Export, NewConversation, Record
from engine.messages.events import Event, Failed, Notice, RecordingChanged
from engine.messages.voices import ClipRecording, DropClip, RecordClip
from engine.runtime.turn.facts import ClipTaken, Fact
from engine.runtime.workers.worker import Actor
from engine.settings_file import data_folder
from engine.translatable import Translatable

MOST_BYTES = 4_000_000_000  # of recordings in their folder: eleven hours
LEAST_S = 10.0  # of room, or recording does not begin
LATE_BLOCKS = 1000  # of 20 to 50 ms: what memory holds for a disk that is slow

TOLD_S = 0.2  # how often it is told how long a clip is by now

Sink = Callable[[Pcm, int, Played], None]


@dataclass(frozen=True)
class Overhear:
    """An order to the ears: give `sink` all that is heard and played; None = nobody any more."""

    sink: Sink | None


@dataclass(frozen=True)
class _Block:
    heard: Pcm
    rate: int
    played: Played
    at: float


Order = Record | NewConversation | Export | RecordClip | DropClip | _Block


class Recorder(Actor[Order]):
    """One thread that writes. `overhear` begins and (with None) ends that offer() is called."""

    def __init__(
        self,
        tell: Callable[[Fact | Event], None],
        overhear: Callable[[Sink | None], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__("recorder", tell)
        self._overhear = overhear
        self._clock = clock
        self._recording: Recording | None = None  # None = nothing is recorded
        self._take: Take | None = None  # a clip for a voice; None = none is recorded
        self._told_s = 0.0  # how long it was when that was last told
        self._done: tuple[Recorded, ...] = ()  # of this conversation
        self._offered = 0  # blocks; each counted by one thread
        self._taken = 0
        self.recorded: tuple[Recorded, ...] = ()  # with what goes on; replaced whole

    # -------------------------------------------------------------- from any thread

    def offer(self, heard: Pcm, rate: int, played: Played) -> None:
        """What the microphone heard (mono, `rate` Hz) and what the loudspeaker played since the
        last call; from one thread.
        """
        if self._offered - self._taken < LATE_BLOCKS:
            self._offered += 1
            self.post(_Block(heard, rate, played, self._clock()))

    def _release(self) -> None:
        """Give the file its name."""
        self._end()
        self._end_take(keep=False)
        forget(_takes())

    # ------------------------------------------------------------------ orders

    def _handle(self, order: Order) -> None:
        match order:
            case Record(on=True, path=path):
                self._begin(path)
            case Record():
                self._end()
            case NewConversation():
                self._change_tape()
            case Export(path):
                join(self.recorded, path)
                self._tell(Notice.of("The sound is in {path}.", path=path))
            case RecordClip(on=True):
                self._begin_take()
            case RecordClip():
                self._end_take()
            case DropClip():
                self._end_take(keep=False)
                forget(_takes())
            case _Block():
                self._taken += 1
                self._write(order)
                self._write_take(order)
            case _:
                assert_never(order)

    def _begin(self, path: Path | None) -> None:
        if self._recording is not None:
            return
        try:
            self._recording = self._open(path)
        except EngineError:
            self._tell(RecordingChanged(False))
            raise
        self._overhear(self.offer)
        self._tell(RecordingChanged(True))

    def _open(self, path: Path | None) -> Recording:
        room_s = LONGEST_S
        if path is None:
            folder = _made(data_folder() / "recordings")
            path = _free_name(folder, f"Rubato {datetime.now():%Y-%m-%d %H.%M.%S}")
            room_s = longest_s(folder, MOST_BYTES)
        if room_s < LEAST_S:
            raise InvalidInput(
                "There is no room for another recording.",
                hint="Move or delete some of those in {folder}.",
                folder=path.parent,
            )
        return Recording(path, self._clock(), longest_s=room_s)

    def _end(self) -> None:
        if self._recording is None:
            return
        recorded, self._recording = self._recording.close(), None
        self._rest()
        self._done = self.recorded = (*self._done, recorded)
        self._tell(RecordingChanged(False))
        minutes, seconds = divmod(round(recorded.seconds), 60)
        self._tell(
            Notice.of(
                "Recorded {minutes}:{seconds} in {path}",
                minutes=minutes,
                seconds=f"{seconds:02}",
                path=recorded.path,
            )
        )

    def _rest(self) -> None:
        """Stop overhearing when nothing is recorded any more."""
        if self._recording is None and self._take is None:
            self._overhear(None)

    def _begin_take(self) -> None:
        if self._take is not None:
            return
        try:
            self._take = Take(_takes())
        except EngineError:
            self._tell(ClipRecording(False))
            raise
        self._told_s = 0.0
        self._overhear(self.offer)
        self._tell(ClipRecording(True))

    def _end_take(self, *, keep: bool = True) -> None:
        take, self._take = self._take, None
        if take is None:
            return
        self._rest()
        clip = take.close()
        if not keep:
            forget(_takes())
        ended_by = take.ended_by or ("" if clip or not keep else Translatable("Nothing was heard."))
        self._tell(ClipRecording(False, take.seconds, ended_by))
        if keep and clip is not None:
            self._tell(ClipTaken(clip))

    def _write_take(self, block: _Block) -> None:
        if self._take is None:
            return
        self._take.add(block.heard, block.rate)
        if self._take.ended_by:
            self._end_take()
        elif self._take.seconds - self._told_s >= TOLD_S:
            self._told_s = self._take.seconds
            self._tell(ClipRecording(True, self._told_s))

    def _change_tape(self) -> None:
        """Begin another file: what follows belongs to another conversation."""
        going_on = self._recording is not None
        self._end()
        self._done = self.recorded = ()
        if going_on:
            self._begin(None)

    def _write(self, block: _Block) -> None:
        if self._recording is None:
            return
        self._recording.add(block.heard, block.rate, block.played, block.at)
        self.recorded = (*self._done, self._recording.so_far)
        ended_by = self._recording.ended_by
        if self._offered - self._taken >= LATE_BLOCKS - 1:
            ended_by = Translatable("The disk is too slow for the recording.")
        if ended_by:
            self._tell(
                Failed("recording", ended_by, Translatable("What was recorded until now is kept."))
            )
            self._end()

    def _unknown(self, error: Exception) -> EngineError:
        return DeviceError("Recording failed: {error}", hint="Switch it on again.", error=error)


def _free_name(folder: Path, name: str) -> Path:
    """A file name that is free, because two recordings can begin in the same second."""
    names = (name if number == 1 else f"{name} ({number})" for number in count(1))
    return next(path for each in names if not (path := folder / f"{each}.wav").exists())


def _takes() -> Path:
    """The folder of clips of which no voice was made yet."""
    return data_folder() / "takes"


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            "The folder {folder} for recordings cannot be made: {error}.",
            hint="Make it yourself, or set RUBATO_DATA to a folder where you may write.",
            folder=folder,
            error=error.strerror,
        ) from error
    return folder
