"""Tokens of SMLLE and LLMVoX, and SMLLE's stage `encode`: each utterance as tokens, spectrum, text
units, and the unit that each token belongs to.

A token stands for 40 ms. It names the phone in their middle, and the nearest of a few shapes:
cluster centres of that phone's spectra, less the speaker's mean spectrum of the phone. So a token
contains the sound without the speaker. (SMLLE takes the first level of SpeechTokenizer, distilled
from HuBERT. A quantiser of ours that learnt to distinguish phones left 1.7 nats of them open.)
Invariants: a token depends only on its own 40 ms, its phone and its speaker. Units and tokens are
those that a session of `engine.tts.smlle` would use.
"""

import warnings
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import load_file, save_file
from scipy.cluster.vq import kmeans2

from engine.codec.mel import BANDS, MelSpectrum
from engine.training.corpus.shards import floats, read_shards
from engine.training.corpus.utterance import Entry
from engine.training.run import Run, read_json
from engine.training.utterances import (
    ShardEncoder,
    Utterance,
    aligned_phones,
    encode_shards,
    write_phones,
)
from engine.tts.papers.spectrum import STEP_SAMPLES
from engine.tts.phones import MARKS as MARK_IDS
from engine.tts.phones import PhoneTable
from engine.tts.smlle.transducer import MARKS

COLUMNS: Final = 2  # of the spectrum, a token
TOKEN_SAMPLES: Final = STEP_SAMPLES
STEPS_PER_SECOND: Final = 25
CLOSING: Final = 5  # tokens of silence behind speech, 200 ms
ROUNDS: Final = 25
MOST: Final = 6000  # tokens of a phone from which its shapes are found
_MARK_OF: Final = {number: MARKS[mark] for mark, number in MARK_IDS.items()}
Ints = npt.NDArray[np.int64]
Ids = dict[str, int]  # of phones
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TokenUtterance(Utterance):
    """An utterance as tokens. `spoken_by` counts begin (0) and end; `phones` has neither."""

    tokens: npt.NDArray[np.int16]  # [T]
    mel: npt.NDArray[np.float16]  # [2 T, bands]
    spoken_by: npt.NDArray[np.int16]  # [T]
    phones: npt.NDArray[np.int16]  # [P]
    marks: npt.NDArray[np.int8]  # [P]

    @property
    def steps(self) -> int:
        return len(self.spoken_by)

    @property
    def rows(self) -> Floats:
        """The spectrum with one row for each step, [T, 2 * bands]."""
        return self.mel.astype(np.float32).reshape(-1, COLUMNS * BANDS)

    def all_phones(self, begin: int, end: int) -> Ints:
        """Return the phones of all units, with `begin` before and `end` after them."""
        return np.concatenate(([begin], self.phones, [end])).astype(np.int64)

    def aligned(self, begin: int, end: int) -> Ints:
        """Return the phone of each token, [T] (X' in the paper)."""
        return self.all_phones(begin, end)[self.spoken_by]


def count_of(ids: dict[str, int]) -> int:
    """Return the number of different units: the phones of a table, begin and end."""
    return max(ids.values()) + 3


def without_tokens(entry: Entry, pcm: Floats, ids: Ids, mel: MelSpectrum) -> TokenUtterance:
    """Split an utterance into steps, with a little silence behind; without tokens and vector."""
    phones = aligned_phones(entry, PhoneTable(ids))
    count = min(len(pcm), entry.end + CLOSING * TOKEN_SAMPLES) // TOKEN_SAMPLES
    marks = np.zeros(len(phones["phones"]), np.int8)
    for before, number in phones["marks"][phones["marks"][:, 0] > 0]:
        marks[before - 1] = _MARK_OF[int(number)]
    return TokenUtterance(
        entry.speaker,
        np.zeros(0, np.float32),
        np.zeros(0, np.int16),
        mel(torch.from_numpy(pcm[None, : count * TOKEN_SAMPLES]))[0].numpy().astype(np.float16),
        said_by(phones["starts"], entry.end, count).astype(np.int16),
        phones["phones"],
        marks,
    )


