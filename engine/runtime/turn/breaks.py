"""Insert the pauses that a text demands into the speech of any session.

Invariant: samples and onsets are the session's, with silence before some words: the demanded pause
minus the voice's own pause there. Sound around a silence neither ends nor begins with a step.
"""

from collections import deque
from dataclasses import replace
from typing import Final, Self

import numpy as np

from engine.audio.base import Pcm
from engine.audio.pcm import ramp
from engine.text.word import Word
from engine.tts.base import AudioFrame, Step, TtsSession
from engine.tts.hurried import Hurried

_QUIET: Final = 0.02  # of full scale: below this is the voice's own pause
_SILENT: Final = 0.001  # root mean square: contains no part of a word
# A voice may begin a word this long before the onset that it reports: Kokoro's creak before "and".
# Without a pause of its own, that would reach into the word before: the t of "wait".
_BEFORE_MS, _BEFORE_JOINED_MS = 120, 20
_SILENT_MS: Final = 30
_FADE_MS: Final = 10
_FRAME_MS: Final = 80
_REMEMBERED: Final = 100  # frames: more than any rewind


class Breaks:
    """A TtsSession that accepts Words. Positions are samples of the speech with its silences; inner
    positions are the session's own.
    """

    def __init__(self, session: TtsSession, sample_rate: int) -> None:
        self._session = Hurried(session, sample_rate)
        self._sample_rate = sample_rate
        self._pauses: dict[int, tuple[float, int]] = {}  # by word: seconds, see _BEFORE_MS
        self._pushed = 0  # words
        self._marked = True  # the last word ends in a mark, so the voice pauses after it
        self._silences: dict[int, tuple[int, int]] = {}  # by word: inner sample behind it, length
        self._held: AudioFrame | None = None  # an inner frame, before a pause that may begin in it
        self._ready: deque[AudioFrame] = deque()
        self._loud_until: deque[int] = deque([0], _REMEMBERED)  # end of each loud frame
        self._last = 0.0  # the last sample

    @property
    def rate(self) -> float | None:
        """See TtsSession."""
        return self._session.rate

    @rate.setter
    def rate(self, rate: float | None) -> None:
        self._session.rate = rate

    def push(self, word: Word) -> None:
        """Append a word, with the pause before it."""
        if word.pause_s:
            before_ms = _BEFORE_MS if self._marked else _BEFORE_JOINED_MS
            self._pauses[self._pushed] = word.pause_s, before_ms
        self._session.push_word(word.spoken, word.pace)
        self._marked = not word.text[-1].isalnum()
        self._pushed += 1

    def end_input(self) -> None:
        self._session.end_input()

    def step(self) -> Step:
        """See TtsSession."""
        while not self._ready:
            step = self._session.step()
            if isinstance(step, AudioFrame):
                self._add(step)
            elif self._held:
                self._give(self._held, 0, len(self._held.pcm))
                self._held = None
            else:
                return step
        return self._ready.popleft()

    def rewind(self, sample: int) -> int | None:
        """See TtsSession. A silence that has begun stays."""
        end = self._session.rewind(self._inner(sample))
        if end is None:
            return None
        self._silences = {word: each for word, each in self._silences.items() if each[0] < end}
        self._held = self._held and _part(self._held, 0, end - self._held.sample)
        end += self._added
        parts = (_part(frame, 0, end - frame.sample) for frame in self._ready)
        self._ready = deque(part for part in parts if part)
        ends = [each for each in self._loud_until if each <= end]
        self._loud_until, self._last = deque(ends or [end], _REMEMBERED), 0.0
        return end

    def close(self) -> None:
        self._ready.clear()
        self._held = None
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _added(self) -> int:
        """Samples of silence so far."""
        return sum(length for _, length in self._silences.values())

    def _inner(self, sample: int) -> int:
        """Return the inner sample of a sample; within a silence, the one behind the next onset."""
        added = 0
        for end, length in self._silences.values():
            if sample <= end + added:
                break
            if sample <= end + added + length:
                return end + 1
            added += length
        return sample - added

    def _add(self, frame: AudioFrame) -> None:
        """Queue one of the session's frames, with the silences for its words."""
        if self._held:
            held, self._held = self._held, None
            pcm, onsets = np.concatenate([held.pcm, frame.pcm]), held.onsets + frame.onsets
            frame = replace(frame, pcm=pcm, sample=held.sample, onsets=onsets)
        begin = 0
        for onset in frame.onsets:
            if onset.word not in self._pauses or onset.word in self._silences:
                continue
            pause_s, before_ms = self._pauses[onset.word]
            place = self._gap(frame.pcm, begin, onset.sample - frame.sample, before_ms)
            self._give(frame, begin, place)
            begin = place
            asked = round(pause_s * self._sample_rate)
            quiet = frame.sample + place + self._added - self._loud_until[-1]
            length = max(0, asked - quiet)
            if length:
                self._be_silent(frame, place, length)
                frame = replace(frame, pcm=self._risen(frame.pcm, place))
            self._silences[onset.word] = frame.sample + place, length
        end = len(frame.pcm)
        if len(self._silences) < len(self._pauses):
            end = max(begin, end - self._sample_rate * _BEFORE_MS // 1000)
        self._give(frame, begin, end)
        self._held = _part(frame, end, len(frame.pcm))

    def _gap(self, pcm: Pcm, begin: int, place: int, before_ms: int) -> int:
        """Return where a silence goes: after the quietest place shortly before `place`."""
        begin = max(begin, place - self._sample_rate * before_ms // 1000)
        length = min(self._sample_rate * min(_SILENT_MS, before_ms // 2) // 1000, place - begin)
        if length <= 0:
            return min(begin, len(pcm))
        power = np.convolve(np.square(pcm[begin:place]), np.full(length, 1 / length), "valid")
        least = max(_SILENT**2, float(power.min()))
        return begin + length + int(np.flatnonzero(power <= least)[-1])

    def _give(self, frame: AudioFrame, begin: int, end: int) -> None:
        """Queue a part of a frame."""
        part = _part(frame, begin, end)
        if not part:
            return
        added = self._added
        loud = np.flatnonzero(np.abs(part.pcm) >= _QUIET)
        if len(loud):
            self._loud_until.append(part.sample + added + int(loud[-1]) + 1)
        self._last = float(part.pcm[-1])
        onsets = tuple(replace(each, sample=each.sample + added) for each in part.onsets)
        self._ready.append(replace(part, sample=part.sample + added, onsets=onsets))

    def _be_silent(self, frame: AudioFrame, place: int, length: int) -> None:
        """Queue a silence before a place in a frame."""
        pcm: Pcm = np.zeros(length, np.float32)
        falling = pcm[: self._fade]
        falling += self._last * ramp(1, 0, len(falling))
        start = frame.sample + place + self._added
        step = self._sample_rate * _FRAME_MS // 1000
        for begin in range(0, length, step):
            part = pcm[begin : begin + step]
            self._ready.append(replace(frame, pcm=part, sample=start + begin, onsets=()))

    def _risen(self, pcm: Pcm, place: int) -> Pcm:
        """Return the samples with a rise from zero at a place."""
        pcm = pcm.copy()
        rising = pcm[place:][: self._fade]
        if len(rising):
            rising -= float(rising[0]) * ramp(1, 0, len(rising))
        return pcm

    @property
    def _fade(self) -> int:
        return self._sample_rate * _FADE_MS // 1000


def _part(frame: AudioFrame, begin: int, end: int) -> AudioFrame | None:
    """Return a part of a frame; None if it is empty."""
    pcm, first = frame.pcm[begin : max(begin, end)], frame.sample + begin
    inside = tuple(each for each in frame.onsets if first <= each.sample < first + len(pcm))
    return replace(frame, pcm=pcm, sample=first, onsets=inside) if len(pcm) else None
