"""The training data of SpeakStream. The stage `encode` turns each utterance into a spectrum, its
words with their first positions, and a speaker vector; it also measures the range of the levels and
the mean rate of the corpus. A lesson is an utterance in windows of m words, each followed by the
speech of its first n words.

Invariants: a word's speech lasts until the next word, so a pause belongs to the word before it, as
in VoXtream2, 4.1; a lesson is what a session feeds to its network, position by position.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.codec.mel import BANDS, COLUMN, LEVELS, Levels, MelSpectrum
from engine.text.phonemes import Espeak
from engine.training.corpus.utterance import Entry
from engine.training.networks import spoken_units
from engine.training.run import Run
from engine.training.utterances import (
    Pcm,
    ShardEncoder,
    Utterance,
    encode_shards,
    phoned_words,
    read,
    write_phones,
)
from engine.tts.speakstream.model import BEGIN, COLUMNS, END, LOST, SPEAKER, WORD
from engine.tts.speakstream.script import SpeakStreamScript, windows

ENDS: Final = (0.005, 0.9995)  # quantiles of the values, where the lowest and the highest level lie
_POSITION: Final = COLUMN * COLUMNS  # samples
NOTHING = -1  # in `ids`: the position is speech; elsewhere: nothing is learnt from it


@dataclass(frozen=True)
class WordsUtterance(Utterance):
    """An utterance with its words. `mel` [T, BANDS] is the spectrum, `ids` are those of all words,
    each of which has as many as `lengths` [words] says, `starts` [words + 1] the positions at which
    the words begin and the last one ends, `said` [positions] the index of the spoken id within its
    word, from the first word on.
    """

    mel: npt.NDArray[np.float16]
    ids: npt.NDArray[np.int16]
    lengths: npt.NDArray[np.int16]
    starts: npt.NDArray[np.int32]
    said: npt.NDArray[np.int16]
    rate: float = 0.0  # SPS

    @property
    def steps(self) -> int:
        return int(self.starts[-1] - self.starts[0])

    @property
    def words(self) -> list[npt.NDArray[np.int16]]:
        """The ids of each spoken word."""
        return np.split(self.ids, np.cumsum(self.lengths)[:-1])


def encode_corpus(run: Run) -> dict[str, float]:
    """Encode all shards that are not encoded yet. Return the lowest and the highest level of the
    spectra, on some hundred columns of every shard, and the mean rate (SPS).
    """
    encode_shards(run, _Encoder, (write_phones(run), run.weights("speaker")))
    columns, rates = [], []
    for file in sorted(run.stage("encode").glob("[0-9]*.safetensors")):
        if utterances := read(file, WordsUtterance):
            mel = np.concatenate([each.mel for each in utterances])
            columns.append(mel[:: max(1, len(mel) // 500)].astype(np.float32))
            rates += [each.rate for each in utterances]
    lowest, highest = np.quantile(np.concatenate(columns), ENDS)
    pace = float(np.mean(rates, dtype=np.float32))
    return {"lowest": float(lowest), "highest": float(highest), "pace": pace}


def levels_of(run: Run) -> Levels:
    """Return the levels of the encoded corpus."""
    facts = run.facts("encode")
    return Levels(facts["lowest"], facts["highest"])


class _Encoder(ShardEncoder):
    """Encode utterances as spectra and words."""

    def __init__(self, table: Path, speaker: Path) -> None:
        super().__init__(table, speaker)
        self._spectrum, self._espeak = MelSpectrum(), Espeak()

    def utterance(self, place: int, entry: Entry, pcm: Pcm) -> WordsUtterance | None:
        mel = self._spectrum(torch.from_numpy(pcm)[None])[0].numpy().astype(np.float16)
        script, phoned = SpeakStreamScript(self.table), phoned_words(entry, self._espeak)
        first_phones = np.cumsum([0, *(len(word.phones) for word in phoned)])
        for word in phoned:
            script.add(word)
        begins = [round(start / _POSITION) for start in entry.starts]
        spoken = [begins[slice(*first_phones[word.last :][:2])] for word in script.words]
        starts = [*(phones[0] for phones in spoken), len(mel) // COLUMNS]
        if not spoken or (np.diff(starts) < 1).any():
            return None
        said = [
            unit
            for word, phones, end in zip(script.words, spoken, starts[1:], strict=True)
            for unit in spoken_units(0, len(word.ids), phones, end)
        ]
        return WordsUtterance(
            entry.speaker,
            self.vector(pcm),
            mel,
            np.asarray([unit for word in script.words for unit in word.ids], np.int16),
            np.asarray([len(word.ids) for word in script.words], np.int16),
            np.asarray(starts, np.int32),
            np.asarray(said, np.int16),
            entry.rate,
        )


@dataclass(frozen=True)
class SpeakStreamBatch:
    """A batch of B lessons of L positions each, blocks of text and of speech in turn, padded at the
    end with text that has no loss. A single lesson has no first dimension.
    """

    ids: Tensor  # [B, L] text, NOTHING at speech
    inputs: Tensor  # [B, L, COLUMNS, BANDS] levels, LOST at text
    targets: Tensor  # [B, L, COLUMNS, BANDS] levels, NOTHING where none is to be predicted
    end: Tensor  # [B, L] 1 if the target is the last position of its unit, NOTHING without a target
    unit: Tensor  # [B, L] the id that the target speaks, NOTHING without a target
    later: Tensor  # [B, L] the id after it
    speakers: Tensor  # [B, S]

    @property
    def is_speech(self) -> Tensor:
        """True at the positions of speech, [B, L]."""
        return self.ids == NOTHING


def make_lesson(utterance: WordsUtterance, levels: Levels, size: int, hop: int) -> SpeakStreamBatch:
    """Return an utterance, without the silence before it, in windows of `size` words."""
    first, last = int(utterance.starts[0]), int(utterance.starts[-1])
    mel = torch.from_numpy(utterance.mel[first * COLUMNS : last * COLUMNS]).float()
    level = levels.quantised(mel).view(-1, COLUMNS, BANDS)
    words, starts = utterance.words, [int(start) - first for start in utterance.starts]
    rows: dict[str, list[int]] = {
        name: [] for name in ("ids", "inputs", "targets", "end", "unit", "later")
    }  # inputs and targets are positions at first
    for part in windows(len(words), size, hop):
        text = [number for word in words[part.first : part.read_end] for number in (*word, WORD)]
        block = [END if rows["ids"] else SPEAKER, *text, BEGIN]
        speech = range(starts[part.first], starts[part.spoken_end])
        quiet = [NOTHING] * (len(block) - 1)
        units = [  # the ids that the words speak, each with its number of positions
            (int(words[number][place]), sum(1 for _ in same))
            for number in range(part.first, part.read_end)
            for place, same in groupby(utterance.said[starts[number] : starts[number + 1]].tolist())
        ]
        said = [place for place, (_, length) in enumerate(units) for _ in range(length)]
        said = said[: len(speech)]
        after = [*(number for number, _ in units[1:]), END]
        ends = (int(now != then) for now, then in pairwise((*said, len(units))))
        rows["ids"] += [*block, *[NOTHING] * len(speech)]
        rows["inputs"] += [*quiet, NOTHING, *speech]
        rows["targets"] += [*quiet, *speech, NOTHING]
        rows["end"] += [*quiet, *ends, NOTHING]
        rows["unit"] += [*quiet, *(units[place][0] for place in said), NOTHING]
        rows["later"] += [*quiet, *(after[place] for place in said), NOTHING]
    arrays = {name: torch.tensor(row) for name, row in rows.items()}
    for name, elsewhere in (("inputs", LOST), ("targets", NOTHING)):
        table = torch.cat((level, level.new_full((1, COLUMNS, BANDS), elsewhere)))
        arrays[name] = table[arrays[name]]  # NOTHING is the last row
    return SpeakStreamBatch(**arrays, speakers=torch.from_numpy(utterance.vector))


def collated(lessons: Sequence[SpeakStreamBatch]) -> SpeakStreamBatch:
    """Collate lessons into a batch. Nothing is corrupted yet."""
    padding = {"ids": END, "inputs": LOST}
    rows = {
        name: nn.utils.rnn.pad_sequence(
            [getattr(each, name) for each in lessons], True, padding.get(name, NOTHING)
        )
        for name in ("ids", "inputs", "targets", "end", "unit", "later")
    }
    return SpeakStreamBatch(**rows, speakers=torch.stack([each.speakers for each in lessons]))


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
