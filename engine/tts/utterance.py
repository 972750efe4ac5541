"""What every session keeps of its utterance, whatever makes the sound: the words that wait, the
rate, the samples given out, the end.

Invariant: what comes out depends on the words alone, never on when they were pushed. A session that
derives from Utterance adds `step`, and `rewind` where it can take speech back.
"""

from collections import deque
from math import isfinite
from typing import Final, Self

import numpy as np

from engine.audio.ending import faded_in
from engine.audio.limiter import Limiter
from engine.errors import InvalidInput
from engine.tts.base import AudioFrame, Onset, Pcm, RateRange
from engine.tts.rate import PLAIN, SyllableMeter

PIECE_MS: Final = 80  # of a frame that is cut from what was made ahead


class Utterance:
    """One utterance. Not thread-safe; several of one model may be stepped in turn."""

    def __init__(self, sample_rate: int, rates: RateRange | None = None) -> None:
        """`rates`: the range that the model can follow; None = it has no control of the rate."""
        self._sample_rate = sample_rate
        self._rates = rates
        self._limiter = Limiter(sample_rate)
        self._meter = SyllableMeter(sample_rate)
        self._rate: float | None = None
        self._noted_rate: float | None = None  # the rate of the last frame
        self._words: deque[str] = deque()  # not yet taken up
        self._paces: list[float] = []  # of all words ever
        self._ended = False  # no word follows
        self._sample = 0  # of the next frame
        self._finished = False

    @property
    def rate(self) -> float | None:
        """Target SPS from the next step on; None = own pace. Clamped to the model's range, ignored
        by a model without one; InvalidInput for NaN or infinity.
        """
        return self._rate

    @rate.setter
    def rate(self, rate: float | None) -> None:
        if rate is not None and not isfinite(rate):
            raise InvalidInput("A speaking rate of {rate} cannot be spoken.", rate=rate)
        self._rate = rate

    @property
    def _target(self) -> float | None:
        """The rate, clamped to the range of the model; None = own pace."""
        if self._rate is None or self._rates is None:
            return None
        return self._rates.nearest(self._rate)

    def push_word(self, text: str, pace: float = PLAIN) -> None:
        """See TtsSession."""
        if self._ended or self._finished:
            raise InvalidInput("No word can follow the end of an utterance.")
        if any(letter.isspace() for letter in text):
            raise InvalidInput(
                "'{text}' is more than one word.", hint="Push words one by one.", text=text
            )
        self._words.append(text)
        self._paces.append(pace)

    def end_input(self) -> None:
        """No more words will come. Calling it twice is harmless."""
        self._ended = True

    def rewind(self, sample: int) -> int | None:
        """Nothing: states of the networks are not kept. A new rate acts on the next frame."""
        return None

    def _note_rate(self, sample: int) -> None:
        """If the rate has changed, restart its measurement at this sample."""
        if self._rate != self._noted_rate:
            self._noted_rate = self._rate
            self._meter.restart(sample)

    def _syllables_end(self, syllables: int) -> None:
        """Count syllables that ended at the start of the next frame."""
        self._note_rate(self._sample)
        self._meter.add(self._sample, syllables)

    def _packet(self, pcm: Pcm, onsets: tuple[Onset, ...] = ()) -> AudioFrame:
        """The next samples as a frame, limited in level and faded in at the beginning."""
        start, self._sample = self._sample, self._sample + len(pcm)
        self._note_rate(start)
        pcm = faded_in(self._limiter.limit(pcm, start), self._sample_rate, start)
        return AudioFrame(pcm, start, onsets, *self._meter.rates(self._sample))

    def close(self) -> None:
        """Forget the utterance; further steps are Finished."""
        self._finished = True
        self._words.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AheadUtterance(Utterance):
    """One whose samples, onsets and syllables are made ahead of the frames that are cut from
    them.
    """

    def __init__(self, sample_rate: int, rates: RateRange) -> None:
        super().__init__(sample_rate, rates)
        self._piece = sample_rate * PIECE_MS // 1000  # samples of a frame; the last is shorter
        self._onsets: deque[Onset] = deque()
        self._ready: Pcm = np.zeros(0, np.float32)  # made, not yet in a frame

    @property
    def _made(self) -> int:
        """Samples of the utterance."""
        return self._sample + len(self._ready)

    def _make(self, pcm: Pcm) -> None:
        self._ready = np.concatenate([self._ready, pcm])

    def _cut(self) -> AudioFrame:
        """The next frame of what was made."""
        pcm, self._ready = self._ready[: self._piece], self._ready[self._piece :]
        end, onsets = self._sample + len(pcm), []
        while self._onsets and self._onsets[0].sample < end:
            onsets.append(self._onsets.popleft())
        return self._packet(pcm, tuple(onsets))

    def _forget_from(self, sample: int) -> None:
        """What was made from a sample of the utterance on."""
        self._ready = self._ready[: max(0, sample - self._sample)]
        self._sample = min(self._sample, sample)
        self._onsets = deque(each for each in self._onsets if each.sample < sample)

    def close(self) -> None:
        super().close()
        self._ready = np.zeros(0, np.float32)
