"""Loudness of the room, and of the user in it.

Invariant: pure; levels belong to consecutive blocks.
"""

from engine.audio.pcm import SILENCE_DB
from engine.translatable import Translatable

QUIET_DB = -65.0  # a room below it is quiet, unless speech stands out of even less noise
OVER_NOISE_DB = 6.0
MOST_GAIN_DB = 20.0
RISE_DB_S = 2.0  # growth of the noise estimate; it falls at once
HANGOVER_S = 0.5  # after the last sound: words have soft parts
# Loudest block of an utterance. With 14 dB between speech and noise, a peak at -46 dBFS, the
# built-in recogniser understands one sentence of five, at -40 four of five.
FAINT_DB = -49.0
FAINT = Translatable(
    "I can hardly hear you. Raise the level of the microphone in the sound settings of your "
    "system, or come closer to it."
)
FAINT_S = 1.0  # a shorter utterance may be an accidental touch of the key


class Loudness:
    """Call hear() with every block."""

    def __init__(self) -> None:
        self._noise_db = QUIET_DB
        self._quiet_s = HANGOVER_S  # since the last sound
        self._loudest_db: float | None = None  # of the utterance; None = there is none
        self._utterance_s = 0.0
        self._sound_db = SILENCE_DB  # loudest block of the current sound
        self._is_reported = False

    def hear(self, level_db: float, seconds: float) -> None:
        below = level_db < self._noise_db
        risen_db = min(level_db, self._noise_db + RISE_DB_S * seconds)
        self._noise_db = (level_db + self._noise_db) / 2 if below else risen_db
        sounds = level_db >= min(QUIET_DB, self._noise_db + OVER_NOISE_DB)
        self._quiet_s = 0.0 if sounds else self._quiet_s + seconds
        self._sound_db = SILENCE_DB if self.is_quiet else max(self._sound_db, level_db)
        if self._loudest_db is not None:
            self._loudest_db = max(self._loudest_db, level_db)
            self._utterance_s += seconds

    @property
    def gain(self) -> float:
        """Factor for the detector, which misses speech at -65 dBFS even without noise."""
        return float(10 ** (min(MOST_GAIN_DB, max(0.0, FAINT_DB - self._sound_db)) / 20))

    @property
    def is_quiet(self) -> bool:
        """True if no sound stands out of the room's noise."""
        return self._quiet_s >= HANGOVER_S

    def begin_utterance(self) -> None:
        """Start to measure an utterance."""
        self._loudest_db, self._utterance_s = self._sound_db, 0.0

    def end_utterance(self) -> bool:
        """Return True for the first utterance that was too faint to be understood."""
        loudest_db, self._loudest_db = self._loudest_db, None
        if self._is_reported or loudest_db is None or self._utterance_s < FAINT_S:
            return False
        self._is_reported = loudest_db < FAINT_DB
        return self._is_reported
