"""The sounds and words of a recording whose text is known, found by pocketsphinx."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import soxr

from engine.asr.sphinx.searches import decode_whole
from engine.training.teachers import sounds
from engine.training.teachers.synthesisers import Sound, Take

ALIGNER_RATE: Final = 16_000
FRAME_SAMPLES: Final = 160  # of the aligner


@dataclass(frozen=True)
class _Word:
    """A word or filler; times in the aligner's frames, phones as (name, start, duration)."""

    name: str
    start: int
    phones: tuple[tuple[str, int, int], ...]


class Aligner:
    """Finds the sounds of known words in a recording."""

    def __init__(self) -> None:
        from pocketsphinx import Decoder  # loads its acoustic model

        self._decoder: Any = Decoder(samprate=ALIGNER_RATE, loglevel="FATAL", lm=None)

    def align(
        self, pcm: np.ndarray[Any, np.dtype[np.float32]], rate: int, text: str
    ) -> Take | None:
        """A take with its sounds; None when the words are not in it or not in the dictionary."""
        words = self._aligned(pcm, rate, text)
        return _take(pcm, rate, [phone for word in words for phone in word.phones])

    def word_starts(
        self, pcm: np.ndarray[Any, np.dtype[np.float32]], rate: int, text: str
    ) -> list[float]:
        """Seconds at which each word begins; empty when the words are not in the sound."""
        starts = [
            word.start * FRAME_SAMPLES / ALIGNER_RATE
            for word in self._aligned(pcm, rate, text)
            if word.name[0].isalpha()
        ]
        return starts if len(starts) == len(text.split()) else []

    def _aligned(
        self, pcm: np.ndarray[Any, np.dtype[np.float32]], rate: int, text: str
    ) -> list["_Word"]:
        """pocketsphinx's words with their phones, fillers among them."""
        decoder = self._decoder
        words = [word.strip(".,!?").lower() for word in text.split()]
        if any(decoder.lookup_word(word) is None for word in words):
            return []
        samples = soxr.resample(pcm, rate, ALIGNER_RATE)
        try:
            decoder.set_align_text(" ".join(words))
            decode_whole(decoder, samples)
            decoder.set_alignment()
            decode_whole(decoder, samples)
            # Copied at once: the entries point into memory that the iterator moves through.
            return [
                _Word(
                    word.name,
                    word.start,
                    tuple((phone.name, phone.start, phone.duration) for phone in word),
                )
                for word in decoder.get_alignment()
            ]
        except (RuntimeError, TypeError):  # pocketsphinx's only sign of a misfit
            return []


def _take(
    pcm: np.ndarray[Any, np.dtype[np.float32]], rate: int, phones: list[tuple[str, int, int]]
) -> Take | None:
    scale = FRAME_SAMPLES * rate / ALIGNER_RATE
    listed: list[Sound] = []
    for name, start, duration in phones:
        spelling = sounds.ARPABET.get(name.lower(), (sounds.PAUSE,))
        edges = np.linspace(start * scale, (start + duration) * scale, len(spelling) + 1)
        for sound, first, last in zip(spelling, edges[:-1], edges[1:], strict=True):
            listed.append(Sound(sound, round(first), round(last)))
    return Take(pcm.astype(np.float32), rate, tuple(listed)) if listed else None
