"""A microphone behind PortAudio: a C callback fills a ring, we empty it.

Invariant: nothing here runs in the callback; it only copies into memory that was allocated before.
"""

import importlib
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.audio.liveness import Liveness
from engine.audio.pcm import Pcm
from engine.audio.ring import power_of_two
from engine.errors import DeviceError

_CAPACITY_S = 2.0  # how late a reader may be before samples are lost
_POLL_S = 0.02  # C cannot wake us without a lock; devices deliver every 10 to 20 ms anyway
_EMPTY: Pcm = np.zeros(0, dtype=np.float32)


class PortAudioMicrophone:
    """See Microphone. Made by portaudio.open_microphone(); `stream` is a started Recorder."""

    def __init__(self, name: str, stream: Any, close: Callable[[Any], None]) -> None:
        self._name = name
        self._stream = stream
        self._close_stream = close
        self._channels = int(stream.channels)
        self._ring = importlib.import_module("rtmixer").RingBuffer(
            4 * self._channels, power_of_two(int(stream.samplerate * _CAPACITY_S))
        )
        self._action = stream.record_ringbuffer(self._ring)
        self._liveness = Liveness()
        self._arrived = 0
        self._overruns = 0
        self._gone = False
        self._closed = False
        self._lock = threading.Lock()  # close() may come from another thread than read()

    @property
    def name(self) -> str:
        return self._name

    @property
    def sample_rate(self) -> int:
        return int(self._stream.samplerate)

    @property
    def overruns(self) -> int:
        return self._overruns

    @property
    def ended(self) -> bool:
        return self._closed or self._gone

    def read(self) -> Pcm:
        """See Microphone. After close(): nothing."""
        with self._lock:
            if self._closed:
                return _EMPTY
            interleaved = np.frombuffer(self._ring.read(), dtype=np.float32)
            self._tend(len(interleaved))
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
        while not (self.ended or self._ring.read_available):
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return
            time.sleep(min(_POLL_S, left_s))
            with self._lock:
                self._tend(0)

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._close_stream(self._stream)

    def _tend(self, arrived: int) -> None:
        """Notice that the device has gone, and record on after the ring was full."""
        if self._closed or self._gone:
            return
        self._arrived += arrived
        waiting = self._arrived + self._ring.read_available
        self._gone = not self._stream.active or self._liveness.stalled(waiting)
        if not self._gone and self._action not in self._stream.actions:
            self._overruns += 1
            self._action = self._stream.record_ringbuffer(self._ring)
