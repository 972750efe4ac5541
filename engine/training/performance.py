"""Lets a pack, or a source synthesiser, speak test sentences and keeps what was measured.

Invariant: every utterance is spoken word by word through an ordinary session, with a seed that no
training used.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.text import syllables
from engine.training import synthesisers
from engine.training.hearing import speech_seconds
from engine.tts.base import AudioFrame, Finished, Pcm, TtsModel, Voice

SEED: Final = 90_001
FRAMES_PER_SYLLABLE: Final = 25  # a session that needs more has lost its way
SLACK_FRAMES: Final = 60


@dataclass(frozen=True)
class Spoken:
    """An utterance that was spoken. `ended` = by itself; onsets in seconds, one a word."""

    text: str
    pcm: Pcm
    sample_rate: int
    ended: bool
    onsets: tuple[float, ...]
    first_ms: float  # processor time from the first word to the first frame
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """Known syllables over speech time, SPS."""
        seconds = speech_seconds(self.pcm, self.sample_rate)
        return syllables_of(self.text) / seconds if seconds else 0.0


def syllables_of(text: str) -> int:
    """Syllables of a text."""
    return sum(syllables.count(word) for word in text.split())


def say(
    model: TtsModel, voice: Voice, text: str, rates: Sequence[float | None] = (None,)
) -> Spoken:
    """Speak a text; several rates divide its words into equal parts (the last lasts to the end)."""
    started, first = time.process_time(), 0.0
    words = text.split()
    pieces: list[Pcm] = []
    onsets: list[float] = []
    ended = False
    limit = FRAMES_PER_SYLLABLE * syllables_of(text) + SLACK_FRAMES
    with model.open(voice, seed=SEED) as session:
        for word in words:
            session.push_word(word)
        session.end_input()
        for _ in range(limit):
            part = min(len(rates) - 1, len(onsets) * len(rates) // max(1, len(words)))
            session.rate = rates[part]
            step = session.step()
            if isinstance(step, AudioFrame):
                first = first or time.process_time() - started
                pieces.append(step.pcm)
                onsets += [onset.sample / model.info.sample_rate for onset in step.onsets]
            elif isinstance(step, Finished):
                ended = True
                break
    pcm = np.concatenate(pieces) if pieces else np.zeros(1, np.float32)
    spent = time.process_time() - started
    return Spoken(text, pcm, model.info.sample_rate, ended, tuple(onsets), 1000 * first, spent)


def say_by_synthesiser(
    synthesiser: str, voice: str, pitch_hz: float, texts: Sequence[str]
) -> list[Spoken]:
    """The same texts by a source of the corpus; what it cannot speak is left out."""
    asked = [synthesisers.Request(text, voice, 1.0, pitch_hz) for text in texts]
    takes = synthesisers.speak_all(synthesiser, asked)
    return [
        Spoken(text, take.pcm, take.sample_rate, True, (), 0.0, 0.0)
        for text, take in zip(texts, takes, strict=True)
        if take is not None
    ]
