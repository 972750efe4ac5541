"""A loudspeaker behind PortAudio: we write a tape, a C callback plays it.

Invariant: nothing here runs in the callback. It stops reading when the tape runs out and is told
to start again when there is more, so every method that looks at the tape also tends the callback.
"""

import importlib
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.audio.base import HISTORY_S, Played
from engine.audio.devices.liveness import Liveness
from engine.audio.devices.ring import power_of_two
from engine.audio.devices.tape import Tape
from engine.audio.pcm import Pcm
from engine.errors import DeviceError

_CAPACITY_S = 1.0
_LONGEST_LATENCY_S = 2.0  # Bluetooth takes 0.1 to 0.5 s
_BEAT_S = 0.1  # how often the callback is asked for a sign of life


class _CallbackRing:
    """rtmixer's ring as a Store: its memory lies in a numpy array that we can still edit."""

    def __init__(self, sample_rate: int, channels: int) -> None:
        size = power_of_two(int(sample_rate * (_CAPACITY_S + HISTORY_S)))
        self.memory: npt.NDArray[np.float32] = np.zeros((size, channels), dtype=np.float32)
        self.ring = importlib.import_module("rtmixer").RingBuffer(4 * channels, buffer=self.memory)

    @property
    def unread(self) -> int:
        return int(self.ring.read_available)

    def publish(self, samples: int) -> None:
        self.ring.advance_write_index(samples)


class PortAudioLoudspeaker:
    """See Loudspeaker. Made by portaudio.open_loudspeaker().

    `stream` is a started Mixer; `reopen` makes another one of the same device, or DeviceError;
    `release` ends this loudspeaker. suspend() and resume() are for portaudio.refresh() alone.
    """

    def __init__(
        self,
        name: str,
        stream: Any,
        reopen: Callable[[], Any],
        release: Callable[["PortAudioLoudspeaker"], None],
    ) -> None:
        self._name = name
        self._reopen = reopen
        self._release = release
        self._sample_rate = int(stream.samplerate)
        self._channels = int(stream.channels)
        self._store = _CallbackRing(self._sample_rate, self._channels)
        self._tape = Tape(
            self._store,
            sample_rate=self._sample_rate,
            margin=stream.blocksize,
            history=int(self._sample_rate * HISTORY_S),
        )
        self._gone = False
        self._closed = False
        # rtmixer's command queue has one writer; the tape has a lock of its own.
        self._lock = threading.Lock()
        self._stream: Any = None  # None after suspend(), and when closed
        self._attach(stream)

    @property
    def name(self) -> str:
        return self._name

    @property
    def sample_rate(self) -> int:
        return self._sample_rate

    @property
    def writable(self) -> int:
        self._tend()
        return self._tape.writable

    @property
    def samples_written(self) -> int:
        return self._tape.samples_written

    @property
    def samples_played(self) -> int:
        self._tend()
        return self._tape.samples_played

    @property
    def underruns(self) -> int:
        return self._tape.underruns

    @property
    def latency_s(self) -> float:
        return self._latency_s

    @property
    def gain(self) -> float:
        return self._tape.gain

    @gain.setter
    def gain(self, gain: float) -> None:
        self._tape.set_gain(gain)

    def write(self, pcm: Pcm) -> int:
        """See Loudspeaker. After close(): takes nothing."""
        self._tend()
        if self._closed:
            return 0
        if self._gone:
            raise DeviceError(
                f"The loudspeaker '{self._name}' has gone.",
                hint="Connect it again or choose another one.",
            )
        taken = self._tape.write(pcm)
        self._tend()
        return taken

    def take_played(self) -> Played:
        return self._tape.take_played()

    def expect_more(self, flag: bool) -> None:
        self._tape.expect_more(flag)

    def take_back(self, samples: int) -> int:
        return self._tape.take_back(samples)

    def cut(self, *, fade_ms: int = 10) -> None:
        self._tape.cut(fade_ms)

    def close(self) -> None:
        with self._lock:
            first, self._closed = not self._closed, True
        if first:
            self._release(self)

    def suspend(self) -> None:
        """Give the stream back; samples that were not played stay on the tape."""
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
        # What drivers report is taken within reason; max() also takes 0 for not-a-number.
        self._latency_s = min(max(0.0, float(stream.latency)), _LONGEST_LATENCY_S)
        self._action: Any = None  # the callback's reading of the tape
        self._beat: Any = None  # a request the callback has not answered yet
        self._beats = 0
        self._beat_at = 0.0
        self._liveness = Liveness()

    def _tend(self) -> None:
        """Keep the callback playing, and notice when it no longer runs."""
        with self._lock:
            if self._stream is None or self._gone:
                return
            running = self._stream.actions
            if self._beat is not None and self._beat not in running:
                self._beat, self._beats = None, self._beats + 1
            self._gone = not self._stream.active or self._liveness.stalled(self._beats)
            if self._gone:
                return
            if self._store.unread and self._action not in running:
                self._action = self._stream.play_ringbuffer(self._store.ring)
            now = time.monotonic()
            if self._beat is None and now - self._beat_at > _BEAT_S:
                self._beat, self._beat_at = self._stream.fetch_and_reset_stats(), now
