"""Utterances for laws and other tests: said in pieces or all at once, and compared."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from engine.tts.base import AudioFrame, Finished, Onset, Pcm, TtsModel, TtsSession

# Ends without a full stop, because replies may.
TEXT = (
    "Of the many people who asked, one was right: it is late. "
    "We will meet the others at seven and walk along"
)
WORDS = tuple(TEXT.split())
# A sentence: enough where a law needs many utterances.
FEW = WORDS[: WORDS.index("late.") + 1]
STEPS_PER_WORD = 400  # far above what any word needs; reached only by a session that never ends


@dataclass(frozen=True)
class Utterance:
    frames: tuple[AudioFrame, ...]

    @property
    def pcm(self) -> Pcm:
        return np.concatenate([np.zeros(0, np.float32), *(frame.pcm for frame in self.frames)])

    @property
    def onsets(self) -> tuple[Onset, ...]:
        return tuple(onset for frame in self.frames for onset in frame.onsets)


def open_session(model: TtsModel, *, seed: int = 7, rate: float | None = None) -> TtsSession:
    session = model.open(model.voices()[0], seed=seed)
    session.rate = rate
    return session


def push(session: TtsSession, words: Iterable[str], *, ended: bool = True) -> None:
    for word in words:
        session.push_word(word)
    if ended:
        session.end_input()


def drain(session: TtsSession) -> list[AudioFrame]:
    frames = []
    for _ in range(STEPS_PER_WORD * len(WORDS)):
        step = session.step()
        if not isinstance(step, AudioFrame):
            return frames
        frames.append(step)
    raise AssertionError("the session gives frames for ever")


def speak(session: TtsSession, words: Iterable[str]) -> list[AudioFrame]:
    """Every frame of an utterance whose words are all there before the first step."""
    push(session, words)
    return drain(session)


def say(
    model: TtsModel,
    chunks: Iterable[Iterable[str]] = (WORDS,),
    *,
    seed: int = 7,
    rate: float | None = None,
) -> Utterance:
    """Push chunk after chunk of words and take all frames that can be had in between."""
    frames = []
    with open_session(model, seed=seed, rate=rate) as session:
        for chunk in chunks:
            push(session, chunk, ended=False)
            frames += drain(session)
        session.end_input()
        frames += drain(session)
        assert session.step() == Finished()
    return Utterance(tuple(frames))


def say_all_at_once(model: TtsModel, words: tuple[str, ...] = WORDS) -> Utterance:
    """Every word pushed and the input ended before the first step; said once by each model."""
    kept = _WHOLE.setdefault(model, {})
    if words not in kept:
        with open_session(model) as session:
            kept[words] = Utterance(tuple(speak(session, words)))
    return kept[words]


_WHOLE: WeakKeyDictionary[TtsModel, dict[tuple[str, ...], Utterance]] = WeakKeyDictionary()


def longest_silence(pcm: Pcm, sample_rate: int) -> float:
    """Seconds between two sounds; what is 35 dB below the loudest 10 ms is silent."""
    size = sample_rate // 100
    levels = np.sqrt(np.square(pcm[: len(pcm) // size * size].reshape(-1, size)).mean(1))
    sounding = np.flatnonzero(levels > 10 ** (-35 / 20) * levels.max(initial=0.0))
    return 0.01 * float(np.diff(sounding).max(initial=0))


def assert_same(one: Utterance, other: Utterance) -> None:
    assert np.array_equal(one.pcm, other.pcm)
    assert one.onsets == other.onsets


@dataclass
class Recorder:
    """In place of a vocoder or codec: keeps the columns it is given, and makes silence of them."""

    hop: int = 480  # samples of a column
    pieces: list[Tensor] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # pieces before each

    def open(self) -> "Recorder":
        return self

    def decode(self, columns: Tensor) -> Tensor:
        self.pieces.append(columns)
        return torch.zeros(self.hop * len(columns))

    def end(self) -> Tensor:
        self.ends.append(len(self.pieces))
        return torch.zeros(1)
