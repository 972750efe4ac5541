"""The samples that a loudspeaker plays next, as its writer sees them. Samples that were handed over
can still be made quieter, faded out or dropped, as the memory is writable until the consumer reads
it.

Invariant: the consumer (a C callback, or a file device stepped by a clock) only copies and counts.
All edits happen on the writer's side, ahead of the consumer by at least `margin` samples. The
consumer's end never moves back: a cut, or samples taken back, leave silence, and the next samples
are written into that silence.

Positions count samples since construction. `_end` is where real audio ends, `_published` where the
consumer will stop; silence left by a cut lies between them. Numpy releases the interpreter lock for
work on more than 500 samples and may get it back tens of milliseconds later under load. So the
edits below go in pieces of _PIECE samples, earliest first.
"""

import threading

import numpy as np
import numpy.typing as npt

from engine.audio.base import Played
from engine.audio.pcm import Pcm, ramp

Samples = npt.NDArray[np.float32]

_PIECE = 480
_NOTHING: Pcm = np.zeros(0, dtype=np.float32)
_RAMP_MS = 10  # required by Loudspeaker.gain; shorter ramps click


class Ring:
    """Memory shared with the consumer, for `size` samples or up to twice as many."""

    def __init__(self, size: int, channels: int = 1) -> None:
        self.memory: Samples = np.zeros((power_of_two(size), channels), dtype=np.float32)
        self._written = 0
        self._read = 0

    @property
    def unread(self) -> int:
        """Samples that were published and not consumed."""
        return self._written - self._read

    def publish(self, samples: int) -> None:
        """Writer: release the next `samples` of `memory`, which are filled, to the consumer."""
        self._written += samples

    def read_into(self, out: Samples) -> int:
        """Consumer: copy up to len(out) samples; return how many. The rest of `out` is kept."""
        size = len(self.memory)
        samples = min(len(out), self.unread)
        start = self._read % size
        first = min(samples, size - start)
        out[:first] = self.memory[start : start + first, 0]
        out[first:samples] = self.memory[: samples - first, 0]
        self._read += samples
        return samples


def power_of_two(samples: int) -> int:
    """Return the smallest power of two that is not below `samples`."""
    return 1 << (samples - 1).bit_length()


