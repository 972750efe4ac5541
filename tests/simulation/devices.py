"""A loudspeaker and a microphone of the engine's kind, joined by a room.

Invariant: the loudspeaker plays from the very tape a real one does; time passes for both together,
in blocks of 10 ms, and only as the clock moves.
"""

import threading
from collections.abc import Callable

import numpy as np

from engine.audio.base import HISTORY_S, Pcm
from engine.audio.devices.tape import Ring, Tape
from tests.simulation.room import BLOCK, RATE, Room

_EMPTY = np.zeros(0, np.float32)


class RoomDevices:
    """Both devices; `clock` gives seconds (a SteppedClock, or time.monotonic)."""

    def __init__(self, room: Room, clock: Callable[[], float]) -> None:
        self.room = room
        self.played: list[Pcm] = []  # every block, for measuring afterwards
        self.heard: list[Pcm] = []
        self._ring = Ring(int(RATE * (1 + HISTORY_S)))
        self._clock = clock
        self._started_at = clock()
        self._blocks = 0
        self._unread: list[Pcm] = []
        self._lock = threading.Lock()
        self.loudspeaker = RoomLoudspeaker(self, self._ring)
        self.microphone = RoomMicrophone(self)

    def catch_up(self) -> None:
        """Let the time that has passed pass in the room."""
        with self._lock:
            due = int((self._clock() - self._started_at) * RATE / BLOCK + 1e-6)
            while self._blocks < due:
                block = np.zeros(BLOCK, np.float32)
                self._ring.read_into(block)
                heard = self.room.step(block)
                self.played.append(block)
                self.heard.append(heard)
                self._unread.append(heard)
                self._blocks += 1

    def take_heard(self) -> Pcm:
        self.catch_up()
        with self._lock:
            unread, self._unread = self._unread, []
        return np.concatenate([_EMPTY, *unread])


class RoomLoudspeaker(Tape):
    """See Loudspeaker."""

    name = "room loudspeaker"
    sample_rate = RATE
    latency_s = 0.0

    def __init__(self, devices: RoomDevices, ring: Ring) -> None:
        super().__init__(ring, sample_rate=RATE, margin=BLOCK, history=int(RATE * HISTORY_S))
        self._devices = devices

    def _advance(self) -> None:
        self._devices.catch_up()

    def write(self, pcm: Pcm) -> int:
        self._advance()
        return super().write(pcm)

    def close(self) -> None:
        """Nothing to release."""


class RoomMicrophone:
    """See Microphone."""

    name = "room microphone"
    sample_rate = RATE
    joins_midway = False

    def __init__(self, devices: RoomDevices) -> None:
        self._devices = devices

    def read(self) -> Pcm:
        return self._devices.take_heard()

    def close(self) -> None:
        """Nothing to release."""
