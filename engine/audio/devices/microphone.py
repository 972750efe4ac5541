"""A microphone behind PortAudio: a C callback fills a ring, we empty it.

Invariant: nothing here runs in the callback; it only copies into memory that was allocated before.
"""

import importlib
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.audio.devices.liveness import Liveness
from engine.audio.devices.ring import power_of_two
from engine.audio.pcm import Pcm
from engine.errors import DeviceError

_CAPACITY_S = 2.0  # how late a reader may be before samples are lost
_POLL_S = 0.02  # C cannot wake us without a lock; devices deliver every 10 to 20 ms anyway
_EMPTY: Pcm = np.zeros(0, dtype=np.float32)


class PortAudioMicrophone:
    """See Microphone. Made by portaudio.open_microphone().

    `stream` is a started Recorder; `reopen` makes another one of the same device, or DeviceError;
    `release` ends this microphone. suspend() and resume() are for portaudio.refresh() alone.
    """

    def __init__(
        self,
        name: str,
        stream: Any,
        reopen: Callable[[], Any],
        release: Callable[["PortAudioMicrophone"], None],
    ) -> None:
        self._name = name
        self._reopen = reopen
        self._release = release
        self._sample_rate = int(stream.samplerate)
        self._channels = int(stream.channels)
        self._ring = importlib.import_module("rtmixer").RingBuffer(
            4 * self._channels, power_of_two(int(self._sample_rate * _CAPACITY_S))
        )
        self._arrived = 0
        self._overruns = 0
        self._gone = False
        self._closed = False
        self._lock = threading.Lock()  # close() and refresh() may come from other threads
        self._stream: Any = None  # None after suspend(), and when closed
        self._attach(stream)

    @property
    def name(self) -> str:
        return self._name

    @property
    def sample_rate(self) -> int:
        return self._sample_rate

    @property
    def overruns(self) -> int:
        return self._overruns

    @property
    def ended(self) -> bool:
        return self._closed or (self._gone and not self._ring.read_available)

    def read(self) -> Pcm:
        """See Microphone. After close(): nothing."""
        with self._lock:
            if self._closed:
                return _EMPTY
            interleaved = np.frombuffer(self._ring.read(), dtype=np.float32)
            self._arrived += len(interleaved)
            self._tend()
            if self._gone and not len(interleaved):
                raise DeviceError(
                    f"The microphone '{self._name}' has gone.",
                    hint="Connect it again or choose another one.",
                )
        if self._channels == 1:
            return interleaved
        mono: Pcm = interleaved.reshape(-1, self._channels).mean(axis=1)
        return mono

    def wait(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not (self._closed or self._gone or self._ring.read_available):
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return
            time.sleep(min(_POLL_S, left_s))
            with self._lock:
                self._tend()

    def close(self) -> None:
        with self._lock:
            first, self._closed = not self._closed, True
        if first:
            self._release(self)

    def suspend(self) -> None:
        """Give the stream back; samples that arrived stay readable."""
        with self._lock:
            if self._stream is not None:
                self._stream.abort()
                self._stream.close()
                self._stream = None

    def resume(self) -> None:
        """Go on after suspend(); gone when the device cannot be had as it was."""
        with self._lock:
            if self._gone or self._closed:
                return
            try:
                stream = self._reopen()
            except DeviceError:
                self._gone = True
                return
            if (stream.samplerate, stream.channels) == (self._sample_rate, self._channels):
                self._attach(stream)
            else:
                stream.close()
                self._gone = True

    def _attach(self, stream: Any) -> None:
        self._stream = stream
        self._action = stream.record_ringbuffer(self._ring)
        self._liveness = Liveness()

    def _tend(self) -> None:
        """Notice that the device has gone, and record on after the ring was full."""
        if self._stream is None or self._gone:
            return
        arrived = self._arrived + self._ring.read_available
        self._gone = not self._stream.active or self._liveness.stalled(arrived)
        if not self._gone and self._action not in self._stream.actions:
            self._overruns += 1
            self._action = self._stream.record_ringbuffer(self._ring)
