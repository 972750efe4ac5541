"""A person's own recordings with transcripts as a part of the corpus, aligned by pocketsphinx.

A folder holds audio files, each with a text file of the same name beside it; every subfolder is
one speaker, and so is the folder itself.
Invariant: a recording whose words do not fit its sound is left out and reported, never guessed at.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import soxr

from engine.asr.sphinx.searches import decode_whole
from engine.audio.clips.clip import read_clip
from engine.errors import InvalidInput
from engine.text.phonemes import Espeak
from engine.training.corpus.shards import FIRST_RECORDED, index_file, write_shard
from engine.training.corpus.speakers import Base, Speaker
from engine.training.corpus.utterance import LONGEST_SECONDS, Plan, Utterance, finish
from engine.training.run import Run
from engine.training.teachers import sounds
from engine.training.teachers.synthesisers import Sound, Take

_LOG = logging.getLogger(__name__)

ALIGNER_RATE: Final = 16_000
FRAME_SAMPLES: Final = 160  # of the aligner
AUDIO: Final = (".wav", ".flac", ".ogg", ".opus", ".mp3", ".m4a")
_NOBODY: Final = Base("recording", "", 0.0, 4.0, 0.0, 0.0, heeds=True)


def add(run: Run) -> None:
    """Write one shard for every speaker of the recipe's recordings, if it names a folder."""
    if not run.recipe.corpus.recordings:
        return
    folder = Path(run.recipe.corpus.recordings)
    if not folder.is_dir():
        raise InvalidInput("The folder of recordings {folder} is not there.", folder=folder)
    aligner, espeak = Aligner(), Espeak()
    people = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    for place, person in enumerate(people):
        number = run.recipe.corpus.speakers + place
        if index_file(run.stage("corpus"), FIRST_RECORDED + place).is_file():
            continue
        utterances = list(_utterances(person, number, aligner, espeak))
        if utterances:
            write_shard(run.stage("corpus"), FIRST_RECORDED + place, utterances)


def _utterances(
    folder: Path, number: int, aligner: "Aligner", espeak: Espeak
) -> Iterator[Utterance]:
    speaker = Speaker(number, _NOBODY, 1.0, 0.0, 0.0, held_out=False)
    for file in sorted(folder.iterdir()):
        transcript = file.with_suffix(".txt")
        if file.suffix.lower() not in AUDIO or not transcript.is_file():
            continue
        clip = read_clip(file, max_seconds=LONGEST_SECONDS)
        text = " ".join(transcript.read_text(encoding="utf-8").split())
        take = aligner.align(clip.pcm, clip.sample_rate, text)
        utterance = None
        if take is not None:
            utterance = finish(Plan(text, text, speaker, ()), (take,), espeak)
        if utterance is None:
            _LOG.warning("recording left out, words and sound do not fit file=%s", file)
            continue
        yield utterance


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
