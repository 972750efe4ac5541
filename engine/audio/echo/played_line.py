"""The loudspeaker's samples, in step with the microphone's.

Invariant: a played sample has the position at which it left the loudspeaker's ring; silence fills
the gaps.
"""

import numpy as np

from engine.audio.base import Pcm, Played
from engine.audio.pcm import Resampler

TAIL_S = 1.0  # after the last played sample: the room, the devices, and the canceller's memory
HOLD_S = 0.06  # how long a microphone sample waits for the played ones
STRAY_S = 0.015  # devices deliver blocks of 10 ms; larger deviations come from another clock
STRAYS = 50  # checks in a row, about a second
REACH = 8  # samples on both sides for an interpolated sample
_EMPTY: Pcm = np.zeros(0, dtype=np.float32)


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
            if self._resampler is None or played.sample_rate != self._rate:
                self._begin(played, now)
            assert self._resampler is not None
            self._append(self._resampler.push(played.pcm))
            self._reached += len(played.pcm) * self._line_rate / self._rate
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
        return (
            self._resampler is not None or position < self._silent_from + TAIL_S * self._line_rate
        )

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
        return np.convolve(
            self.take(whole - REACH + 1, samples + 2 * REACH - 1), kernel[::-1], "valid"
        )

    def forget(self, before: int) -> None:
        count = min(max(0, before - self._start), len(self._pcm))
        self._pcm = self._pcm[count:]
        self._start = (
            max(self._start + count, before) if not len(self._pcm) else self._start + count
        )

    @property
    def end(self) -> int:
        """Position after the last sample."""
        return self._start + len(self._pcm)

    def _begin(self, played: Played, now: int) -> None:
        self._rate = played.sample_rate
        self._resampler = Resampler(self._rate, self._line_rate)
        self._reached = now - len(played.pcm) * self._line_rate / self._rate
        self._fill(int(self._reached))
        self._reached = max(self._reached, self.end)

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
        if position > self.end:
            self._append(np.zeros(position - self.end, np.float32))
