"""Speech at another speed and the same pitch, sample by sample as it comes.

WSOLA (Verhelst and Roelands 1993): what sounds next is taken from near the place that the speed
asks for, where it continues best what sounded last. As long as what really came next is near
enough, it is that, so at speed 1 the samples stay as they are.
Invariant: what comes out depends on the samples and their speeds, not on where they were cut.
"""

from collections import deque
from collections.abc import Iterable
from typing import Final

import numpy as np

from engine.tts.base import Pcm

SLOWEST, FASTEST = 0.35, 2.2  # beyond these, speech falls apart
_OVERLAP_S: Final = 0.020  # over which one place becomes the next
_REACH_S: Final = 0.010  # from the place asked for, half a period of the deepest voices
_SILENT: Final = 1e-6  # so little power is like none


class Stretch:
    """One utterance at speeds that may change with every push()."""

    def __init__(self, sample_rate: int) -> None:
        self._overlap = round(_OVERLAP_S * sample_rate)
        self._reach = round(_REACH_S * sample_rate)
        fade = 0.5 - 0.5 * np.cos(np.pi * (np.arange(self._overlap) + 0.5) / self._overlap)
        self._fade = fade.astype(np.float32)
        self._kept: Pcm = np.zeros(0, np.float32)  # what came and may still be needed
        self._start = 0  # of what is kept, in what came
        self._next = 0  # what really comes next, in what is kept
        self._asked = 0.0  # the place that the speed asks for, in what is kept
        self._marks: deque[int] = deque()  # in what came
        self._sounded = 0  # samples that came out

    def push(self, pcm: Pcm, speed: float, marks: Iterable[int] = ()) -> tuple[Pcm, list[int]]:
        """The samples that sound now that these have come, none perhaps, and where in all that
        sounded `marks` lie. Marks are places in all that came, in order, not before these samples;
        each comes back once.
        """
        self._kept = np.concatenate((self._kept, pcm))
        self._marks += marks
        if speed == 1:
            sounding, places = self._as_it_is()
        else:
            sounding, places = self._stretched(min(max(speed, SLOWEST), FASTEST))
        first = max(0, min(self._next, int(self._asked) - self._reach - 1))  # still needed
        self._kept = self._kept[first:]
        self._start += first
        self._next -= first
        self._asked -= first
        return sounding, places

    def finish(self) -> tuple[Pcm, list[int]]:
        """What has not sounded yet."""
        return self._as_it_is()

    def _as_it_is(self) -> tuple[Pcm, list[int]]:
        sounding = self._kept[self._next :]
        places = self._passed(self._next, len(self._kept))
        self._next = len(self._kept)
        self._asked = float(self._next)
        self._sounded += len(sounding)
        return sounding, places

    def _stretched(self, speed: float) -> tuple[Pcm, list[int]]:
        pieces, places = [np.zeros(0, np.float32)], []
        while (place := self._place()) is not None:
            end = place + self._overlap
            before = self._kept[self._next : self._next + self._overlap]
            pieces.append(before + (self._kept[place:end] - before) * self._fade)
            places += self._passed(place, end)
            self._sounded += self._overlap
            self._next = end
            self._asked += self._overlap * speed
        return np.concatenate(pieces), places

    def _place(self) -> int | None:
        """Where to go on, in what is kept; None = too little has come to tell."""
        asked, overlap = round(self._asked), self._overlap
        low, high = max(0, asked - self._reach), asked + self._reach
        if max(self._next, high) + overlap > len(self._kept):
            return None
        if low <= self._next <= high:
            return self._next
        heard = self._kept[low : high + overlap]
        alike = np.correlate(heard, self._kept[self._next : self._next + overlap], "valid")
        power = np.convolve(heard * heard, np.ones(overlap, np.float32), "valid")
        return low + int(np.argmax(alike / np.sqrt(np.maximum(power, _SILENT))))

    def _passed(self, place: int, end: int) -> list[int]:
        """Where the marks before `end` sound, if `place` sounds next; both in what is kept."""
        places = []
        while self._marks and self._marks[0] - self._start < end:
            ahead = self._marks.popleft() - self._start - place
            places.append(self._sounded + max(0, ahead))
        return places
