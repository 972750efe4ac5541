"""The user's speech: the microphone without the loudspeaker's sound, which is brought into step.

Invariant: one sample comes out per 16 kHz microphone sample, in order, at most HOLD_S late.
Positions are 16 kHz samples since the microphone was opened. A played sample has the position at
which it left the loudspeaker's ring, so its sound is never in the microphone earlier.

While nothing is played, and for TAIL_S after, there is nothing to cancel. Then the microphone's
samples pass at no cost, unless the canceller also improves them.
"""

import numpy as np

from engine.audio.base import Pcm, Played
from engine.audio.echo.canceller import FRAME, SAMPLE_RATE, EchoCanceller
from engine.audio.echo.delay import LONGEST_S, DelayEstimator, DriftTracker
from engine.audio.echo.played_line import REACH, PlayedLine
from engine.audio.pcm import Resampler

EARLY_S = 0.015  # by which the canceller gets played samples before their echo
MOVED_S = 0.012  # a larger change of the delay means another room or device: start again
SETTLING_S = 0.6  # of sound after the delay was found or has moved, until the echo is gone
_EMPTY: Pcm = np.zeros(0, dtype=np.float32)


class NearEnd:
    """Joins the two streams and passes them through a canceller."""

    def __init__(self, canceller: EchoCanceller, microphone_rate: int) -> None:
        self._canceller = canceller
        self._rate = microphone_rate
        self._resampler = Resampler(microphone_rate, SAMPLE_RATE)
        self._arrived = 0  # samples of the microphone, at its own rate
        self._heard: Pcm = _EMPTY  # not yet returned
        self._done = 0  # position of the first of them
        self._played = PlayedLine(SAMPLE_RATE)
        self._estimator = DelayEstimator()
        self._drift = DriftTracker(FRAME / SAMPLE_RATE)
        # Samples by which the played signal is delayed for the canceller; None = unknown delay.
        self._lag: float | None = None
        self._ahead = 0  # samples by which its echo comes later still
        self._answers = 0  # estimates that were used
        self._sounded = 0  # samples with an echo since the canceller's reset

    @property
    def microphone_rate(self) -> int:
        """Hz"""
        return self._rate

    @property
    def settled(self) -> bool:
        """Whether the output during playback can be taken for the user's speech."""
        settled = self._lag is not None and self._sounded >= SETTLING_S * SAMPLE_RATE
        return self._canceller.cancels and settled

    @property
    def double_talk(self) -> bool:
        """Whether more than the loudspeaker is heard now; known before its source is."""
        return self.settled and self.sounding and self._canceller.double_talk

    @property
    def sounding(self) -> bool:
        """Whether the next output sample may contain an echo."""
        return self._played.sounds_at(self._done)

    def push(self, heard: Pcm, played: Played) -> Pcm:
        """Append samples since the last call; return the user's finished samples, at 16 kHz."""
        self._arrived += len(heard)
        now = self._arrived * SAMPLE_RATE // self._rate
        if self._canceller.cancels:
            self._shift(self._played.push(played, now))
        self._heard = np.concatenate((self._heard, self._resampler.push(heard)))
        if not self.sounding and not self._canceller.improves:
            return self._pass(len(self._heard))
        parts = [_EMPTY]
        while len(self._heard) >= FRAME and self._played.known(self._done + FRAME, now):
            parts.append(self._cancel())
        return np.concatenate(parts)

    def _pass(self, samples: int) -> Pcm:
        passed, self._heard = self._heard[:samples], self._heard[samples:]
        self._done += samples
        self._played.forget(self._done - int(LONGEST_S * SAMPLE_RATE))
        return passed

    def _cancel(self) -> Pcm:
        start = self._done
        heard, played = self._pass(FRAME), self._played.take(start, FRAME)
        self._estimator.push(heard, played)
        self._sounded += FRAME
        self._follow()
        if self._lag:
            played = self._played.take_between(start - self._lag, FRAME)
        return self._canceller.process(heard, played, self._ahead * 1000 // SAMPLE_RATE)

    def _follow(self) -> None:
        """Stay in step: slowly if the clocks run apart, at once if the delay changed."""
        delay = self._estimator.delay
        if delay is None:
            return
        if self._lag is None or abs(delay - self._ahead - self._lag) > MOVED_S * SAMPLE_RATE:
            self._lag = float(max(0, delay - int(EARLY_S * SAMPLE_RATE)))
            self._ahead = delay - int(self._lag)
            self._sounded = 0
            self._canceller.reset()
        elif self._lag >= REACH:
            if self._estimator.answers > self._answers:
                self._drift.correct(delay - self._ahead - self._lag)
            self._lag = max(float(REACH), self._lag + self._drift.step())
        self._answers = self._estimator.answers

    def _shift(self, earlier: int) -> None:
        """Continue after all played samples were moved `earlier`."""
        if not earlier:
            return
        self._estimator.shift(earlier)
        if self._lag is not None:
            lag = self._lag + earlier
            self._lag = lag if lag >= REACH else float(max(0, int(lag)))
