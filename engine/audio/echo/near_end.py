"""The user's speech: the microphone without the loudspeaker's sound, which is brought into step.

Invariant: one sample comes out per 16 kHz microphone sample, in order, at most HOLD_S late.
Positions are 16 kHz samples since the microphone was opened. A played sample has the position at
which it left the loudspeaker's ring, so its sound is never in the microphone earlier; silence fills
the gaps.

The delay from playback to the microphone (devices, air and buffers together) is estimated, and is
unknown until it is certain. WebRTC's own estimate fails when steady noise is near the level of the
echo, and then nothing is cancelled (tests/benchmarks/barge_in.py); with a given delay it works. The
phases of the spectra are compared over a second (PHAT) and averaged.

While nothing is played, and for TAIL_S after, there is nothing to cancel. Then the microphone's
samples pass at no cost, unless the canceller also improves them.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from engine.audio.base import Pcm, Played
from engine.audio.echo.canceller import FRAME, SAMPLE_RATE, EchoCanceller
from engine.audio.pcm import Resampler

TAIL_S = 1.0  # after the last played sample: the room, the devices, and the canceller's memory
HOLD_S = 0.06  # how long a microphone sample waits for the played ones
STRAY_S = 0.015  # devices deliver blocks of 10 ms; larger deviations come from another clock
STRAYS = 50  # checks in a row, about a second
REACH = 8  # samples on both sides for an interpolated sample
_EMPTY: Pcm = np.zeros(0, dtype=np.float32)

LONGEST_S = 0.45  # the longest delay that is searched
_WINDOW = 16384  # samples per comparison: 1.02 s
_HOP = 4096  # a new comparison every 0.26 s: 0.3 % of one core
_KEEP = 0.75  # weight of earlier comparisons
_SURE = 7.0  # a peak over the standard deviation; chance alone gives 4 to 5
_LEAST_COMPARISONS = 3  # earlier, the windows are half empty and their edges agree by chance
_SAME_S = 0.004  # two estimates that agree
_QUIET = 1e-4  # root mean square below which nothing was played
_BAND_HZ = (200, 4000)  # the band of speech

_PACE: Final = 0.1  # 1/s: an error is corrected in ten seconds
_MOST: Final = 8.0  # limit of the error in samples: an estimate may be wrong, and clocks are steady
_FASTEST: Final = 8.0  # limit of the drift in samples a second: 500 ppm at 16 kHz
_ANSWER_S: Final = 0.26  # how long an estimate is used; then only the learnt drift

EARLY_S = 0.015  # by which the canceller gets played samples before their echo
MOVED_S = 0.012  # a larger change of the delay means another room or device: start again
SETTLING_S = 0.6  # of sound after the delay was found or has moved, until the echo is gone


class PlayedLine:
    """Played samples, resampled to `sample_rate` (Hz), in which positions count."""

    def __init__(self, sample_rate: int) -> None:
        self._line_rate = sample_rate
        self._resampler: Resampler | None = None  # None: nothing is being played
        self._rate = sample_rate  # Hz of the played samples
        self._pcm: Pcm = _EMPTY
        self._start = 0  # position of its first sample
        self._silent_from = -int(TAIL_S * self._line_rate)  # where the last stretch ended
        self._reached = 0.0  # position of the last played sample, by the loudspeaker's clock
        self._strays = 0  # checks in a row with diverging clocks

    def push(self, played: Played, now: int) -> int:
        """Append samples; a stretch that begins ends at position `now`. Return by how many samples
        everything was moved to earlier positions, because the two clocks have run apart.
        """
        moved = 0
        if len(played.pcm):
            length = len(played.pcm) * self._line_rate / played.sample_rate
            if self._resampler is None or played.sample_rate != self._rate:
                self._rate = played.sample_rate
                self._resampler = Resampler(self._rate, self._line_rate)
                self._reached = now - length
                self._fill(int(self._reached))
                self._reached = max(self._reached, self.end)
            self._append(self._resampler.push(played.pcm))
            self._reached += length
            moved = self._keep_step(now)
        if self._resampler is not None and not played.more:
            self._append(self._resampler.end())
            self._resampler = None
            self._silent_from = self.end
        return moved

    def known(self, position: int, now: int) -> bool:
        """Return whether all samples before `position` are here, or will never come."""
        late = now - position > HOLD_S * self._line_rate
        return self._resampler is None or self.end >= position or late

    def sounds_at(self, position: int) -> bool:
        is_tail = position < self._silent_from + TAIL_S * self._line_rate
        return self._resampler is not None or is_tail

    def take(self, position: int, samples: int) -> Pcm:
        """Return the samples from `position`, with silence where nothing was played."""
        self._fill(position + samples)
        first = position - self._start
        if first < 0:  # before the first played sample, or forgotten
            silence = np.zeros(min(samples, -first), np.float32)
            return np.concatenate((silence, self._pcm[: max(0, first + samples)]))
        return self._pcm[first : first + samples]

    def take_between(self, position: float, samples: int) -> Pcm:
        """Return the samples from a fractional `position`; needs REACH more after it."""
        whole = int(np.floor(position))
        part = position - whole
        if part == 0.0:
            return self.take(whole, samples)
        at = np.arange(-REACH + 1, REACH + 1) - part
        kernel = (np.sinc(at) * np.cos(np.pi * at / (2 * REACH)) ** 2).astype(np.float32)
        around = self.take(whole - REACH + 1, samples + 2 * REACH - 1)
        return np.convolve(around, kernel[::-1], "valid")

    def forget(self, before: int) -> None:
        count = min(max(0, before - self._start), len(self._pcm))
        self._pcm, self._start = self._pcm[count:], self._start + count
        if not len(self._pcm):
            self._start = max(self._start, before)

    @property
    def end(self) -> int:
        """Position after the last sample."""
        return self._start + len(self._pcm)

    def _keep_step(self, now: int) -> int:
        """Move the line if the clocks of loudspeaker and microphone have diverged."""
        astray = self._reached - now
        self._strays = self._strays + 1 if abs(astray) > STRAY_S * self._line_rate else 0
        if self._strays < STRAYS:
            return 0
        self._strays, self._reached = 0, float(now)
        self._start -= int(astray)
        return int(astray)

    def _append(self, pcm: Pcm) -> None:
        self._pcm = np.concatenate((self._pcm, pcm))

    def _fill(self, position: int) -> None:
        """Append silence up to `position`."""
        self._append(np.zeros(max(0, position - self.end), np.float32))


class DelayEstimator:
    """Delay estimator for two streams in step; `delay` is the best estimate so far."""

    def __init__(self) -> None:
        low, high = (hertz * _WINDOW // SAMPLE_RATE for hertz in _BAND_HZ)
        self._band = slice(low, high)
        self._heard: Pcm = np.zeros(_WINDOW, np.float32)
        self._played: Pcm = np.zeros(_WINDOW, np.float32)
        self._new = 0
        self._comparisons = 0
        self._phases: npt.NDArray[np.complex128] = np.zeros(high - low, np.complex128)
        self._last: int | None = None  # the last certain estimate, not yet confirmed
        self.delay: int | None = None  # samples; None = unknown
        self.answers = 0  # how often it was found

    def push(self, heard: Pcm, played: Pcm) -> None:
        """Append the same number of 16 kHz samples (fewer than a window) to both."""
        samples = len(heard)
        self._heard = np.concatenate((self._heard[samples:], heard))
        self._played = np.concatenate((self._played[samples:], played))
        self._new += samples
        if self._new >= _HOP:
            self._new = 0
            self._compare()

    def shift(self, earlier: int) -> None:
        """Correct all delays found so far: the samples were played `earlier` than assumed."""
        self._played = np.roll(self._played, -earlier)
        turn = -2j * np.pi * np.arange(self._band.start, self._band.stop) * earlier / _WINDOW
        self._phases *= np.exp(turn)
        if self.delay is not None:
            self.delay += earlier
        if self._last is not None:
            self._last += earlier

    def _compare(self) -> None:
        if float(np.sqrt(np.mean(np.square(self._played)))) < _QUIET:
            return
        self._comparisons += 1
        heard, played = (np.fft.rfft(x)[self._band] for x in (self._heard, self._played))
        cross = heard * np.conj(played)
        self._phases = _KEEP * self._phases + cross / (np.abs(cross) + 1e-12)
        spectrum = np.zeros(_WINDOW // 2 + 1, np.complex128)
        spectrum[self._band] = self._phases
        likely = np.abs(np.fft.irfft(spectrum)[: int(LONGEST_S * SAMPLE_RATE)])
        peak = int(np.argmax(likely))
        if self._comparisons < _LEAST_COMPARISONS or likely[peak] < _SURE * float(np.std(likely)):
            return
        if self._last is not None and abs(self._last - peak) <= _SAME_S * SAMPLE_RATE:
            self.delay = peak
            self.answers += 1
        self._last = peak


class DriftTracker:
    """Tracks how a delay creeps because the clocks of two devices differ: takes errors in samples,
    returns steps in samples.

    A loop of second order: it learns the clocks' difference, so that in the end no error is left.
    It is slow, because a filter that predicts an echo works best with a constant delay. Without it,
    clocks 100 ppm apart left 12 dB more of a loud echo where a voice was suspected, and the
    assistant took itself for a person every two minutes (tests/benchmarks/barge_in.py). Invariant:
    a step is a small part of a sample, whatever the estimates.
    """

    def __init__(self, step_s: float) -> None:
        """`step_s`: seconds from step to step."""
        self._step_s = step_s
        self._drift = 0.0  # samples a second, as learnt
        self._pull = 0.0  # samples a second, from the last estimate
        self._left = 0  # steps for which it pulls

    def correct(self, error: float) -> None:
        """Correct a delay that is `error` samples longer than assumed; called every _ANSWER_S."""
        error = min(max(error, -_MOST), _MOST)
        drift = self._drift + _PACE**2 * error * _ANSWER_S
        self._drift = min(max(drift, -_FASTEST), _FASTEST)
        self._pull = 2 * _PACE * error
        self._left = round(_ANSWER_S / self._step_s)

    def step(self) -> float:
        """Return by how many samples to move now."""
        self._left = max(0, self._left - 1)
        return (self._drift + (self._pull if self._left else 0.0)) * self._step_s


class NearEnd:
    """Joins the two streams and passes them through a canceller."""

    def __init__(self, canceller: EchoCanceller, microphone_rate: int) -> None:
        self._canceller = canceller
        self.microphone_rate = microphone_rate  # Hz
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
        now = self._arrived * SAMPLE_RATE // self.microphone_rate
        earlier = self._played.push(played, now) if self._canceller.cancels else 0
        if earlier:  # all played samples were moved
            self._estimator.shift(earlier)
            if self._lag is not None:
                lag = self._lag + earlier
                self._lag = lag if lag >= REACH else float(max(0, int(lag)))
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
