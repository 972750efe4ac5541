"""The states of one device's stream: running, suspended, dead, reopened, closed.

Invariant: a stream is used under the lock by one thread at a time, and never after it was released
or is gone.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

from engine.audio.devices.time_limit import within_limit
from engine.errors import DeviceError
from engine.translatable import Translatable

LIMIT_S = 0.7  # a live device calls every 10 to 40 ms; with the poll gaps this is under a second
# Limit until the stream has run for a while: opening can take over half a second under load, and on
# a machine that is still starting other programs the first calls are irregular (2 of 20 starts).
_START_LIMIT_S = 3.0
_SETTLED_S = 5.0
_LONGEST_LOOK_S = 0.2


class DeviceStream(ABC):
    """The common part of PortAudio's microphones and loudspeakers. Made by portaudio.py.

    `stream` is a started stream of rtmixer; `reopen` makes another one of the same device, or
    raises DeviceError; `release` ends this one. Only portaudio.refresh() calls suspend() and
    resume().
    """

    noun: ClassVar[Translatable]

    def __init__(
        self,
        name: str,
        stream: Any,
        reopen: Callable[[], Any],
        release: Callable[["DeviceStream"], None],
    ) -> None:
        self._name = name
        self._reopen = reopen
        self._release = release
        self._sample_rate = int(stream.samplerate)
        self._channels = int(stream.channels)
        self._gone = False
        self._closed = False
        # close() and refresh() may run in other threads, and rtmixer's queue has one writer.
        self._lock = threading.Lock()
        self._stream: Any = None  # None after suspend(), and when closed

    @property
    def name(self) -> str:
        return self._name

    @property
    def sample_rate(self) -> int:
        return self._sample_rate

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
            if (stream.samplerate, stream.channels) == (self._sample_rate, self._channels):
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
            name=self._name,
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
