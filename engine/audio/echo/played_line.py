"""What the loudspeaker played, brought into step with what the microphone heard meanwhile.

Invariant: what was played lies at the position at which it left the loudspeaker's ring; silence
lies where nothing was played.
"""

import numpy as np

from engine.audio.base import Pcm, Played
from engine.audio.pcm import Resampler

TAIL_S = 1.0  # after the last sample played: the room, the devices, and the canceller's memory
HOLD_S = 0.06  # how long a sample heard waits for what was played meanwhile
STRAY_S = 0.015  # devices deliver by blocks of 10 ms; what strays further has another clock
STRAYS = 50  # looks in a row, about a second
REACH = 8  # samples on both sides that a sample between two others is made of
_EMPTY: Pcm = np.zeros(0, dtype=np.float32)


class PlayedLine:
    """What was played, resampled to `sample_rate` (Hz), in which positions count."""

    def __init__(self, sample_rate: int) -> None:
        self._line_rate = sample_rate
        self._resampler: Resampler | None = None  # None: nothing is being played
        self._rate = sample_rate  # Hz of what is played
        self._pcm: Pcm = _EMPTY
        self._start = 0  # position of its first sample
        self._silent_from = -int(TAIL_S * self._line_rate)  # where the last stretch ended
        self._reached = 0.0  # position up to which was played, by the loudspeaker's clock
        self._strays = 0  # looks in a row at which the two clocks were apart

    def push(self, played: Played, now: int) -> int:
        """Append; a stretch that begins is taken to end at position `now`. By how many samples all
        that is here was moved to earlier positions, because the two clocks have run apart.
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
        """Whether everything before `position` is here, or will never be."""
        late = now - position > HOLD_S * self._line_rate
        return self._resampler is None or self.end >= position or late

    def sounds_at(self, position: int) -> bool:
        return (
            self._resampler is not None or position < self._silent_from + TAIL_S * self._line_rate
        )

    def take(self, position: int, samples: int) -> Pcm:
        """The samples from `position` on; silence where nothing was played."""
        self._fill(position + samples)
        first = position - self._start
        if first < 0:  # before anything was played, or forgotten
            silence = np.zeros(min(samples, -first), np.float32)
            return np.concatenate((silence, self._pcm[: max(0, first + samples)]))
        return self._pcm[first : first + samples]

    def take_between(self, position: float, samples: int) -> Pcm:
        """The samples from a `position` on that may lie between two; needs REACH more after it."""
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
        """Position after the last sample that is here."""
        return self._start + len(self._pcm)

    def _begin(self, played: Played, now: int) -> None:
        self._rate = played.sample_rate
        self._resampler = Resampler(self._rate, self._line_rate)
        self._reached = now - len(played.pcm) * self._line_rate / self._rate
        self._fill(int(self._reached))
        self._reached = max(self._reached, self.end)

    def _keep_step(self, now: int) -> int:
        """Move the line when loudspeaker and microphone have counted time apart."""
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
        """Silence up to `position`."""
        if position > self.end:
            self._append(np.zeros(position - self.end, np.float32))
