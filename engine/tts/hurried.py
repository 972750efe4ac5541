"""Speech beyond a model's own rates: its quickest speech, made shorter at the same pitch.

Kokoro's own durations are understood up to 7 SPS: at 8, 9 and 10 SPS 14, 37 and 41 % of the words
were wrong, and 5, 7 and 9 % when the speech of 7 SPS was made shorter (Heart, 209 words).

Invariant: up to the model's highest rate, samples, positions and rewinds are the session's own.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final, Self

from engine.tts.base import AudioFrame, Finished, Onset, Pcm, Starved, Step, TtsSession
from engine.tts.voxtream.stretch import FASTEST as MOST_SPEED
from engine.tts.voxtream.stretch import Stretch

PLAIN_SPEED: Final = 1.0


class Hurried:
    """A TtsSession that follows rates above the model's highest too. Positions are samples of its
    own speech; inner positions are the session's.
    """

    def __init__(self, session: TtsSession, sample_rate: int) -> None:
        self._session = session
        self._sample_rate = sample_rate
        self._rate: float | None = None
        self._speed = PLAIN_SPEED
        self._begin(0, 0)

    def _begin(self, inner: int, sample: int) -> None:
        """Stretch anew from an inner position, which sounds at `sample`."""
        self._stretch = Stretch(self._sample_rate)
        self._inner = self._inner_start = inner  # end of the stretched input
        self._sample = self._start = sample  # end of the returned frames
        self._plain_from = sample  # the speed has been 1 since this sample
        self._words: deque[int] = deque()  # of the onsets that were not returned yet
        self._finished = False

    @property
    def rate(self) -> float | None:
        """See TtsSession."""
        return self._rate

    @rate.setter
    def rate(self, rate: float | None) -> None:
        self._session.rate = rate
        own = self._session.rate
        self._rate, self._speed = own, PLAIN_SPEED
        if rate is not None and own is not None and rate > own:
            self._speed = min(rate / own, MOST_SPEED)
            self._rate = own * self._speed

    def push_word(self, text: str, pace: float = 1.0) -> None:
        self._session.push_word(text, pace)

    def end_input(self) -> None:
        self._session.end_input()

    def step(self) -> Step:
        """See TtsSession. A step may make several frames of the session."""
        while True:
            step = self._session.step()
            if isinstance(step, Starved):
                return step
            if isinstance(step, Finished):
                rest, places = self._stretch.finish()
                if self._finished or not len(rest):
                    return step
                self._finished = True
                return self._frame(rest, places, None)
            frame = self._hurry(step)
            if len(frame.pcm):
                return frame

    def _hurry(self, frame: AudioFrame) -> AudioFrame:
        self._words += (onset.word for onset in frame.onsets)
        marks = [onset.sample - self._inner_start for onset in frame.onsets]
        pcm, places = self._stretch.push(frame.pcm, self._speed, marks)
        self._inner = frame.sample + len(frame.pcm)
        made = self._frame(pcm, places, frame)
        if self._speed != PLAIN_SPEED:
            self._plain_from = self._sample
        return made

    def _frame(self, pcm: Pcm, places: Sequence[int], source: AudioFrame | None) -> AudioFrame:
        start, self._sample = self._sample, self._sample + len(pcm)
        onsets = tuple(Onset(self._words.popleft(), self._start + place) for place in places)
        rate = mean = None
        if source is not None:
            rate = source.rate and source.rate * self._speed
            mean = source.mean and source.mean * self._inner / max(1, self._sample)
        return AudioFrame(pcm, start, onsets, rate, mean)

    def rewind(self, sample: int) -> int | None:
        """See TtsSession. Speech that was made shorter is not taken back."""
        if sample < self._plain_from:
            return None
        offset = self._sample - self._inner
        inner = self._session.rewind(sample - offset)
        if inner is None:
            return None
        if inner < self._inner:  # else the session still holds samples before it
            self._begin(inner, inner + offset)
        return inner + offset

    def close(self) -> None:
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
