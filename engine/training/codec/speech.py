"""The corpus in memory, for networks that make sound or recognise speakers: utterances with the
sound (phone) and the pitch at each time.

Invariants: an utterance is always on the same side. There is a pitch at each time; in unvoiced
parts it is interpolated and has a small weight in the loss.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES, SAMPLE_RATE
from engine.codec.small_parts import HOP
from engine.codec.source import HIGHEST_HZ, LOWEST_HZ, MIDDLE_HZ
from engine.training.corpus.shards import Shard, floats, read_shards
from engine.training.corpus.speakers import Sides, split
from engine.training.corpus.utterance import Entry
from engine.training.run import Run
from engine.training.teachers import sounds

SLOT: Final = 480  # samples, 20 ms: how finely phones are predicted from the first codebook
SOUND_NUMBERS: Final = {name: number for number, name in enumerate(sounds.SOUNDS)}
COLUMNS: Final = FRAME_SAMPLES // HOP  # of a codec frame
AHEAD: Final = 1  # columns by which the decoder sets the pitch early
UNVOICED_WEIGHT: Final = 0.1


@dataclass(frozen=True)
class CorpusUtterance:
    """An utterance and its samples [S], int16 at 24 kHz."""

    entry: Entry
    pcm: npt.NDArray[np.int16]

    @property
    def speaker(self) -> int:
        return self.entry.speaker

    @property
    def seconds(self) -> float:
        return len(self.pcm) / SAMPLE_RATE

    @property
    def rate(self) -> float:
        return self.entry.rate  # SPS

    @cached_property
    def pitch(self) -> Tensor:
        """The pitch (Boersma, 1993), every 10 ms [2, T]: log of Hz, and its weight in the loss."""
        import parselmouth  # training only

        sound = parselmouth.Sound(floats(self.pcm).astype(np.float64), SAMPLE_RATE)
        pitch = sound.to_pitch_ac(
            time_step=HOP / SAMPLE_RATE, pitch_floor=LOWEST_HZ, pitch_ceiling=HIGHEST_HZ
        )
        moments = np.arange(-(-len(self.pcm) // HOP))
        places = np.searchsorted(pitch.xs(), (moments + 0.5) * HOP / SAMPLE_RATE)
        hz = pitch.selected_array["frequency"][np.clip(places, 0, len(pitch.xs()) - 1)]
        voiced = hz > 0
        log_hz = np.full(len(hz), np.log(MIDDLE_HZ))
        if voiced.any():
            log_hz = np.interp(moments, moments[voiced], np.log(hz[voiced]))
        weight = np.where(voiced, 1.0, UNVOICED_WEIGHT)
        return torch.from_numpy(np.stack((log_hz, weight))).float()

    def samples(self, start: int, length: int) -> Tensor:
        """Return fp32 samples [length] from `start` on, with zeros outside of the utterance."""
        part = torch.from_numpy(floats(self.pcm[max(0, start) : start + length]))
        lead = max(0, -start)
        return functional.pad(part, (lead, length - lead - len(part)))

    def pitch_of(self, first: int, frames: int) -> Tensor:
        """Return the pitch of codec frames [2, frames * COLUMNS]; no weight after the utterance."""
        begin, end = first * COLUMNS + AHEAD, (first + frames) * COLUMNS + AHEAD
        missing = max(0, end - self.pitch.shape[1])
        log_hz = functional.pad(self.pitch[:1], (0, missing), mode="replicate")
        weight = functional.pad(self.pitch[1:], (0, missing))
        return torch.cat((log_hz, weight))[:, begin:end]

    def slots(self, start: int, length: int) -> Tensor:
        """Return the number of the sound in each slot from `start` on, [length / SLOT]."""
        starts = np.asarray(self.entry.starts)
        names = [(sounds.of_ipa(phone) or (sounds.PAUSE,))[0] for phone in self.entry.phones]
        numbers = np.asarray([SOUND_NUMBERS[name] for name in names])
        middles = start + SLOT * np.arange(length // SLOT) + SLOT // 2
        places = np.searchsorted(starts, middles, side="right") - 1
        slots = numbers[np.clip(places, 0, None)]
        slots[(places < 0) | (middles >= self.entry.end)] = SOUND_NUMBERS[sounds.PAUSE]
        return torch.from_numpy(slots)

    def draw_start(self, draw: random.Random, length: int, step: int) -> int:
        """Draw the first sample, a multiple of `step`, of a window of `length` samples."""
        return draw.randrange(max(0, len(self.pcm) - length) // step + 1) * step


Utterances = Sequence[CorpusUtterance]
Speech = Sides[CorpusUtterance]


def draw_windows(
    side: Utterances, draw: random.Random, count: int, length: int, step: int
) -> list[tuple[CorpusUtterance, int]]:
    """Draw windows of `length` samples: utterances, and where each window begins."""
    return [(each, each.draw_start(draw, length, step)) for each in draw.choices(side, k=count)]


def read_speech(run: Run, hours: float) -> Speech:
    """Read the first `hours` of the corpus. InvalidInput if it contains none."""
    spoken = (each for shard in first_shards(run, hours) for each in shard.spoken())
    return split(run.recipe, (CorpusUtterance(*each) for each in spoken))


def first_shards(run: Run, hours: float) -> Iterator[Shard]:
    """Yield the corpus's first shards, until they hold `hours` of speech."""
    seconds = 0.0
    for shard in read_shards(run.stage("corpus")):
        if seconds > hours * 3600:
            return
        seconds += shard.seconds
        yield shard
