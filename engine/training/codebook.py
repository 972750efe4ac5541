"""The stage `codebook`: what a token of 40 ms says, where the corpus knows its phones.

A token is the phone that sounds in its middle, and the nearest of a few shapes: spectra of that
phone, less the speaker's mean of it. So it says what is spoken, and not by whom. SMLLE takes the
first level of SpeechTokenizer, taught by HuBERT; a quantiser that learnt to tell the phones left
1.7 nats of them open (ours).
Invariant: a token depends on its own 40 ms, its phone and who speaks.
"""

import warnings
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import load_file, save_file
from scipy.cluster.vq import kmeans2

from engine.codec.mel import BANDS, MelSpectrum
from engine.training.corpus.shards import Entry, read_shards
from engine.training.run import Progress, Run, cancellable, read_json
from engine.training.voice.encode import aligned_phones, write_phones
from engine.tts.phones import PhoneTable
from engine.tts.system.spectrum import STEP_SAMPLES

FILE: Final = "codebook.safetensors"
COLUMNS: Final = 2  # of the spectrum, a token
TOKEN_SAMPLES: Final = STEP_SAMPLES
CLOSING: Final = 5  # tokens of silence behind speech, 200 ms
ROUNDS: Final = 25
MOST: Final = 6000  # tokens of a phone from which its shapes are found
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Steps:
    """An utterance in steps of a token. `units` [U] are its phones between `begin` and `end`,
    `said_by` [T] the unit that sounds in each step, `mel` [2 T, bands] its columns.
    """

    units: Ints
    said_by: Ints
    mel: Floats
    marks: Ints  # pairs (units before it, its id) [M, 2]

    @property
    def phones(self) -> Ints:
        """The phone of each step."""
        return self.units[self.said_by]

    @property
    def rows(self) -> Floats:
        """[T, 2 bands]"""
        return self.mel.reshape(-1, COLUMNS * BANDS)


def count_of(ids: dict[str, int]) -> int:
    """Units of a table of phones: its own, then begin and end."""
    return max(ids.values()) + 3


def steps_of(entry: Entry, pcm: Floats, ids: dict[str, int], mel: MelSpectrum) -> Steps:
    """An utterance in steps, up to some silence behind its end."""
    phones = aligned_phones(entry, PhoneTable(ids))
    count = min(len(pcm), entry.end + CLOSING * TOKEN_SAMPLES) // TOKEN_SAMPLES
    begin = count_of(ids) - 2
    samples = torch.from_numpy(pcm[: count * TOKEN_SAMPLES])
    return Steps(
        np.concatenate(([begin], phones["ids"], [begin + 1])),
        said_by(phones["starts"], entry.end, count),
        mel(samples[None])[0].numpy(),
        phones["marks"],
    )


def said_by(starts: Ints, end: int, steps: int) -> Ints:
    """The unit of each step [steps]: 0 before the first phone's start, the last one from `end` on;
    starts and end in samples.
    """
    middles = TOKEN_SAMPLES * np.arange(steps) + TOKEN_SAMPLES // 2
    return np.searchsorted(np.append(starts, end), middles, side="right")


@dataclass(frozen=True)
class Codebook:
    """`means` [speakers, units, 2 bands] of each of `speakers`, `shapes` [units, K, 2 bands]."""

    speakers: Ints
    means: Floats
    shapes: Floats

    def tokens(self, speaker: int, steps: Steps) -> npt.NDArray[np.int16]:
        """Of an utterance [T]: K tokens a unit."""
        place, phones = int(np.searchsorted(self.speakers, speaker)), steps.phones
        rest = (steps.rows - self.means[place, phones])[:, None] - self.shapes[phones]
        nearest = np.square(rest).sum(-1).argmin(-1)
        tokens: npt.NDArray[np.int16] = (phones * self.shapes.shape[1] + nearest).astype(np.int16)
        return tokens


def make_codebook(run: Run) -> None:
    """Find the shapes and write codebook.safetensors, and the table of phones."""
    inputs = run.require("corpus")
    ids = read_json(write_phones(run, "codebook"))
    mel, shards = MelSpectrum(), list(read_shards(run.stage("corpus")))
    heard: dict[tuple[int, int], list[Floats]] = defaultdict(list)
    progress = Progress("codebook", len(shards))
    with cancellable() as check:
        for number, shard in enumerate(shards, 1):
            for entry, pcm in shard.spoken():
                steps = steps_of(entry, pcm, ids, mel)
                for phone in np.unique(steps.phones):
                    heard[entry.speaker, int(phone)].append(steps.rows[steps.phones == phone])
            check()
            progress.report(number, shard.index.stem)
    speakers = np.unique([speaker for speaker, _ in heard])
    means = np.zeros((len(speakers), count_of(ids), COLUMNS * BANDS), np.float32)
    shapes = np.zeros((count_of(ids), run.recipe.codebook.shapes, COLUMNS * BANDS), np.float32)
    dice = np.random.default_rng(run.recipe.seed)
    for phone in sorted({phone for _, phone in heard}):
        rests = []
        for place, speaker in enumerate(speakers):
            if rows := heard.get((int(speaker), phone)):
                together = np.concatenate(rows)
                means[place, phone] = together.mean(0)
                rests.append(together - means[place, phone])
        shapes[phone] = _shapes(np.concatenate(rests), shapes.shape[1], dice)
    file = run.stage("codebook") / FILE
    save_file({"speakers": speakers, "means": means, "shapes": shapes}, file)
    run.finish("codebook", inputs)


def _shapes(rows: Floats, count: int, dice: np.random.Generator) -> Floats:
    """The means of `count` clusters of rows, zeros where there are fewer rows."""
    found = np.zeros((count, rows.shape[1]), np.float32)
    some = rows if len(rows) <= MOST else dice.choice(rows, MOST, replace=False)
    with warnings.catch_warnings():  # a cluster may be empty: nothing is near it
        warnings.simplefilter("ignore", UserWarning)
        centres, _ = kmeans2(some, min(count, len(some)), ROUNDS, minit="++", rng=dice)
    found[: len(centres)] = centres
    return found


def load_codebook(file: Path) -> Codebook:
    """One that a run has made."""
    tensors = load_file(file)
    return Codebook(tensors["speakers"], tensors["means"], tensors["shapes"])
