"""The bases of all synthesisers and their sessions.

A synthesiser has its own voices, and prepares and warms them. A session has the queue of words, the
rate, and a queue of samples with onsets. A system adds `_hear`, which receives a word or the end of
the text, and `_make`, which makes a little more of the speech. It adds `rewind` if speech can be
taken back, and `_end` if the speech does not end with a fade of its last samples.

Invariants: the samples depend on the words, never on when they were pushed; a voice of another
model is never prepared.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable
from math import inf
from typing import Final, Generic, Self, TypeVar

import numpy as np

from engine.audio.finishing import Ending, Limiter, faded_in
from engine.errors import InvalidInput
from engine.tts.base import (
    AudioFrame,
    Finished,
    Onset,
    Pcm,
    RateRange,
    Starved,
    Step,
    TtsInfo,
    TtsSession,
    Voice,
)
from engine.tts.rate import PLAIN, SyllableMeter

FRAME_MS: Final = 80
ANY_RATE: Final = RateRange(-inf, inf)  # of a model without control of the rate: it has no effect

MOST_VOICES: Final = 4  # whose snapshots stay in memory; one of VoXtream2 has tens of megabytes
_Prepared = TypeVar("_Prepared")


class Session(ABC):
    """One utterance, on one thread. Sessions of a model may be stepped in any order."""

    def __init__(self, sample_rate: int, rates: RateRange = ANY_RATE, rate_window: int = 0) -> None:
        """`rates`: of the model; `rate_window`: samples of the meter's recent_rate()."""
        self._sample_rate = sample_rate
        self._rates = rates
        self._rate: float | None = None
        self._noted_rate: float | None = None  # the rate of the last step
        self._words: deque[str] = deque()  # pushed, not yet heard
        self._paces: list[float] = []  # of all words ever
        self._ended = False  # no more words will be pushed
        self._all_heard = False  # the words and their end
        self._over = False  # everything was made
        self._closed = False
        self._frame_samples = sample_rate * FRAME_MS // 1000
        self._least = 1  # samples in the queue that are enough for a frame
        self._sample = 0  # position of the next frame
        self._queue: Pcm = np.zeros(0, np.float32)  # samples from there on
        self._onsets: deque[Onset] = deque()  # in the queue or behind it
        self._meter = SyllableMeter(sample_rate, rate_window)
        self._limiter = Limiter(sample_rate)
        self._ending = Ending(sample_rate)

    # ----------------------------------------------------------------- of the systems

    @abstractmethod
    def _hear(self, word: str | None) -> None:
        """Receive the next word; None = the text is over."""

    @abstractmethod
    def _make(self) -> bool:
        """Do one step towards the next samples, or append them. False if that needs another word,
        or if all words received so far have been spoken.
        """

    def _end(self) -> None:
        """Append the end of the utterance: a fade, and a silent frame for words without a sound."""
        least = self._frame_samples if self._onsets else 0
        self._append(self._ending.sound(least))

    def rewind(self, sample: int) -> int | None:
        """Return None: this session cannot rewind, because states of the networks are not stored. A
        new rate applies to samples that are made later.
        """
        return None

    # ------------------------------------------------------------------------ the seam

    @property
    def rate(self) -> float | None:
        """Target SPS from the next step on, clamped to the model's range; None = own pace.
        InvalidInput for NaN or infinity.
        """
        return self._rate

    @rate.setter
    def rate(self, rate: float | None) -> None:
        self._rate = rate if rate is None else self._rates.nearest(rate)

    def push_word(self, text: str, pace: float = PLAIN) -> None:
        """Implement TtsSession.push_word()."""
        if self._ended or self._closed:
            raise InvalidInput("No word can follow the end of an utterance.")
        if text.split() != [text]:
            raise InvalidInput("'{text}' is not one word.", text=text[:80])
        self._words.append(text)
        self._paces.append(pace)

    def end_input(self) -> None:
        """End the text. Calling it twice is harmless."""
        self._ended = True

    def step(self) -> Step:
        """Return the next frame, of 80 ms or less."""
        if self._closed:
            return Finished()
        self._note_rate()
        while len(self._queue) < self._least and self._go_on():
            pass
        if len(self._queue):
            return self._cut()
        return Finished() if self._over else Starved()

    def close(self) -> None:
        """Discard the utterance; further steps are Finished."""
        self._closed = True
        self._words.clear()
        self._queue = self._queue[:0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ----------------------------------------------------------------------- the words

    def _go_on(self) -> bool:
        """Do one step of the system, or pass it a word. False if neither is possible now."""
        if self._over:
            return False
        if not (self._make() or self._hear_next()):
            if not self._all_heard:
                return False
            self._over = True
            self._end()
        return True

    def _hear_next(self) -> bool:
        """Pass the next word or the end to the system. False if neither has arrived."""
        if self._words:
            self._hear(self._words.popleft())
        elif self._ended and not self._all_heard:
            self._all_heard = True
            self._hear(None)
        else:
            return False
        return True

    # ----------------------------------------------------------------------- the queue

    @property
    def _made(self) -> int:
        """Number of samples made so far."""
        return self._sample + len(self._queue)

    def _append(self, pcm: Pcm) -> None:
        self._ending.hear(pcm)
        self._queue = np.concatenate([self._queue, pcm])

    def _begin_word(self, word: int, sample: int | None = None) -> None:
        """Add the onset of a word at a sample; None = at the next sample to be made."""
        sample = self._made if sample is None else sample
        self._onsets.append(Onset(word, sample))
        self._meter.begin_word(sample)

    def _note_rate(self) -> None:
        """If the rate has changed, restart its measurement after the queued samples."""
        if self._rate != self._noted_rate:
            self._noted_rate = self._rate
            self._meter.restart(self._made)

    def _cut(self) -> AudioFrame:
        """Return the next frame, limited in level; the first samples are faded in."""
        start, count = self._sample, self._frame_samples
        pcm, self._queue = self._queue[:count], self._queue[count:]
        self._sample = end = start + len(pcm)
        onsets = []
        while self._onsets and self._onsets[0].sample < end:
            onsets.append(self._onsets.popleft())
        pcm = faded_in(self._limiter.limit(pcm, start), self._sample_rate, start)
        rates = self._meter.rates(start + len(pcm) // 2)  # shown while this frame sounds
        return AudioFrame(pcm, start, tuple(onsets), *rates)

    def _drop_from(self, sample: int) -> None:
        """Drop speech from a sample of the utterance on."""
        self._queue = self._queue[: max(0, sample - self._sample)]
        self._sample = min(self._sample, sample)
        self._onsets = deque(each for each in self._onsets if each.sample < sample)
        self._over = False


class Synthesiser(ABC, Generic[_Prepared]):
    """A TtsModel that makes no voices from recordings, unless its class overrides `encode_voice`.
    Weights never change; a session changes only its own state. Used from one thread; its sessions
    may be stepped in any order.
    """

    rehearsed: tuple[str, ...] = ("ready",)

    def __init__(
        self, info: TtsInfo, own_voices: tuple[Voice, ...], prepare: Callable[[Voice], _Prepared]
    ) -> None:
        """`prepare` computes what sessions need of a voice, or raises InvalidInput."""
        self.info = info
        self._voices = own_voices
        self._prepare = prepare
        self._recent: OrderedDict[int, tuple[Voice, _Prepared]] = OrderedDict()  # spoke last

    def voices(self) -> tuple[Voice, ...]:
        return self._voices

    @abstractmethod
    def open(self, voice: Voice, *, seed: int) -> TtsSession: ...

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """Not called here, because info.can_clone is False."""
        raise NotImplementedError

    def warm(self, voice: Voice) -> None:
        """Compute a frame and discard it, because a library's first call takes longer."""
        with self.open(voice, seed=0) as session:
            for word in self.rehearsed:
                session.push_word(word)
            session.end_input()
            session.step()

    def close(self) -> None:
        """Discard the prepared voices."""
        self._recent.clear()

    def _of(self, voice: Voice) -> _Prepared:
        """Return a voice as `prepare` made it, cached for the last few voices. InvalidInput for a
        voice of another model.
        """
        if voice.model != self.info.voice_model:
            raise InvalidInput(
                "The voice '{name}' was made for '{model}', not for '{other}'.",
                hint="Add it again from its recording, or use the synthesiser it was made for.",
                name=voice.name,
                model=voice.model,
                other=self.info.voice_model,
            )
        if id(voice) not in self._recent:
            # The entry keeps the voice alive, so no other voice can get its id.
            self._recent[id(voice)] = (voice, self._prepare(voice))
            while len(self._recent) > MOST_VOICES:
                self._recent.popitem(last=False)
        self._recent.move_to_end(id(voice))
        return self._recent[id(voice)][1]
