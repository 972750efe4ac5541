"""Change the speed of speech at the same pitch, as its samples come.

WSOLA (Verhelst and Roelands 1993): the next output is taken from near the position that the speed
requires, where it best continues the last output. If the real continuation is near enough, it is
used, so at speed 1 the samples do not change. Invariant: the output depends on the samples and
their speeds, not on the division into pieces.
"""

from collections import deque
from collections.abc import Iterable
from typing import Final

import numpy as np

from engine.tts.base import Pcm

SLOWEST, FASTEST = 0.25, 2.2  # beyond these, speech falls apart
_OVERLAP_S: Final = 0.020  # of the fade from one position to the next
_REACH_S: Final = 0.010  # around the required position, half a period of the deepest voices
_SILENT: Final = 1e-6  # power of silence


class Stretch:
    """Stretches one utterance, at a speed that may change with every push()."""

    def __init__(self, sample_rate: int) -> None:
        self._overlap = round(_OVERLAP_S * sample_rate)
        self._reach = round(_REACH_S * sample_rate)
        fade = 0.5 - 0.5 * np.cos(np.pi * (np.arange(self._overlap) + 0.5) / self._overlap)
        self._fade = fade.astype(np.float32)
        self._input: Pcm = np.zeros(0, np.float32)  # the end of it, which may still be needed
        self._start = 0  # position of _input[0] in the entire input
        self._next = 0  # index in _input of the real continuation
        self._asked = 0.0  # index in _input that the speed requires
        self._marks: deque[int] = deque()  # positions in the entire input
        self._sounded = 0  # samples of output

    def push(self, pcm: Pcm, speed: float, marks: Iterable[int] = ()) -> tuple[Pcm, list[int]]:
        """Add samples. Return the output that is ready, which may be empty, and the positions of
        marks in the entire output. `marks` are positions in the entire input, in order, not before
        these samples; each is returned once.
        """
        self._input = np.concatenate((self._input, pcm))
        self._marks += marks
        if speed == 1:
            sounding, places = self._as_it_is()
        else:
            sounding, places = self._stretched(min(max(speed, SLOWEST), FASTEST))
        first = max(0, min(self._next, int(self._asked) - self._reach - 1))
        self._input = self._input[first:]
        self._start += first
        self._next -= first
        self._asked -= first
        return sounding, places

    def finish(self) -> tuple[Pcm, list[int]]:
        """Return the rest of the output, and positions as push() does."""
        return self._as_it_is()

    def _as_it_is(self) -> tuple[Pcm, list[int]]:
        sounding = self._input[self._next :]
        places = self._passed(self._next, len(self._input))
        self._next = len(self._input)
        self._asked = float(self._next)
        self._sounded += len(sounding)
        return sounding, places

    def _stretched(self, speed: float) -> tuple[Pcm, list[int]]:
        pieces, places = [np.zeros(0, np.float32)], []
        while (place := self._place()) is not None:
            end = place + self._overlap
            before = self._input[self._next : self._next + self._overlap]
            pieces.append(before + (self._input[place:end] - before) * self._fade)
            places += self._passed(place, end)
            self._sounded += self._overlap
            self._next = end
            self._asked += self._overlap * speed
        return np.concatenate(pieces), places

    def _place(self) -> int | None:
        """Return the index in the input at which the next output begins. None = more input is
        needed to decide.
        """
        asked, overlap = round(self._asked), self._overlap
        low, high = max(0, asked - self._reach), asked + self._reach
        if max(self._next, high) + overlap > len(self._input):
            return None
        if low <= self._next <= high:
            return self._next
        heard = self._input[low : high + overlap]
        alike = np.correlate(heard, self._input[self._next : self._next + overlap], "valid")
        power = np.convolve(heard * heard, np.ones(overlap, np.float32), "valid")
        return low + int(np.argmax(alike / np.sqrt(np.maximum(power, _SILENT))))

    def _passed(self, place: int, end: int) -> list[int]:
        """Return the output positions of the marks before index `end` of the input, when the output
        continues from index `place`.
        """
        places = []
        while self._marks and self._marks[0] - self._start < end:
            ahead = self._marks.popleft() - self._start - place
            places.append(self._sounded + max(0, ahead))
        return places
