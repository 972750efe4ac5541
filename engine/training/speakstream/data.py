"""The training data of SpeakStream. The stage `encode` turns each utterance into a spectrum, its
words with their first positions, and a speaker vector; it also measures the range of the levels and
the mean rate of the corpus. A lesson is an utterance in windows of m words, each followed by the
speech of its first n words.

Invariants: a word's speech lasts until the next word, so a pause belongs to the word before it, as
in VoXtream2, 4.1; a lesson is what a session feeds to its network, position by position.
"""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.codec.mel import BANDS, COLUMN, LEVELS, Levels, MelSpectrum
from engine.text.phonemes import Espeak
from engine.training.corpus.rooms import in_a_room
from engine.training.corpus.utterance import SAMPLE_RATE, Entry
from engine.training.networks import spoken_units
from engine.training.run import Run, read_json, write_json
from engine.training.utterances import (
    Pcm,
    ShardEncoder,
    Utterance,
    encode_shards,
    phoned_words,
    read,
    write_phones,
)
from engine.tts.speakstream.config import BEGIN, COLUMNS, END, LOST, SPEAKER, WORD
from engine.tts.speakstream.script import SpeakStreamScript, Window, windows

NOISY: Final = 0.5  # share of the vectors of noisy recordings, as in VoXtream2's runs
ENDS: Final = (0.005, 0.9995)  # quantiles of the values, where the lowest and the highest level lie
SCALE_FILE: Final = "scale.json"
_POSITION: Final = COLUMN * COLUMNS  # samples
NOTHING = -1  # in `ids`: the position is speech; elsewhere: nothing is learnt from it
Words = tuple[npt.NDArray[np.int16], ...]


@dataclass(frozen=True)
class WordsUtterance(Utterance):
    """An utterance with its words. `mel` [T, BANDS] is the spectrum, `words` has the ids of each
    spoken word, `starts` [words + 1] the positions at which the words begin and the last one ends,
    `said` [positions] the index of the spoken id within its word, from the first word on.
    """

    mel: npt.NDArray[np.float16]
    words: Words
    starts: npt.NDArray[np.int32]
    said: npt.NDArray[np.int16]
    rate: float = 0.0  # SPS

    @property
    def positions(self) -> int:
        return int(self.starts[-1] - self.starts[0])


@dataclass(frozen=True)
class Scale:
    """Measures of a corpus: the lowest and highest level of its spectra, and its mean rate (`pace`,
    SPS).
    """

    lowest: float
    highest: float
    pace: float

    @property
    def levels(self) -> Levels:
        return Levels(self.lowest, self.highest)


def encode_corpus(run: Run) -> dict[str, float]:
    """Encode all shards that are not encoded yet, and measure the scale."""
    folder = run.stage("encode")
    files = (write_phones(run), run.weights("speaker"))
    encode_shards(run, _Encoder, files, run.recipe.seed)
    scale = _scale(sorted(folder.glob("[0-9]*.safetensors")))
    write_json(folder / SCALE_FILE, asdict(scale))
    return asdict(scale)


def read_scale(run: Run) -> Scale:
    """Read the scale that encode_corpus() measured."""
    return Scale(**read_json(run.stage("encode") / SCALE_FILE))


