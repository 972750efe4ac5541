"""Lets a voice speak test sentences as in a conversation, and records what is measured.

Invariant: every utterance is spoken word by word through an ordinary session, with a seed that
training never used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.training.evaluation.hearing import speech_seconds
from engine.tts import delays
from engine.tts.base import Pcm, TtsModel, Voice
from engine.tts.delays import (
    OWN_RATE as OWN_RATE,  # SPS, about the rate of a voice without a target
)
from engine.tts.delays import SEED, Made, longest_s, speak


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
    return delays.syllables_of(text.split())


def say(
    model: TtsModel,
    voice: Voice,
    text: str,
    rates: Sequence[float | None] = (None,),
) -> Spoken:
    """Speak a text; several rates apply to equal parts of its words (the last one to the end). An
    utterance that becomes too long is cut off and counts as lost.
    """
    words, sample_rate = text.split(), model.info.sample_rate
    slowest = min(rate or OWN_RATE for rate in rates)
    limit = sample_rate * longest_s(words, slowest)
    made: list[Made] = []
    onsets: list[float] = []
    samples, ended = 0, True
    switched: float | None = None
    with model.open(voice, seed=SEED) as session:
        session.rate = rates[0]
        for each in speak(session, words):
            made.append(each)
            samples += len(each.frame.pcm)
            onsets += [onset.sample / sample_rate for onset in each.frame.onsets]
            if samples >= limit:
                ended = False
                break
            part = min(len(rates) - 1, len(onsets) * len(rates) // max(1, len(words)))
            session.rate = rates[part]
            if part and switched is None:
                switched = samples / sample_rate
    return Spoken(
        text,
        np.concatenate([np.zeros(0 if made else 1, np.float32), *(m.frame.pcm for m in made)]),
        sample_rate,
        ended,
        tuple(onsets),
        1000 * made[0].cpu_s if made else 0.0,
        sum(each.cpu_s for each in made),
        switched,
    )