class Tape:
    """The writer's side of a loudspeaker, and the base of loudspeakers: it implements their
    protocol but for name, latency and close(). Any thread may call it; the consumer never does.

    `margin` is the number of samples that the consumer may take during an edit (one device block).
    The last `history` played samples are kept.
    """

    def __init__(self, store: Ring, *, sample_rate: int, margin: int, history: int = 0) -> None:
        self._store = store
        self._size = len(store.memory)
        self._history = history
        self._room = self._size - history
        self._dry: Pcm = np.zeros(self._size, dtype=np.float32)  # [size] before gain
        self._taken = 0  # position of the next take_played()
        self._margin = margin
        self._sample_rate = sample_rate
        self._published = 0
        self._end = 0
        self._silences: list[tuple[int, int]] = []  # closed, unheard, before _end
        self._silence = 0  # samples of all closed silences, heard or not
        self._gain_from, self._gain_to = 1.0, 1.0
        self._ramp_start, self._ramp_samples = 0, 0
        self._expecting = False
        self._excused = 0  # an empty tape here is no underrun (or was counted)
        self._underruns = 0
        # Between threads that write, change the gain and cut; the consumer never uses it.
        self._edits = threading.Lock()

    def _advance(self) -> None:
        """Let the player of the tape work; called before each access that depends on it."""

    @property
    def samples_written(self) -> int:
        """Real samples on the tape since construction, without those that were cut."""
        with self._edits:
            return self._end - self._silence

    @property
    def samples_played(self) -> int:
        """Real samples that the consumer took."""
        self._advance()
        with self._edits:
            position = min(self._position(), self._end)
            # Silences before the position are not needed any more.
            while self._silences and self._silences[0][1] <= position:
                self._silences.pop(0)
            ahead = sum(stop - max(start, position) for start, stop in self._silences)
            return position - (self._silence - ahead)

    @property
    def underruns(self) -> int:
        self._advance()
        with self._edits:
            self._count_underrun()
            return self._underruns

    @property
    def gain(self) -> float:
        return self._gain_to

    @gain.setter
    def gain(self, gain: float) -> None:
        """Ramp to `gain` (0..1) from the next sample that can still be changed."""
        self._advance()
        with self._edits:
            position = self._position()
            start = min(position + self._margin, self._end)
            passed, begins_at = start - self._ramp_start, self._gain_to
            if passed < self._ramp_samples:
                share = max(0, passed) / self._ramp_samples
                begins_at = self._gain_from + (self._gain_to - self._gain_from) * share
            idle = position >= self._end
            self._ramp_samples = 0 if idle else self._sample_rate * _RAMP_MS // 1000
            self._gain_from, self._gain_to, self._ramp_start = begins_at, gain, start
            self._render(start, self._end)

    def write(self, pcm: Pcm) -> int:
        """Append samples; return how many were accepted."""
        with self._edits:
            self._count_underrun()
            start = self._start()
            count = min(len(pcm), self._room - (start - self._position()))
            if count <= 0:
                return 0
            if start > self._end:
                self._silences.append((self._end, start))
                self._silence += start - self._end
            self._dry[np.arange(start, start + count) % self._size] = pcm[:count]
            self._end = start + count
            self._render(start, self._end)
            if self._end > self._published:
                self._store.publish(self._end - self._published)
                self._published = self._end
            return count

    def take_played(self) -> Played:
        """See Loudspeaker."""
        self._advance()
        with self._edits:
            position = self._position()
            start = max(self._taken, position - self._history)
            self._taken = position
            pieces = [
                self._store.memory[offset : offset + samples, 0]
                for offset, samples, _ in self._pieces(start, position)
            ]
            more = self._published > position
            return Played(np.concatenate([_NOTHING, *pieces]), self._sample_rate, more)

    def expect_more(self, flag: bool) -> None:
        """Declare whether an empty tape is an underrun from now on."""
        self._advance()
        with self._edits:
            self._count_underrun()
            self._expecting = flag
            self._excused = self._end

    def take_back(self, samples: int) -> int:
        """See Loudspeaker: turn the last samples into silence, into which the next are written."""
        self._advance()
        with self._edits:
            self._count_underrun()
            silent_until = self._silences[-1][1] if self._silences else 0
            fixed = max(self._position() + self._margin, silent_until)
            old_end, self._end = self._end, min(self._end, max(self._end - samples, fixed))
            if self._end < old_end:
                # running empty here is an underrun
                self._excused = min(self._excused, self._end - 1)
                self._silence_out(self._end, old_end)
            return old_end - self._end

    def cut(self, *, fade_ms: int = 10) -> None:
        """Fade out from the next sample that can still be changed; the rest becomes silence."""
        self._advance()
        with self._edits:
            position = self._position()
            fade = min(self._sample_rate * fade_ms // 1000, self._end - position)
            if fade <= 0:
                return
            # If fewer samples are left than margin and fade, fade what is left: late is better than
            # a click.
            start = max(position, min(position + self._margin, self._end - fade))
            if self._gain_to == 0.0:  # or the next gain would revive samples that the fade ends
                fade = max(0, min(fade, self._ramp_start + self._ramp_samples - start))
            old_end = self._end
            self._end = start + fade
            self._excused = self._end
            while self._silences and self._silences[-1][1] > self._end:  # shorten to the cut
                begin, stop = self._silences.pop()
                self._silence -= stop - max(begin, self._end)
                if begin < self._end:
                    self._silences.append((begin, self._end))
            self._dry[np.arange(start, start + fade) % self._size] *= ramp(1.0, 0.0, fade)
            self._render(start, self._end)
            self._silence_out(self._end, old_end)

    def _position(self) -> int:
        return self._published - self._store.unread

    def _start(self) -> int:
        """Return where the next sample goes: after the last one, or into the silence of a cut."""
        return min(self._published, max(self._end, self._position() + self._margin))

    def _count_underrun(self) -> None:
        if self._expecting and self._end > self._excused and self._position() >= self._end:
            self._underruns += 1
            self._excused = self._end

    def _render(self, start: int, stop: int) -> None:
        """Copy dry samples to the consumer's memory, with gain."""
        for offset, samples, position in self._pieces(start, stop):
            dry = self._dry[offset : offset + samples]
            wet = dry * self._envelope(position, samples)
            self._store.memory[offset : offset + samples] = wet[:, np.newaxis]

    def _silence_out(self, start: int, stop: int) -> None:
        for offset, samples, _ in self._pieces(start, stop):
            for memory in (self._store.memory, self._dry):  # or a later gain would revive it
                memory[offset : offset + samples] = 0

    def _envelope(self, position: int, samples: int) -> Pcm | float:
        passed = position - self._ramp_start
        if passed >= self._ramp_samples:
            return self._gain_to
        steps = np.arange(passed + 1, passed + samples + 1, dtype=np.float32) / self._ramp_samples
        line = self._gain_from + (self._gain_to - self._gain_from) * np.clip(steps, 0, 1)
        return line.astype(np.float32)

    def _pieces(self, start: int, stop: int) -> list[tuple[int, int, int]]:
        """Split into pieces that neither wrap nor are too long: offset, samples, position."""
        pieces = []
        while start < stop:
            offset = start % self._size
            samples = min(_PIECE, stop - start, self._size - offset)
            pieces.append((offset, samples, start))
            start += samples
        return pieces
