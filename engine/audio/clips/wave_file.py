"""A WAV file that grows while it is recorded.

Invariant: after every append the file on disk is a complete WAV under a temporary name until it is
closed, so a crash loses only its name. The file is new, its temporary name cannot be predicted, and
only the user may read it.
"""

import os
import tempfile
import wave
from pathlib import Path

import numpy as np

from engine.audio.base import Pcm
from engine.errors import DeviceError


class WaveFile:
    """A 16-bit WAV that grows. A fault is stored in `fault`, and ends the writing. DeviceError if
    it cannot be created.
    """

    def __init__(self, path: Path, sample_rate: int) -> None:
        self._path = path
        self.fault: OSError | None = None
        try:
            handle, name = tempfile.mkstemp(".part", f".{path.name}.", path.parent)
        except OSError as error:
            raise DeviceError(
                "The recording '{name}' could not be created ({error}).",
                hint="Choose a folder that exists and can be written to.",
                name=path.name,
                error=error,
            ) from error
        self.partial = Path(name)
        self._stream = os.fdopen(handle, "wb")
        self._wave = wave.open(self._stream, "wb")  # noqa: SIM115  closed in close()
        self._wave.setnchannels(1)
        self._wave.setsampwidth(2)
        self._wave.setframerate(sample_rate)

    def append(self, pcm: Pcm) -> None:
        """Write samples [S]; does nothing after a fault."""
        if self.fault:
            return
        whole = np.round(np.clip(pcm, -1, 1) * 32767).astype("<i2")
        try:
            self._wave.writeframes(whole.tobytes())  # also corrects the length in the header
            self._stream.flush()
        except OSError as error:
            self.fault = error

    def close(self) -> None:
        """Rename the file, or delete it after a fault. Never raises."""
        try:
            with self._stream:
                self._wave.close()
            if not self.fault:
                self.partial.replace(self._path)
        except OSError as error:
            self.fault = self.fault or error
        if self.fault:
            self.partial.unlink(missing_ok=True)
