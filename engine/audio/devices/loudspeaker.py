"""A PortAudio loudspeaker: the program writes a tape, a C callback plays it.

Nothing here runs in the callback. It stops when the tape is empty and must be restarted when there
is more, so every method that reads the tape also checks the callback.
"""

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.audio.base import HISTORY_S
from engine.audio.devices.ring import power_of_two
from engine.audio.devices.stream import DeviceStream
from engine.audio.devices.tape import Tape, TapedLoudspeaker
from engine.audio.pcm import Pcm
from engine.translatable import Translatable

_CAPACITY_S = 1.0
_LONGEST_LATENCY_S = 2.0  # Bluetooth takes 0.1 to 0.5 s
_BEAT_S = 0.1  # interval of requests that show whether the callback runs


class _CallbackRing:
    """rtmixer's ring as a Store: its memory is a numpy array that can still be edited."""

    def __init__(self, sample_rate: int, channels: int) -> None:
        size = power_of_two(int(sample_rate * (_CAPACITY_S + HISTORY_S)))
        self.memory: npt.NDArray[np.float32] = np.zeros((size, channels), dtype=np.float32)
        self.ring = importlib.import_module("rtmixer").RingBuffer(4 * channels, buffer=self.memory)

    @property
    def unread(self) -> int:
        return int(self.ring.read_available)

    def publish(self, samples: int) -> None:
        self.ring.advance_write_index(samples)


class PortAudioLoudspeaker(TapedLoudspeaker, DeviceStream):
    """See Loudspeaker; its stream is a Mixer."""

    noun = Translatable("The loudspeaker")

    def __init__(
        self,
        name: str,
        stream: Any,
        reopen: Callable[[], Any],
        release: Callable[[DeviceStream], None],
    ) -> None:
        super().__init__(name, stream, reopen, release)
        self._store = _CallbackRing(self._sample_rate, self._channels)
        self._tape = Tape(
            self._store,
            sample_rate=self._sample_rate,
            margin=stream.blocksize,
            history=int(self._sample_rate * HISTORY_S),
        )
        self._attach(stream)

    @property
    def latency_s(self) -> float:
        return self._latency_s

    def write(self, pcm: Pcm) -> int:
        """See Loudspeaker. After close() it accepts nothing."""
        self._advance()
        if self._closed:
            return 0
        if self._gone:
            raise self._fault()
        count = self._tape.write(pcm)
        self._advance()
        return count

    def _begin(self, stream: Any) -> None:
        # Drivers may report any number, so it is limited; max() also turns not-a-number into 0.
        self._latency_s = min(max(0.0, float(stream.latency)), _LONGEST_LATENCY_S)
        self._action: Any = None  # the callback's reading of the tape
        self._beat: Any = None  # a request that the callback has not answered yet
        self._beats = 0
        self._beat_at = 0.0

    def _advance(self) -> None:
        """Keep the callback playing, and notice if it no longer runs."""
        with self._lock:
            if not self._has_stream:
                return
            running = self._stream.actions
            if self._beat is not None and self._beat not in running:
                self._beat, self._beats = None, self._beats + 1
            if not self._is_running(self._beats):
                return
            if self._store.unread and self._action not in running:
                self._action = self._stream.play_ringbuffer(self._store.ring)
            now = time.monotonic()
            if self._beat is None and now - self._beat_at > _BEAT_S:
                self._beat, self._beat_at = self._stream.fetch_and_reset_stats(), now
