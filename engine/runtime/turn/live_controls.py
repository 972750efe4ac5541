"""Values that other threads may change or read while the voice speaks.

Invariant: each value is replaced whole. Three parts decide the loudness of speech: the user's
volume, the ears, which duck it, and the conductor, which hushes it. They share one lock and take
effect at once, without waiting for the current step. A ringing timer has its own volume, because it
must be audible when speech is muted.
"""

from threading import Lock

from engine.audio.base import Loudspeaker, Played
from engine.audio.devices.silent import SilentLoudspeaker
from engine.audio.pcm import SILENCE_DB

DUCKED = 0.2  # of the volume: -14 dB, so that the user is heard over it and still hears it


class LiveControls:
    """The loudspeaker in use, its level, and the values read before every step."""

    def __init__(self, *, lead_ms: int, rate: float | None = None) -> None:
        self.rate = rate  # SPS, None = the voice's own pace; a change is audible in the next frame
        self.lead_ms = lead_ms  # how far synthesis may run ahead of playback
        self.gives_way = True  # to the screen reader
        self.level_db = SILENCE_DB  # of the audible speech; shown beside the microphone's
        self._loudspeaker: Loudspeaker = SilentLoudspeaker()
        self._volume = 1.0
        self._ducked = False
        self._hushed = False
        self._rings = False
        self.ring_waits = False  # while the user speaks, or waits for the answer
        self._lock = Lock()

    @property
    def loudspeaker(self) -> Loudspeaker:
        return self._loudspeaker

    def connect(self, loudspeaker: Loudspeaker) -> None:
        """Use another loudspeaker with the same gain (speaker's thread)."""
        with self._lock:
            self._loudspeaker = loudspeaker
            self._apply()

    @property
    def volume(self) -> float:
        """0..1, as set by the user."""
        return self._volume

    @volume.setter
    def volume(self, gain: float) -> None:
        with self._lock:
            self._volume = gain
            self._apply()

    def duck(self, ducked: bool) -> None:
        """Make speech quieter, or restore it; it continues meanwhile."""
        with self._lock:
            self._ducked = ducked
            self._apply()

    def hush(self, hushed: bool) -> None:
        """Make speech inaudible, or restore it."""
        with self._lock:
            self._hushed = hushed
            self._apply()

    @property
    def rings(self) -> bool:
        """Whether the loudspeaker plays the ring, not speech (speaker's thread)."""
        return self._rings

    @rings.setter
    def rings(self, on: bool) -> None:
        with self._lock:
            self._rings = on
            self._apply()

    def take_played(self) -> Played:
        """See Loudspeaker: the samples that the microphone may hear."""
        return self._loudspeaker.take_played()

    def _apply(self) -> None:
        loud = 0.0 if self._hushed else self._volume
        self._loudspeaker.gain = (1.0 if self._rings else loud) * (DUCKED if self._ducked else 1.0)
