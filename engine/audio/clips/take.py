"""A clip recorded with the microphone, from which a voice is made.

Invariant: only the user may read its file, and at most one exists: a new take deletes the files of
an earlier one, or of a program that was killed.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from engine.audio.base import Pcm
from engine.audio.clips.wave_file import WaveFile
from engine.errors import DeviceError, InvalidInput
from engine.translatable import Translatable

NAME: Final = "My voice.wav"
LONGEST_S: Final = 30.0  # a voice uses at most 20 s of speech


class Take:
    """A recording that grows until close(). InvalidInput if the folder cannot be created."""

    def __init__(self, folder: Path) -> None:
        forget(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(
                "The folder {folder} cannot be made: {error}.",
                hint="Check that there is room, and that you may write there.",
                folder=folder,
                error=error.strerror,
            ) from error
        self._path = folder / NAME
        self._file: WaveFile | None = None  # None = no samples yet
        self._rate = 0  # Hz of the microphone
        self._samples = 0
        self.ended_by = ""  # why it stopped; empty while it records

    @property
    def seconds(self) -> float:
        return self._samples / self._rate if self._rate else 0.0

    def add(self, heard: Pcm, rate: int) -> None:
        """Append samples of the microphone: mono, at `rate` Hz."""
        if not len(heard) or self.ended_by:
            return
        if self._file is None:
            try:
                self._file, self._rate = WaveFile(self._path, rate), rate
            except DeviceError as error:
                self.ended_by = error.message
                return
        if rate != self._rate:
            self.ended_by = Translatable("Another microphone took over; record it again.")
            return
        self._file.append(heard)
        self._samples += len(heard)
        if self._file.fault:
            reason = self._file.fault.strerror or self._file.fault
            self.ended_by = Translatable("The recording stopped: {reason}.", reason=reason)
        elif self.seconds >= LONGEST_S:
            seconds = f"{LONGEST_S:.0f}"
            self.ended_by = Translatable("{seconds} seconds are enough.", seconds=seconds)

    def close(self) -> Path | None:
        """Return the file; None if there were no samples, or it could not be written."""
        if self._file is None:
            return None
        self._file.close()
        return None if self._file.fault else self._path


def forget(folder: Path) -> None:
    """Delete all takes in the folder."""
    for path in (*folder.glob("*.wav"), *folder.glob(".*.part")):
        with suppress(OSError):
            path.unlink()
