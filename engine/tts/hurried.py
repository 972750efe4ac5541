"""Speech beyond a model's own rates: its quickest speech, made shorter at the same pitch.

Kokoro's own durations are understood up to 7 SPS: at 8, 9 and 10 SPS 14, 37 and 41 % of the words
were wrong, and 5, 7 and 9 % when the speech of 7 SPS was made shorter (Heart, 209 words).

Invariant: up to the model's highest rate, samples, positions and rewinds are the session's own.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Final, Self

from engine.tts.base import AudioFrame, Finished, Onset, Pcm, Starved, Step, TtsSession
from engine.tts.voxtream.rate import FASTEST as MOST_SPEED
from engine.tts.voxtream.rate import Stretch

PLAIN_SPEED: Final = 1.0
_KEPT: Final = 60  # frames that can be taken back: beyond any lead


@dataclass
class _State:
    """Progress of the stretch that began at the inner position `inner_start`, which sounds at
    `start`. `inner`: end of its input; `sample`: end of the returned frames; `plain_from`: since
    this sample the speed has been 1; `words`: of the onsets that were not returned yet.
    """

    stretch: Stretch
    inner_start: int
    start: int
    inner: int
    sample: int
    plain_from: int
    words: deque[int] = field(default_factory=deque)
    finished: bool = False


class Hurried:
    """A TtsSession that follows rates above the model's highest too. Positions are samples of its
    own speech; inner positions are the session's.
    """

    def __init__(self, session: TtsSession, sample_rate: int) -> None:
        self._session = session
        self._sample_rate = sample_rate
        self._rate: float | None = None
        self._speed = PLAIN_SPEED
        self._states: deque[_State] = deque(maxlen=_KEPT)  # behind each returned frame
        self._frames: deque[AudioFrame] = deque(maxlen=_KEPT)  # of the session, stretched
        self._again: deque[AudioFrame] = deque()  # the same, to be stretched again
        self._begin(0, 0)

    def _begin(self, inner: int, sample: int) -> None:
        """Stretch anew from an inner position, which sounds at `sample`."""
        stretch = Stretch(self._sample_rate)
        self._state = _State(stretch, inner, sample, inner, sample, sample)

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
            step = self._again.popleft() if self._again else self._session.step()
            if isinstance(step, Starved):
                return step
            if isinstance(step, Finished):
                rest, places = self._state.stretch.finish()
                if self._state.finished or not len(rest):
                    return step
                self._state.finished = True
                return self._frame(rest, places, None)
            state = self._state
            state.words += (onset.word for onset in step.onsets)
            marks = [onset.sample - state.inner_start for onset in step.onsets]
            pcm, places = state.stretch.push(step.pcm, self._speed, marks)
            state.inner = step.sample + len(step.pcm)
            self._frames.append(step)
            frame = self._frame(pcm, places, step)
            if self._speed != PLAIN_SPEED:
                state.plain_from = state.sample
                self._states.append(deepcopy(state))
            if len(pcm):
                return frame

    def _frame(self, pcm: Pcm, places: Sequence[int], source: AudioFrame | None) -> AudioFrame:
        state = self._state
        start, state.sample = state.sample, state.sample + len(pcm)
        onsets = tuple(Onset(state.words.popleft(), state.start + place) for place in places)
        rate = mean = None
        if source is not None:
            rate = source.rate and source.rate * self._speed
            mean = source.mean and source.mean * state.inner / max(1, state.sample)
        return AudioFrame(pcm, start, onsets, rate, mean)

    def rewind(self, sample: int) -> int | None:
        """See TtsSession. Speech that was made shorter is taken back from the end of a frame: the
        stretch goes on as it was then, with the samples that the session keeps, at the new speed.
        """
        if sample < self._state.plain_from:
            return self._rewind_hurried(sample)
        if self._again:  # nothing was returned since the last rewind
            return None
        offset = self._state.sample - self._state.inner
        inner = self._session.rewind(sample - offset)
        if inner is None:
            return None
        if inner < self._state.inner:  # else the session still holds samples before it
            self._frames = deque(_before(self._frames, inner), _KEPT)
            self._begin(inner, inner + offset)
        return inner + offset

    def _rewind_hurried(self, sample: int) -> int | None:
        state = next((each for each in self._states if each.sample >= sample), None)
        inner = None if state is None else self._session.rewind(state.inner)
        if state is None or inner is None:
            return None
        known = list(_before([*self._frames, *self._again], inner))
        self._again = deque(each for each in known if each.sample >= state.inner)
        self._frames = deque(_before(known, state.inner), _KEPT)
        self._states = deque((each for each in self._states if each.sample <= state.sample), _KEPT)
        self._state = deepcopy(state)
        return state.sample

    def close(self) -> None:
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _before(frames: Iterable[AudioFrame], inner: int) -> Iterator[AudioFrame]:
    """Yield the session's frames up to an inner position, the last one perhaps in part."""
    for each in frames:
        if each.sample < inner:
            onsets = tuple(onset for onset in each.onsets if onset.sample < inner)
            yield replace(each, pcm=each.pcm[: inner - each.sample], onsets=onsets)
