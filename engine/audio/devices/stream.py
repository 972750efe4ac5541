"""PortAudio's microphones and loudspeakers, and the states of their streams: running, suspended,
dead, reopened, closed.

A C callback fills the microphone's ring, which the program empties; another one plays the tape that
the program writes. Nothing here runs in a callback. The player stops when the tape is empty and
must be restarted when there is more, so every method that reads the tape also checks the callback.
Invariant: a stream is used under the lock by one thread at a time, and never after it was released
or is gone.
"""

import importlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from engine.audio.base import HISTORY_S
from engine.audio.devices.tape import Ring, Tape, power_of_two
from engine.audio.devices.time_limit import within_limit
from engine.audio.pcm import Pcm
from engine.errors import DeviceError
from engine.translatable import Translatable

LIMIT_S = 0.7  # a live device calls every 10 to 40 ms; with the poll gaps this is under a second
# Limit until the stream has run for a while: opening can take over half a second under load, and on
# a machine that is still starting other programs the first calls are irregular (2 of 20 starts).
_START_LIMIT_S = 3.0
_SETTLED_S = 5.0
_LONGEST_LOOK_S = 0.2

_HEARD_S = 8.0  # delay of the reader before samples are lost: a library may be loading
_EMPTY: Pcm = np.zeros(0, dtype=np.float32)

_PLAYED_S = 1.0
_LONGEST_LATENCY_S = 2.0  # Bluetooth takes 0.1 to 0.5 s
_BEAT_S = 0.1  # interval of requests that show whether the callback runs

Reopen = Callable[[], Any]  # makes another stream of the same device, or raises DeviceError
Release = Callable[["DeviceStream"], None]


class DeviceStream(ABC):
    """The common part of PortAudio's microphones and loudspeakers. Made by portaudio.py.

    `stream` is a started stream of rtmixer; `reopen` makes another one of the same device, or
    raises DeviceError; `release` ends this one. Only portaudio.refresh() suspends and resumes.
    """

    noun: ClassVar[Translatable]
    none: ClassVar[Translatable]  # message where such a device is missing
    way: ClassVar[str]  # as PortAudio names it
    recorder: ClassVar[str]  # rtmixer's class of the stream

    def __init__(self, name: str, stream: Any, reopen: Reopen, release: Release) -> None:
        self.name = name
        self._reopen = reopen
        self._release = release
        self.sample_rate = int(stream.samplerate)
        self._channels = int(stream.channels)
        self._gone = False
        self._closed = False
        # close() and refresh() may run in other threads, and rtmixer's queue has one writer.
        self._lock = threading.Lock()
        self._stream: Any = None  # None after suspend(), and when closed

    def close(self) -> None:
        with self._lock:
            first, self._closed = not self._closed, True
        if first:
            self._release(self)

    def suspend(self) -> None:
        """Close the stream; recorded samples can still be read, unplayed ones stay."""
        with self._lock:
            if self._stream is not None:
                with suppress(TimeoutError):  # abandoned, and not to be closed
                    within_limit(self._stream.abort)
                    self._stream.close()
                self._stream = None

    def resume(self) -> None:
        """Continue after suspend(); the device is gone if it cannot be reopened as before."""
        with self._lock:
            if self._gone or self._closed:
                return
            try:
                stream = self._reopen()
            except DeviceError:
                self._gone = True
                return
            if (stream.samplerate, stream.channels) == (self.sample_rate, self._channels):
                self._attach(stream)
            else:
                stream.close()
                self._gone = True

    def _attach(self, stream: Any) -> None:
        """Continue with this stream."""
        self._stream = stream
        self._liveness = Liveness()
        self._begin(stream)

    @abstractmethod
    def _begin(self, stream: Any) -> None:
        """Give a newly attached stream its work."""

    @property
    def _has_stream(self) -> bool:
        """Whether there is a stream that is not known to be gone; under the lock."""
        return self._stream is not None and not self._gone

    def _is_running(self, count: int) -> bool:
        """Return whether a running stream still is, as `count` grows meanwhile; under the lock."""
        self._gone = not self._stream.active or self._liveness.stalled(count)
        return not self._gone

    def _fault(self) -> DeviceError:
        """Return the error for the owner of a lost device."""
        return DeviceError(
            "{noun} '{name}' was disconnected.",
            hint="Connect it again or choose another one.",
            noun=self.noun,
            name=self.name,
        )


