"""Play the alarm's sound on the loudspeaker in bursts, with speech between them.

Invariant: belongs to the speaker's thread. Sound and speech are never in the loudspeaker together:
speech gives way before a burst, and continues after it from its last sample. There is no burst
while the user speaks.
"""

import time
from collections.abc import Callable
from typing import Final

import numpy as np

from engine.audio.alarm_sound import burst
from engine.audio.pcm import Pcm
from engine.runtime.turn.reply import LiveControls, Reply

PAUSE_S: Final = 1.6  # between bursts: long enough to say "stop" in
SPEECH_S: Final = 4.0  # the same during speech
LOOK_S: Final = 0.05
TICK_S: Final = 0.01
_NOTHING: Final[Pcm] = np.zeros(0, np.float32)


class Ring:
    """Silent until switch(True)."""

    def __init__(
        self, controls: LiveControls, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._controls = controls
        self._clock = clock
        self._since: float | None = None  # when it began to ring; None = it does not
        self._silent_at = -SPEECH_S  # when the last burst ended, or the user last spoke
        self._left: Pcm | None = None  # of a burst, not yet written; None = no burst

    def switch(self, on: bool) -> None:
        """Ring from now on, or be silent at once."""
        self._since = self._clock() if on else None
        self._silent_at = self._clock() - SPEECH_S

    def look(self, reply: Reply | None) -> float | None:
        """Continue ringing, or the running `reply`. Return the seconds until the next call, None =
        nothing rings. DeviceError if the loudspeaker is gone.
        """
        if self._since is None or self._waits(reply):
            if self._left is not None:
                if self._controls.rings:
                    self._controls.loudspeaker.cut()
                self._left = _NOTHING
        elif self._left is None and self._clock() - self._silent_at >= _pause_s(reply):
            self._controls.loudspeaker.cut()
            self._left = burst(self._clock() - self._since, self._controls.loudspeaker.sample_rate)
        if self._left is None:
            return None if self._since is None else LOOK_S
        self._sound(self._left, reply)
        return TICK_S

    def _waits(self, reply: Reply | None) -> bool:
        """Return whether the user speaks; each time that begins another pause."""
        waits = self._controls.ring_waits or (reply is not None and reply.paused_s is not None)
        if waits:
            self._silent_at = self._clock()
        return waits

    def _sound(self, left: Pcm, reply: Reply | None) -> None:
        """Write what fits; the volume changes only while the loudspeaker is empty."""
        if reply is not None:
            reply.give_way(True)
        loudspeaker = self._controls.loudspeaker
        drained = loudspeaker.samples_played >= loudspeaker.samples_written
        self._controls.rings = self._controls.rings or drained
        count = loudspeaker.write(left if self._controls.rings else _NOTHING)  # or check the device
        self._left = left[count:]
        if drained and not len(left):
            self._left, self._controls.rings = None, False
            self._silent_at = self._clock()
            if reply is not None:
                reply.give_way(False)


def _pause_s(reply: Reply | None) -> float:
    return PAUSE_S if reply is None else SPEECH_S
