"""A synthesiser that is easy to predict, for tests of everything around one.

Every syllable (a group of vowels) of a word is a tone that depends on the session's seed. A word is
spoken only when the next word, or the end of the text, is known.
"""

import re
from collections import deque
from collections.abc import Callable
from typing import Self

import numpy as np

from engine.audio.base import Pcm
from engine.audio.finishing import faded_out
from engine.errors import InvalidInput, ModelError
from engine.tts.base import AudioFrame, Finished, Onset, RateRange, Starved, Step, TtsInfo, Voice
from engine.tts.rate import SyllableMeter, paced

SAMPLE_RATE = 8_000
FRAME = 640  # 80 ms
OWN_RATE = 4.0
RANGE = RateRange(1.0, 8.0)


class FakeSession:
    def __init__(self, seed: int, spoken: Callable[[str], None], silence: int = 0) -> None:
        self.rate: float | None = None
        self._pitch = 200 + 37 * (seed % 10)
        self._spoken = spoken
        self._waiting: deque[str] = deque()
        self._paces: deque[float] = deque()  # of those
        self._words = 0
        self._ended = False
        self._closed = False
        self._pcm = np.zeros(silence, np.float32)
        self._onsets: list[Onset] = []
        self._meter = SyllableMeter(SAMPLE_RATE)
        self._sample = 0

    def push_word(self, text: str, pace: float = 1.0) -> None:
        if self._ended or self._closed or not text or re.search(r"\s", text):
            raise InvalidInput(f"Not one word of an open utterance: {text!r}.")
        self._waiting.append(text)
        self._paces.append(pace)

    def end_input(self) -> None:
        self._ended = True

    def step(self) -> Step:
        if self._closed:
            return Finished()
        while len(self._pcm) - self._sample < FRAME and self._can_speak():
            self._speak(self._waiting.popleft())
        if self._sample < len(self._pcm):
            return self._frame()
        return Finished() if self._ended and not self._waiting else Starved()

    def _can_speak(self) -> bool:
        return len(self._waiting) > 1 or (self._ended and bool(self._waiting))

    def _speak(self, text: str) -> None:
        rate = OWN_RATE if self.rate is None else min(max(self.rate, RANGE.lowest), RANGE.highest)
        rate = paced(rate, self._paces.popleft())
        self._onsets.append(Onset(self._words, len(self._pcm)))
        self._words += 1
        self._spoken(text)
        for _ in re.findall("[aeiouy]+", text.lower()) or [""]:
            length = round(SAMPLE_RATE / rate)
            tone = np.sin(2 * np.pi * self._pitch / SAMPLE_RATE * np.arange(length)) / 4
            self._pcm = np.concatenate([self._pcm, tone.astype(np.float32)])
            self._meter.add(len(self._pcm))
        if not self._waiting:  # the last word, which waits for the end of the input
            self._pcm = faded_out(self._pcm, SAMPLE_RATE)

    def _frame(self) -> AudioFrame:
        start, end = self._sample, min(self._sample + FRAME, len(self._pcm))
        self._sample = end
        onsets = tuple(onset for onset in self._onsets if start <= onset.sample < end)
        return AudioFrame(self._pcm[start:end], start, onsets, *self._meter.rates(end))

    def rewind(self, sample: int) -> int | None:
        """It cannot."""
        return None

    def close(self) -> None:
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class FakeTts:
    """`spoken` collects every word in the order of speaking, over all sessions. `on_word` is called
    within the step that speaks a word, to advance a clock or to fail. `silence`: samples before the
    first word.
    """

    def __init__(self, on_word: Callable[[str], None] = lambda text: None) -> None:
        self.spoken: list[str] = []
        self.closed = False
        self.on_word = on_word
        self.silence = 0

    @property
    def info(self) -> TtsInfo:
        return TtsInfo("fake", SAMPLE_RATE, RANGE)

    def voices(self) -> tuple[Voice, ...]:
        return (Voice("Tone", "fake"),)

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        raise ModelError("A tone cannot clone.")

    def warm(self, voice: Voice) -> None:
        """Nothing to make ready."""

    def open(self, voice: Voice, *, seed: int) -> FakeSession:
        return FakeSession(seed, self._speak, self.silence)

    def _speak(self, text: str) -> None:
        self.spoken.append(text)
        self.on_word(text)

    def close(self) -> None:
        self.closed = True


class LostSession(FakeSession):
    """A session that never speaks a word and never ends."""

    def step(self) -> Step:
        return AudioFrame(np.zeros(1920, np.float32), 0)


class LostTts(FakeTts):
    def open(self, voice: Voice, *, seed: int) -> FakeSession:
        return LostSession(seed, self._speak)
