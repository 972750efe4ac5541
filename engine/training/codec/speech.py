"""The corpus in memory, for networks that make sound or recognise speakers: training, validation
and held-out utterances, with the sound (phone) and the pitch at each time.

Invariants: an utterance is always on the same of these three sides. There is a pitch at each time;
in unvoiced parts it is interpolated and has a small weight in the loss.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES, SAMPLE_RATE
from engine.codec.small_parts import HOP
from engine.codec.source import HIGHEST_HZ, LOWEST_HZ, MIDDLE_HZ
from engine.training.corpus.shards import Shard, read_shards
from engine.training.corpus.speakers import group_by_speaker, split, virtual_speakers
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

    def samples(self, start: int, length: int) -> Tensor:
        """Return fp32 samples [length] from sample `start` on, with zeros after the utterance's
        end.
        """
        part = self.pcm[start : start + length].astype(np.float32) / 32768
        out = torch.zeros(length)
        out[: len(part)] = torch.from_numpy(part)
        return out

    def slots(self, start: int, length: int) -> Tensor:
        """Return the number (see SOUND_NUMBERS) of the sound in each 20 ms slot from sample `start`
        on, [length / SLOT], int64.
        """
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
    """Utterances on three sides: for training, for validation, and held out."""

    training: tuple[CorpusUtterance, ...]
    validation: tuple[CorpusUtterance, ...]
    held_out: tuple[CorpusUtterance, ...]  # speakers never trained on

    def window(
        self, side: tuple[CorpusUtterance, ...], draw: random.Random, length: int
    ) -> tuple[CorpusUtterance, int]:
        """Draw an utterance from a side and a window of `length` samples in it. Return the
        utterance and the window's first sample.
        """
        utterance = draw.choice(side)
        room = max(0, len(utterance.pcm) - length)
        return utterance, draw.randrange(room // SLOT + 1) * SLOT


def read_speech(run: Run, hours: float) -> Speech:
    """Read the first `hours` of the corpus. If it has no held-out speakers, four training
    utterances take their place. InvalidInput if there is no speech to train on.
    """
    utterances: list[CorpusUtterance] = []
    for shard in first_shards(run, hours):
        pcm = shard.pcm()
        for entry in shard.entries:
            part = pcm[entry.offset : entry.offset + entry.length]
            utterances.append(CorpusUtterance(entry, part))
    people = group_by_speaker(utterances)
    training, validation = (
        tuple(chain.from_iterable(side.values())) for side in split(run.recipe, people)
    )
    left_out = {person.number for person in virtual_speakers(run.recipe) if person.held_out}
    held_out = tuple(each for each in utterances if each.speaker in left_out)
    return Speech(training, validation, held_out or training[:4])


def first_shards(run: Run, hours: float) -> Iterator[Shard]:
    """Yield the corpus's first shards, until they hold `hours` of speech."""
    seconds = 0.0
    for shard in read_shards(run.stage("corpus")):
        if seconds > hours * 3600:
            return
        seconds += shard.seconds
        yield shard


@dataclass(frozen=True)
class PitchTrack:
    """The logarithm of the pitch in Hz, and its weight in the loss (1 = voiced), both [..., T], one
    value every 10 ms.
    """

    log_hz: Tensor
    weight: Tensor

    def window(self, first: int, frames: int) -> "PitchTrack":
        """Return the target pitch of `frames` codec frames from frame `first` on, [frames *
        COLUMNS].
        """
        begin = first * COLUMNS + AHEAD
        end = begin + frames * COLUMNS
        missing = max(0, end - len(self.log_hz))
        log_hz = functional.pad(self.log_hz[None, None], (0, missing), mode="replicate")[0, 0]
        return PitchTrack(log_hz[begin:end], functional.pad(self.weight, (0, missing))[begin:end])

    def to(self, device: torch.device) -> "PitchTrack":
        return PitchTrack(self.log_hz.to(device), self.weight.to(device))


def pitch_track(utterance: CorpusUtterance) -> PitchTrack:
    """Measure the pitch of an utterance by autocorrelation (Boersma, 1993), one value
    every 10 ms.
    """
    import parselmouth  # training only

    sound = parselmouth.Sound(utterance.pcm.astype(np.float64) / 32768, SAMPLE_RATE)
    pitch = sound.to_pitch_ac(
        time_step=HOP / SAMPLE_RATE, pitch_floor=LOWEST_HZ, pitch_ceiling=HIGHEST_HZ
    )
    count = -(-len(utterance.pcm) // HOP)
    middles = (np.arange(count) + 0.5) * HOP / SAMPLE_RATE
    places = np.clip(np.searchsorted(pitch.xs(), middles), 0, len(pitch.xs()) - 1)
    hz = pitch.selected_array["frequency"][places]
    voiced = hz > 0
    if not voiced.any():
        return PitchTrack(
            torch.full((count,), float(np.log(MIDDLE_HZ))), torch.full((count,), UNVOICED_WEIGHT)
        )
    moments = np.arange(count)
    log_hz = np.interp(moments, moments[voiced], np.log(hz[voiced]))
    weight = np.where(voiced, 1.0, UNVOICED_WEIGHT)
    return PitchTrack(torch.from_numpy(log_hz).float(), torch.from_numpy(weight).float())


def stack_tracks(tracks: Sequence[PitchTrack], frames: int) -> PitchTrack:
    """Stack the first `frames` codec frames of several tracks into one track [B, T]."""
    columns = frames * COLUMNS
    return PitchTrack(
        torch.stack([track.log_hz[:columns] for track in tracks]),
        torch.stack([track.weight[:columns] for track in tracks]),
    )