def said_by(starts: Ints, end: int, steps: int) -> Ints:
    """Return the unit that sounds in each step, 0 (begin) at first, the last one from `end` on."""
    middles = TOKEN_SAMPLES * np.arange(steps) + TOKEN_SAMPLES // 2
    return np.searchsorted(np.append(starts, end), middles, side="right")


@dataclass(frozen=True)
class Codebook:
    """The quantiser of spectra. `means` [speakers, units, 2 * bands] are the mean spectra of each
    phone by each of `speakers`, `shapes` [units, K, 2 * bands] the cluster centres of what remains.
    """

    speakers: Ints
    means: Floats
    shapes: Floats

    def tokens(self, utterance: TokenUtterance) -> npt.NDArray[np.int16]:
        """Return the tokens of an utterance [T]. Each phone has as many tokens as it has shapes."""
        count = len(self.shapes)
        phones = utterance.aligned(count - 2, count - 1)
        place = int(np.searchsorted(self.speakers, utterance.speaker))
        rest = (utterance.rows - self.means[place, phones])[:, None] - self.shapes[phones]
        nearest = np.square(rest).sum(-1).argmin(-1)
        return np.asarray(phones * self.shapes.shape[1] + nearest, np.int16)


def make_codebook(run: Run) -> tuple[Path, Path, Path]:
    """Cluster the corpus's spectra. Return the files of phones, speaker encoder and codebook."""
    table = write_phones(run)
    ids, mel = read_json(table), MelSpectrum()
    examples: dict[tuple[int, int], list[Floats]] = defaultdict(list)
    for shard in read_shards(run.stage("corpus")):
        for entry, pcm in shard.spoken():
            plain = without_tokens(entry, floats(pcm), ids, mel)
            phones, steps = plain.aligned(count_of(ids) - 2, count_of(ids) - 1), plain.rows
            for phone in np.unique(phones):
                examples[entry.speaker, int(phone)].append(steps[phones == phone])
    speakers = np.unique([speaker for speaker, _ in examples])
    means = np.zeros((len(speakers), count_of(ids), COLUMNS * BANDS), np.float32)
    shapes = np.zeros((count_of(ids), run.recipe.shapes, COLUMNS * BANDS), np.float32)
    dice = np.random.default_rng(run.recipe.seed)
    for phone in sorted({phone for _, phone in examples}):
        rests = []
        for place, speaker in enumerate(speakers):
            if rows := examples.get((int(speaker), phone)):
                together = np.concatenate(rows)
                means[place, phone] = together.mean(0)
                rests.append(together - means[place, phone])
        shapes[phone] = _cluster(np.concatenate(rests), shapes.shape[1], dice)
    file = run.stage("encode") / "codebook.safetensors"
    save_file({"speakers": speakers, "means": means, "shapes": shapes}, file)
    return table, run.weights("speaker"), file


def _cluster(rows: Floats, count: int, dice: np.random.Generator) -> Floats:
    """Return the centres of `count` clusters of rows (k-means), zeros where rows are fewer."""
    found = np.zeros((count, rows.shape[1]), np.float32)
    some = rows if len(rows) <= MOST else dice.choice(rows, MOST, replace=False)
    with warnings.catch_warnings():  # a cluster may be empty: nothing is near it
        warnings.simplefilter("ignore", UserWarning)
        centres, _ = kmeans2(some, min(count, len(some)), ROUNDS, minit="++", rng=dice)
    found[: len(centres)] = centres
    return found


def encode_corpus(run: Run) -> None:
    """Make the codebook, and encode all shards that are not encoded yet."""
    encode_shards(run, TokenEncoder, make_codebook(run))


class TokenEncoder(ShardEncoder):
    """Encode utterances as tokens and spectra."""

    def __init__(self, table: Path, speaker: Path, codebook: Path) -> None:
        super().__init__(table, speaker)
        tensors = load_file(codebook)
        self._codebook = Codebook(tensors["speakers"], tensors["means"], tensors["shapes"])
        self._mel = MelSpectrum()

    def utterance(self, place: int, entry: Entry, pcm: Floats) -> TokenUtterance | None:
        plain = without_tokens(entry, pcm, self.ids, self._mel)
        return replace(plain, vector=self.vector(pcm), tokens=self._codebook.tokens(plain))
