"""Speech of a voice as in a conversation, and measures of its samples.

Invariant: every utterance is spoken word by word through an ordinary session, with a seed that
training never used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.languages import ENGLISH
from engine.tts import delays
from engine.tts.base import Pcm, TtsModel, Voice
from engine.tts.delays import OWN_RATE, SEED, TimedFrame, longest_s, speak

HOP_SECONDS: Final = 0.01
QUIET_DB: Final = 35.0  # dB below the loudest part; quieter is not speech
PAUSE_SECONDS: Final = 0.2


@dataclass(frozen=True)
class Spoken:
    """A spoken utterance. `ended` = it ended by itself; onsets in seconds, one for each word."""

    text: str
    pcm: Pcm
    sample_rate: int
    ended: bool = True
    onsets: tuple[float, ...] = ()
    cpu_seconds: float = 0.0
    language: str = ENGLISH

    @property
    def rate(self) -> float:
        """Known syllables over speech time, SPS."""
        seconds = speech_seconds(self.pcm, self.sample_rate)
        return syllables_of(self.text, self.language) / seconds if seconds else 0.0


def syllables_of(text: str, language: str = ENGLISH) -> int:
    """Return the number of syllables in a text."""
    return delays.syllables_of(text.split(), language)


def say(model: TtsModel, voice: Voice, text: str, rate: float | None = None) -> Spoken:
    """Speak a text. An utterance that becomes too long is cut off and has not `ended`."""
    words, sample_rate = text.split(), model.info.sample_rate
    limit = sample_rate * longest_s(words, rate or OWN_RATE, voice.language)
    made: list[TimedFrame] = []
    onsets: list[float] = []
    samples, ended = 0, True
    with model.open(voice, seed=SEED) as session:
        session.rate = rate
        for each in speak(session, words):
            made.append(each)
            samples += len(each.frame.pcm)
            onsets += [onset.sample / sample_rate for onset in each.frame.onsets]
            if samples >= limit:
                ended = False
                break
    return Spoken(
        text,
        np.concatenate([np.zeros(0 if made else 1, np.float32), *(m.frame.pcm for m in made)]),
        sample_rate,
        ended,
        tuple(onsets),
        sum(each.cpu_s for each in made),
        voice.language,
    )


def spoken_rate(model: TtsModel, texts: Sequence[str], rate: float | None = None) -> float:
    """Speak all texts, the model's voices in turn; return their common rate in SPS."""
    voices = model.voices()
    said = [say(model, voices[n % len(voices)], text, rate) for n, text in enumerate(texts)]
    seconds = sum(speech_seconds(each.pcm, each.sample_rate) for each in said)
    return sum(map(syllables_of, texts)) / max(seconds, 0.1)


def speech_seconds(pcm: Pcm, sample_rate: int) -> float:
    """Seconds from the first sound to the last."""
    loud = np.flatnonzero(_levels(pcm, sample_rate) > -QUIET_DB)
    return float(loud[-1] - loud[0] + 1) * HOP_SECONDS if len(loud) else 0.0


def at_pauses(pcm: Pcm, sample_rate: int, longest_s: float) -> list[Pcm]:
    """Cut samples into pieces of at most `longest_s` seconds, each time at the quietest place in
    the second half of the longest possible piece.
    """
    pieces, longest = [], int(longest_s * sample_rate)
    while len(pcm) > longest:
        part = pcm[longest // 2 : longest]
        width = round(PAUSE_SECONDS / HOP_SECONDS)
        power = np.convolve(10 ** (_levels(part, sample_rate) / 10), np.ones(width), "valid")
        middle = (int(power.argmin()) + width / 2) * HOP_SECONDS
        cut = longest // 2 + int(middle * sample_rate)
        pieces.append(pcm[:cut])
        pcm = pcm[cut:]
    return [*pieces, pcm]


def _levels(pcm: Pcm, sample_rate: int) -> npt.NDArray[np.float64]:
    """Return the level of each 10 ms in dB relative to the loudest, so 0 or less."""
    hop = int(sample_rate * HOP_SECONDS)
    count = max(1, len(pcm) // hop)
    pieces = np.resize(pcm[: count * hop], (count, hop)) if len(pcm) < hop else pcm[: count * hop]
    power = np.mean(np.square(pieces.reshape(count, hop).astype(np.float64)), axis=1)
    decibels: npt.NDArray[np.float64] = 10 * np.log10(power + 1e-12)
    relative: npt.NDArray[np.float64] = decibels - decibels.max()
    return relative
