"""The corpus in memory: utterances of training, validation and held-out speakers, cut into windows.

Invariant: its speaker and its text assign an utterance to one of the three sides for ever.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.errors import InvalidInput
from engine.training.corpus.shards import Entry, Shard, read_shards
from engine.training.corpus.speakers import cast
from engine.training.run import Run
from engine.training.teachers import sounds

SLOT: Final = 480  # samples, 20 ms: how finely phones are predicted from the first codebook
SOUND_NUMBERS: Final = {name: number for number, name in enumerate(sounds.SOUNDS)}


@dataclass(frozen=True)
class Spoken:
    """An utterance and its samples [S], int16 at 24 kHz."""

    entry: Entry
    pcm: npt.NDArray[np.int16]

    def samples(self, start: int, length: int) -> Tensor:
        """fp32 samples [length] from `start`, with silence after the end."""
        part = self.pcm[start : start + length].astype(np.float32) / 32768
        out = torch.zeros(length)
        out[: len(part)] = torch.from_numpy(part)
        return out

    def slots(self, start: int, length: int) -> Tensor:
        """The sound of every 20 ms [length / SLOT], int64."""
        starts = np.asarray(self.entry.starts)
        names = [(sounds.of_ipa(phone) or (sounds.PAUSE,))[0] for phone in self.entry.phones]
        numbers = np.asarray([SOUND_NUMBERS[name] for name in names])
        middles = start + SLOT * np.arange(length // SLOT) + SLOT // 2
        places = np.searchsorted(starts, middles, side="right") - 1
        slots = numbers[np.clip(places, 0, None)]
        slots[(places < 0) | (middles >= self.entry.end)] = SOUND_NUMBERS[sounds.PAUSE]
        return torch.from_numpy(slots)


@dataclass(frozen=True)
class Speech:
    """Utterances by side."""

    training: tuple[Spoken, ...]
    validation: tuple[Spoken, ...]
    held_out: tuple[Spoken, ...]  # speakers never trained on

    def window(
        self, side: tuple[Spoken, ...], draw: random.Random, length: int
    ) -> tuple[Spoken, int]:
        """An utterance and where a window of `length` samples begins in it."""
        utterance = draw.choice(side)
        room = max(0, len(utterance.pcm) - length)
        return utterance, draw.randrange(room // SLOT + 1) * SLOT


def read_speech(run: Run, hours: float) -> Speech:
    """At most `hours` of the corpus. InvalidInput when a side would be empty."""
    left_out = {person.number for person in cast(run.recipe) if person.held_out}
    sides: tuple[list[Spoken], list[Spoken], list[Spoken]] = ([], [], [])
    for shard in first_shards(run, hours):
        pcm = shard.pcm()
        for entry in shard.entries:
            utterance = Spoken(entry, pcm[entry.offset : entry.offset + entry.length])
            is_kept = entry.speaker in left_out
            sides[2 if is_kept else is_validation(run, entry.text)].append(utterance)
    training, validation, held_out = sides
    if not training:
        raise InvalidInput("The corpus holds no speech to train on.", hint="Make more of it.")
    return Speech(
        tuple(training), tuple(validation or training[:4]), tuple(held_out or training[:4])
    )


def first_shards(run: Run, hours: float) -> Iterator[Shard]:
    """The corpus's first shards, until they hold `hours`."""
    seconds = 0.0
    for shard in read_shards(run.stage("corpus")):
        if seconds > hours * 3600:
            return
        seconds += shard.seconds
        yield shard


def is_validation(run: Run, text: str) -> bool:
    """Whether a sentence is kept out of training, whoever says it."""
    draw = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**32
    return draw < run.recipe.corpus.validation_share
