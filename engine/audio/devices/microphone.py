"""A PortAudio microphone: a C callback fills a ring, the program empties it.

Nothing here runs in the callback, which only copies into preallocated memory.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.audio.devices.ring import power_of_two
from engine.audio.devices.stream import DeviceStream
from engine.audio.pcm import Pcm
from engine.translatable import Translatable

_CAPACITY_S = 8.0  # delay of the reader before samples are lost: a library may be loading
_EMPTY: Pcm = np.zeros(0, dtype=np.float32)


class PortAudioMicrophone(DeviceStream):
    """See Microphone; its stream is a Recorder."""

    noun = Translatable("The microphone")
    joins_midway = True

    def __init__(
        self,
        name: str,
        stream: Any,
        reopen: Callable[[], Any],
        release: Callable[[DeviceStream], None],
    ) -> None:
        super().__init__(name, stream, reopen, release)
        self._ring = importlib.import_module("rtmixer").RingBuffer(
            4 * self._channels, power_of_two(int(self._sample_rate * _CAPACITY_S))
        )
        self._arrived = 0
        self._overruns = 0
        self._attach(stream)

    @property
    def overruns(self) -> int:
        """How often samples were lost because they were read too late."""
        return self._overruns

    def read(self) -> Pcm:
        """See Microphone. After close() it returns nothing."""
        with self._lock:
            if self._closed:
                return _EMPTY
            interleaved = np.frombuffer(self._ring.read(), dtype=np.float32)
            self._arrived += len(interleaved)
            self._tend()
            if self._gone and not len(interleaved):
                raise self._fault()
        if self._channels == 1:
            return interleaved
        mono: Pcm = interleaved.reshape(-1, self._channels).mean(axis=1)
        return mono

    def _begin(self, stream: Any) -> None:
        self._action = stream.record_ringbuffer(self._ring)

    def _tend(self) -> None:
        """Notice that the device is gone, and continue recording after the ring was full."""
        if not self._has_stream or not self._is_running(self._arrived + self._ring.read_available):
            return
        if self._action not in self._stream.actions:
            self._overruns += 1
            self._begin(self._stream)