class _Encoder(ShardEncoder):
    """Encode utterances as spectra and words."""

    def __init__(self, table: Path, speaker: Path, seed: int) -> None:
        super().__init__(table, speaker, seed)
        self._spectrum, self._espeak = MelSpectrum(), Espeak()

    def utterance(
        self, place: int, entry: Entry, pcm: Pcm, draw: random.Random
    ) -> WordsUtterance | None:
        recorded = in_a_room(pcm, SAMPLE_RATE, draw) if draw.random() < NOISY else pcm
        mel = self._spectrum(torch.from_numpy(pcm)[None])[0].numpy()
        if (aligned := self._words(entry, len(mel) // COLUMNS)) is None:
            return None
        vector = self.vector(recorded)
        return WordsUtterance(entry.speaker, vector, mel.astype(np.float16), *aligned, entry.rate)

    def _words(
        self, entry: Entry, positions: int
    ) -> tuple[Words, npt.NDArray[np.int32], npt.NDArray[np.int16]] | None:
        """Return the ids of each spoken word, the positions at which words begin and the last one
        ends, and the index of the spoken id at each position. None if the text and the spoken
        phones do not agree.
        """
        script, phoned = SpeakStreamScript(self.table), phoned_words(entry, self._espeak)
        first_phones = np.cumsum([0, *(len(word.phones) for word in phoned)])
        for word in phoned:
            script.add(word)
        if not script.words:
            return None
        begins = [round(start / _POSITION) for start in entry.starts]
        spoken = [begins[slice(*first_phones[word.last :][:2])] for word in script.words]
        starts = np.asarray([*(phones[0] for phones in spoken), positions])
        if (np.diff(starts) < 1).any():
            return None
        words = zip(script.words, spoken, starts[1:].tolist(), strict=True)
        said = [
            n for word, phones, end in words for n in spoken_units(0, len(word.ids), phones, end)
        ]
        ids = tuple(np.asarray(word.ids, np.int16) for word in script.words)
        return ids, starts.astype(np.int32), np.asarray(said, np.int16)


def _scale(files: Sequence[Path]) -> Scale:
    """Measure the scale on some hundred columns of every shard."""
    columns, rates = [], []
    for file in files:
        utterances = read(file, WordsUtterance)
        if utterances:
            mel = np.concatenate([each.mel for each in utterances])
            columns.append(mel[:: max(1, len(mel) // 500)].astype(np.float32))
            rates += [each.rate for each in utterances]
    lowest, highest = np.quantile(np.concatenate(columns), ENDS)
    return Scale(float(lowest), float(highest), float(np.mean(rates, dtype=np.float32)))


# ----------------------------------------------------------------------- lessons


@dataclass(frozen=True)
class SpeakStreamLesson:
    """A training sequence of L positions, blocks of text and of speech in turn. `ids`: text,
    NOTHING at speech. `inputs` and `targets`: indices in `mel`, the spectrum fed in and the one to
    predict. `end`: 1 if the target is the last position of its unit. `unit`: the id that the target
    speaks, `later`: the id after it. NOTHING where there is none.
    """

    ids: npt.NDArray[np.int64]
    inputs: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    unit: npt.NDArray[np.int64]
    later: npt.NDArray[np.int64]
    mel: npt.NDArray[np.float16]  # [positions, COLUMNS, BANDS]
    vector: npt.NDArray[np.float32]


@dataclass(frozen=True)
class SpeakStreamBatch:
    """A batch of lessons, padded at the end with text that has no loss."""

    ids: Tensor  # [B, L]
    inputs: Tensor  # [B, L, COLUMNS, BANDS] levels
    targets: Tensor  # [B, L, COLUMNS, BANDS] levels, NOTHING where none is to be predicted
    end: Tensor  # [B, L] 0 or 1, NOTHING where it is not to be predicted
    unit: Tensor  # [B, L] ids, NOTHING where no speech follows
    later: Tensor  # [B, L] ids
    speakers: Tensor  # [B, S]

    @property
    def is_speech(self) -> Tensor:
        """True at the positions of speech, [B, L]."""
        return self.ids == NOTHING


def make_lesson(utterance: WordsUtterance, size: int, hop: int) -> SpeakStreamLesson:
    """Return the lesson of an utterance in windows of `size` words that advance by `hop` words,
    without the silence before the first word.
    """
    first, last = int(utterance.starts[0]), int(utterance.starts[-1])
    mel = utterance.mel[first * COLUMNS : last * COLUMNS].reshape(-1, COLUMNS, BANDS)
    words, starts = utterance.words, [int(start) - first for start in utterance.starts]
    ids: list[int] = []
    inputs: list[int] = []
    targets: list[int] = []
    end: list[int] = []
    unit: list[int] = []
    later: list[int] = []
    for part in windows(len(words), size, hop):
        text = [number for word in words[part.first : part.read_end] for number in (*word, WORD)]
        block = [END if ids else SPEAKER, *text, BEGIN]
        speech = range(starts[part.first], starts[part.spoken_end])
        quiet = [NOTHING] * (len(block) - 1)
        units = _units(utterance, part, starts)
        said = [place for place, (_, length) in enumerate(units) for _ in range(length)]
        said = said[: len(speech)]
        after = [*(number for number, _ in units[1:]), END]
        ids += [*block, *[NOTHING] * len(speech)]
        inputs += [*quiet, NOTHING, *speech]
        targets += [*quiet, *speech, NOTHING]
        end += [*quiet, *(int(now != then) for now, then in pairwise((*said, len(units)))), NOTHING]
        unit += [*quiet, *(units[place][0] for place in said), NOTHING]
        later += [*quiet, *(after[place] for place in said), NOTHING]
    rows = {
        "ids": ids, "inputs": inputs, "targets": targets, "end": end, "unit": unit, "later": later,
    }  # fmt: skip
    arrays = {name: np.asarray(row) for name, row in rows.items()}
    return SpeakStreamLesson(**arrays, mel=mel, vector=utterance.vector)


def _units(utterance: WordsUtterance, part: Window, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Return the ids that a window's words speak, in order, each with its number of positions."""
    said = utterance.said.tolist()
    return [
        (utterance.words[number][place], sum(1 for _ in same))
        for number in range(part.first, part.read_end)
        for place, same in groupby(said[starts[number] : starts[number + 1]])
    ]


def collated(
    lessons: Sequence[SpeakStreamLesson], levels: Levels, device: torch.device | None = None
) -> SpeakStreamBatch:
    """Collate lessons into a batch on a device (None = the CPU). Nothing is corrupted yet."""
    mel = torch.from_numpy(np.concatenate([each.mel for each in lessons])).to(device)
    ends = [mel.new_full((1, COLUMNS, BANDS), end, dtype=torch.long) for end in (LOST, NOTHING)]
    table = torch.cat((levels.quantised(mel.float()), *ends))  # [all positions + 2, COLUMNS, BANDS]
    firsts = np.cumsum([0, *(len(each.mel) for each in lessons)])

    def row(name: str, padding: int) -> Tensor:
        rows = [torch.from_numpy(getattr(each, name)) for each in lessons]
        return nn.utils.rnn.pad_sequence(rows, True, padding).to(device)

    def heard(name: str, nowhere: int) -> Tensor:
        """Return the levels at the indices in the field `name`; row `nowhere` of the table for
        those below 0.
        """
        rows = (getattr(each, name) for each in lessons)
        placed = [np.where(r < 0, nowhere, r + n) for r, n in zip(rows, firsts, strict=False)]
        together = nn.utils.rnn.pad_sequence(list(map(torch.from_numpy, placed)), True, nowhere)
        return table[together.to(device)]

    vectors = torch.from_numpy(np.stack([each.vector for each in lessons])).to(device)
    lost, nothing = len(mel), len(mel) + 1
    return SpeakStreamBatch(
        row("ids", END),
        heard("inputs", lost),
        heard("targets", nothing),
        row("end", NOTHING),
        row("unit", NOTHING),
        row("later", NOTHING),
        vectors,
    )


def corrupted(batch: SpeakStreamBatch, *, wrong: float, lost: float) -> SpeakStreamBatch:
    """Corrupt a batch's inputs, because in use they are the network's own output: move the levels
    of the share `wrong` of positions a little, and drop the share `lost`, two or three in a row
    (RichTTS).
    """
    shape = batch.ids.shape
    off = torch.randint(-2, 3, batch.inputs.shape, device=batch.inputs.device)
    moved = (batch.inputs + off).clamp(0, LEVELS - 1)
    is_wrong = (torch.rand(shape, device=off.device) < wrong)[..., None, None]
    inputs = torch.where(is_wrong & (batch.inputs < LOST), moved, batch.inputs)
    begins = torch.rand(shape, device=off.device) < lost / 2.5
    long = begins & (torch.rand(shape, device=off.device) < 0.5)
    span = begins | begins.roll(1, 1) | long.roll(2, 1)
    inputs = inputs.masked_fill(span[..., None, None], LOST)
    return replace(batch, inputs=inputs)