class Liveness:
    """Distinguishes a device that stopped, which drivers do not report, from a slow one, by a count
    that grows while it runs.

    Invariant: only time with regular checks counts. After a suspended machine or a stopped program
    the device has had no chance to move.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock()
        self._count = 0
        self._still_s = self._lived_s = 0.0

    def stalled(self, count: int) -> bool:
        """Return whether `count` stood still too long. Call it at least five times a second."""
        now = self._clock()
        watched_s, self._at = min(now - self._at, _LONGEST_LOOK_S), now
        if count != self._count:
            self._count, self._still_s = count, 0.0
            self._lived_s += watched_s
            return False
        self._still_s += watched_s
        return self._still_s > (LIMIT_S if self._lived_s > _SETTLED_S else _START_LIMIT_S)


class PortAudioMicrophone(DeviceStream):
    """See Microphone; its stream is a Recorder."""

    noun = Translatable("The microphone")
    none = Translatable("No microphone was found.")
    way, recorder = "input", "Recorder"
    joins_midway = True

    def __init__(self, name: str, stream: Any, reopen: Reopen, release: Release) -> None:
        super().__init__(name, stream, reopen, release)
        self._ring = importlib.import_module("rtmixer").RingBuffer(
            4 * self._channels, power_of_two(int(self.sample_rate * _HEARD_S))
        )
        self._arrived = 0
        self.overruns = 0  # how often samples were lost because they were read too late
        self._attach(stream)

    def read(self) -> Pcm:
        """See Microphone. After close() it returns nothing."""
        with self._lock:
            if self._closed:
                return _EMPTY
            interleaved = np.frombuffer(self._ring.read(), dtype=np.float32)
            self._arrived += len(interleaved)
            # The device may be gone; recording goes on after the ring was full.
            count = self._arrived + self._ring.read_available
            alive = self._has_stream and self._is_running(count)
            if alive and self._action not in self._stream.actions:
                self.overruns += 1
                self._begin(self._stream)
            if self._gone and not len(interleaved):
                raise self._fault()
        if self._channels == 1:
            return interleaved
        mono: Pcm = interleaved.reshape(-1, self._channels).mean(axis=1)
        return mono

    def _begin(self, stream: Any) -> None:
        self._action = stream.record_ringbuffer(self._ring)


class _CallbackRing(Ring):
    """rtmixer's ring: its memory is a numpy array that can still be edited."""

    def __init__(self, sample_rate: int, channels: int) -> None:
        super().__init__(int(sample_rate * (_PLAYED_S + HISTORY_S)), channels)
        self.ring = importlib.import_module("rtmixer").RingBuffer(4 * channels, buffer=self.memory)

    @property
    def unread(self) -> int:
        return int(self.ring.read_available)

    def publish(self, samples: int) -> None:
        self.ring.advance_write_index(samples)


class PortAudioLoudspeaker(Tape, DeviceStream):
    """See Loudspeaker; its stream is a Mixer."""

    noun = Translatable("The loudspeaker")
    none = Translatable("No loudspeaker was found.")
    way, recorder = "output", "Mixer"

    def __init__(self, name: str, stream: Any, reopen: Reopen, release: Release) -> None:
        DeviceStream.__init__(self, name, stream, reopen, release)
        rate = self.sample_rate
        self._ring = _CallbackRing(rate, self._channels)
        margin, history = stream.blocksize, int(rate * HISTORY_S)
        Tape.__init__(self, self._ring, sample_rate=rate, margin=margin, history=history)
        self._attach(stream)

    def write(self, pcm: Pcm) -> int:
        """See Loudspeaker. After close() it accepts nothing."""
        self._advance()
        if self._closed:
            return 0
        if self._gone:
            raise self._fault()
        count = super().write(pcm)
        self._advance()
        return count

    def _begin(self, stream: Any) -> None:
        # Drivers may report any number, so it is limited; max() also turns not-a-number into 0.
        self.latency_s = min(max(0.0, float(stream.latency)), _LONGEST_LATENCY_S)
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
            if self._ring.unread and self._action not in running:
                self._action = self._stream.play_ringbuffer(self._ring.ring)
            now = time.monotonic()
            if self._beat is None and now - self._beat_at > _BEAT_S:
                self._beat, self._beat_at = self._stream.fetch_and_reset_stats(), now
