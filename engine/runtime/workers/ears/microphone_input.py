"""The microphone in use: 16 kHz samples without the loudspeaker's sound, by position.

Invariant: positions count 16 kHz samples since the microphone was opened. The last PREROLL_S are
always kept, so an utterance begins before the moment it was noticed.
"""

from collections import deque
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from engine.asr.base import SAMPLE_RATE
from engine.audio.base import Microphone, Pcm, Played
from engine.audio.echo.canceller import Cleaning, EchoCanceller, Passthrough
from engine.audio.echo.near_end import NearEnd
from engine.errors import DeviceError
from engine.runtime.workers.recorder import Sink


class Recent:
    """Keeps at least the last `samples`."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self._blocks: deque[Pcm] = deque()
        self._length = 0  # samples in the blocks
        self.position = 0  # samples pushed

    def forget(self, before: int | None = None) -> None:
        """Drop the samples before a position; None = all."""
        rest = self.since(self.position if before is None else before)
        self._blocks, self._length = deque([rest]), len(rest)

    def push(self, pcm: Pcm) -> None:
        self._blocks.append(pcm)
        self.position += len(pcm)
        self._length += len(pcm)
        while self._length - len(self._blocks[0]) >= self._samples:
            self._length -= len(self._blocks.popleft())

    def since(self, start: int) -> Pcm:
        """Return the samples from position `start`, as far back as they are kept."""
        recent = np.concatenate(self._blocks) if self._blocks else np.zeros(0, np.float32)
        return recent[max(0, start - (self.position - self._length)) :]


PREROLL_S = 1.5  # audio kept before an utterance is opened


class MicrophoneInput:
    """A microphone, or none, and its echo canceller."""

    def __init__(self, canceller: Callable[[Cleaning], EchoCanceller]) -> None:
        self._make = canceller
        self._microphone: Microphone | None = None  # None: none could be opened
        self._was_opened = False  # any microphone so far
        self._cleaning = Cleaning(echo=False)
        self._canceller: EchoCanceller = Passthrough()
        self.near = NearEnd(self._canceller, SAMPLE_RATE)
        self.recent = Recent(int(PREROLL_S * SAMPLE_RATE))
        self.sink: Sink | None = None  # None: nothing is recorded
        self.raw: Pcm = np.zeros(0, np.float32)  # the last samples as the microphone gave them

    @property
    def name(self) -> str | None:
        """The microphone's name; None = none is open."""
        return None if self._microphone is None else self._microphone.name

    @property
    def cancels(self) -> bool:
        """Whether the echo is cancelled."""
        return self._canceller.cancels

    def use(self, microphone: Microphone) -> bool:
        """Read this microphone from now on, and count its samples from 0. Return True if a voice
        may have begun before that.
        """
        midway = microphone.joins_midway and not self._was_opened
        self._microphone, self._was_opened = microphone, True
        self.near = NearEnd(self._canceller, microphone.sample_rate)
        self.recent = Recent(int(PREROLL_S * SAMPLE_RATE))
        return midway

    def close(self) -> None:
        if self._microphone:
            with suppress(DeviceError):  # closing a lost device may fail
                self._microphone.close()
            self._microphone = None

    def clean(self, cleaning: Cleaning) -> bool:
        """Process the samples in this way. False if that is the way already."""
        if cleaning == self._cleaning:
            return False
        self._cleaning, self._canceller = cleaning, self._make(cleaning)
        self.near = NearEnd(self._canceller, self.near.microphone_rate)
        return True

    def read(self, played: Callable[[], Played]) -> Pcm:
        """Return the samples since the last call; `played` returns the loudspeaker's sound
        meanwhile. DeviceError if the device is gone.
        """
        if self._microphone is None:
            raise DeviceError("No microphone is connected.")
        self.raw = self._microphone.read()
        if self.sink:
            self.sink(self.raw, self._microphone.sample_rate)
        pcm = self.near.push(self.raw, played())
        if len(pcm):
            self.recent.push(pcm)
        return pcm
