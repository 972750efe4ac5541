"""The microphone in use: 16 kHz samples without the loudspeaker's sound, by position.

Invariant: positions count 16 kHz samples since the microphone was opened. The last PREROLL_S are
always kept, so an utterance begins before the moment it was noticed.
"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from engine.asr.base import SAMPLE_RATE
from engine.audio.base import Microphone, Pcm, Played
from engine.audio.echo.canceller import Cleaning, EchoCanceller
from engine.audio.echo.near_end import NearEnd
from engine.errors import DeviceError
from engine.runtime.workers.recorder import Sink

PREROLL_S = 1.5  # audio kept before an utterance is opened


class MicrophoneInput:
    """A microphone, or none, and its echo canceller."""

    def __init__(self, canceller: Callable[[Cleaning], EchoCanceller]) -> None:
        self._make = canceller
        self._microphone: Microphone | None = None  # None: none could be opened
        self._was_opened = False  # any microphone so far
        self._cleaning = Cleaning(echo=False)
        self._canceller: EchoCanceller = EchoCanceller()
        self.near = NearEnd(self._canceller, SAMPLE_RATE)
        self._kept: Pcm = np.zeros(0, np.float32)  # the last samples
        self.position = 0  # samples that were read
        self.sink: Sink | None = None  # None: nothing is recorded

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
        self.forget()
        self.position = 0
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
        raw = self._microphone.read()
        if self.sink:
            self.sink(raw, self._microphone.sample_rate)
        pcm = self.near.push(raw, played())
        if len(pcm):
            kept = np.concatenate((self._kept, pcm))
            self._kept = kept[-max(len(pcm), int(PREROLL_S * SAMPLE_RATE)) :]
            self.position += len(pcm)
        return pcm

    def since(self, start: int) -> Pcm:
        """Return the samples from position `start`, as far back as they are kept."""
        return self._kept[max(0, start - (self.position - len(self._kept))) :]

    def forget(self, before: int | None = None) -> None:
        """Drop the samples before a position; None = all."""
        self._kept = self.since(self.position if before is None else before).copy()
