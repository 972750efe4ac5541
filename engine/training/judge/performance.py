"""Lets a voice speak test sentences as in a conversation, and records what is measured.

Invariant: every utterance is spoken word by word through an ordinary session, with a seed that
training never used.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.text import syllables
from engine.training.judge.hearing import speech_seconds
from engine.tts.base import AudioFrame, Finished, Pcm, Starved, TtsModel, TtsSession, Voice

SEED: Final = 90_001
OWN_RATE: Final = 4.0  # SPS, about the rate of a voice without a target
LONGEST: Final = 4.0  # times the expected length; a longer session counts as lost
SLACK_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Spoken:
    """An utterance that was spoken.

    `ended` = it ended by itself; onsets in seconds, one for each word; `switched` = seconds at
    which the second of several rates was requested.
    """

    text: str
    pcm: Pcm
    sample_rate: int
    ended: bool = True
    onsets: tuple[float, ...] = ()
    first_ms: float = 0.0  # processor time from the first word to the first frame
    cpu_seconds: float = 0.0
    switched: float | None = None

    @property
    def rate(self) -> float:
        """Known syllables over speech time, SPS."""
        seconds = speech_seconds(self.pcm, self.sample_rate)
        return syllables_of(self.text) / seconds if seconds else 0.0


def syllables_of(text: str) -> int:
    """Syllables of a text."""
    return sum(syllables.count(word) for word in text.split())


def say(
    model: TtsModel,
    voice: Voice,
    text: str,
    rates: Sequence[float | None] = (None,),
) -> Spoken:
    """Speak a text; several rates apply to equal parts of its words (the last one to the end)."""
    taking = _Taking(text, rates, model.info.sample_rate)
    with model.open(voice, seed=SEED) as session:
        taking.run(session)
    pcm = np.concatenate(taking.pieces) if taking.pieces else np.zeros(1, np.float32)
    return Spoken(
        text,
        pcm,
        model.info.sample_rate,
        taking.ended,
        tuple(taking.onsets),
        taking.first_ms,
        time.process_time() - taking.started,
        taking.switched,
    )


class _Taking:
    """A session stepped to its end, or to the length at which it counts as lost."""

    def __init__(self, text: str, rates: Sequence[float | None], sample_rate: int) -> None:
        self.started = time.process_time()
        self.pieces: list[Pcm] = []
        self.onsets: list[float] = []
        self.ended = False
        self.first_ms = 0.0
        self.switched: float | None = None
        self._words = text.split()
        self._rates = rates
        self._sample_rate = sample_rate
        slowest = min(rate or OWN_RATE for rate in rates)
        self._limit = sample_rate * (LONGEST * syllables_of(text) / slowest + SLACK_SECONDS)
        self._samples = 0

    def run(self, session: TtsSession) -> None:
        words = iter(self._words)
        while self._samples < self._limit and not self.ended:
            self._set_rate(session)
            step = session.step()
            if isinstance(step, AudioFrame):
                self._keep(step)
            elif isinstance(step, Finished):
                self.ended = True
            elif isinstance(step, Starved):
                word = next(words, None)
                if word is None:
                    session.end_input()
                else:
                    session.push_word(word)

    def _set_rate(self, session: TtsSession) -> None:
        part = len(self.onsets) * len(self._rates) // max(1, len(self._words))
        part = min(len(self._rates) - 1, part)
        session.rate = self._rates[part]
        if part and self.switched is None:
            self.switched = self._samples / self._sample_rate

    def _keep(self, frame: AudioFrame) -> None:
        if not self.pieces:
            self.first_ms = 1000 * (time.process_time() - self.started)
        self.pieces.append(frame.pcm)
        self._samples += len(frame.pcm)
        self.onsets += [onset.sample / self._sample_rate for onset in frame.onsets]
