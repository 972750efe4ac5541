"""Lessons of SpeakStream: the sequences that a session would make, of known speech.

A lesson is an utterance as windows of m words, each followed by the speech of its first n.
Invariant: a lesson is what a session would have fed its network, position by position.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.codec.mel import BANDS, LEVELS, Levels
from engine.training.speakstream.encode import Encoded
from engine.tts.speakstream.config import BEGIN, COLUMNS, END, LOST, SPEAKER, WORD
from engine.tts.speakstream.script import windows

NOTHING = -1  # in `ids`: the position is speech; elsewhere: nothing is learnt from it


@dataclass(frozen=True)
class Lesson:
    """`ids` [L] of text, NOTHING where a position is speech; `inputs` [L] the position of the
    spectrum that is heard, `targets` [L] the one to predict, `end` [L] whether the segment ends,
    `guide` [L] the place of the phone that the target is of.
    """

    ids: npt.NDArray[np.int64]
    inputs: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    guide: npt.NDArray[np.int64]
    mel: npt.NDArray[np.float16]  # [positions, COLUMNS, BANDS]
    vector: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Batch:
    """Lessons side by side, padded at the end with text nobody learns from."""

    ids: Tensor  # [B, L]
    inputs: Tensor  # [B, L, COLUMNS, BANDS] levels
    targets: Tensor  # [B, L, COLUMNS, BANDS] levels, NOTHING where none is to be predicted
    end: Tensor  # [B, L] 0 or 1, NOTHING where it is not to be predicted
    guide: Tensor  # [B, L] places, NOTHING where none is to be looked at
    speakers: Tensor  # [B, S]

    @property
    def is_speech(self) -> Tensor:
        """[B, L]"""
        return self.ids == NOTHING


def lesson(utterance: Encoded, size: int, hop: int) -> Lesson:
    """An utterance in windows of `size` words, without the silence before it."""
    first, last = int(utterance.starts[0]), int(utterance.starts[-1])
    mel = utterance.mel[first * COLUMNS : last * COLUMNS].reshape(-1, COLUMNS, BANDS)
    words, starts = utterance.words, [int(start) - first for start in utterance.starts]
    said = utterance.said.tolist()
    ids: list[int] = []
    inputs: list[int] = []
    targets: list[int] = []
    end: list[int] = []
    guide: list[int] = []
    for part in windows(len(words), size, hop):
        text = [number for word in words[part.first : part.read_end] for number in (*word, WORD)]
        block = [END if ids else SPEAKER, *text, BEGIN]
        speech = range(starts[part.first], starts[part.spoken_end])
        quiet = [NOTHING] * (len(block) - 1)
        place = len(ids) + 1
        guide += quiet
        for number in range(part.first, part.spoken_end):
            guide += [place + at for at in said[starts[number] : starts[number + 1]]]
            place += len(words[number]) + 1  # and the mark behind it
        guide.append(NOTHING)
        ids += [*block, *[NOTHING] * len(speech)]
        inputs += [*quiet, NOTHING, *speech]
        targets += [*quiet, *speech, NOTHING]
        end += [*quiet, NOTHING, *[0] * (len(speech) - 1), 1]
    rows = {"ids": ids, "inputs": inputs, "targets": targets, "end": end, "guide": guide}
    arrays = {name: np.asarray(row) for name, row in rows.items()}
    return Lesson(**arrays, mel=mel, vector=utterance.vector)


def collated(
    lessons: Sequence[Lesson], levels: Levels, device: torch.device | None = None
) -> Batch:
    """Lessons side by side on a device (None = the CPU), nothing corrupted yet."""
    mel = torch.from_numpy(np.concatenate([each.mel for each in lessons])).to(device)
    ends = [mel.new_full((1, COLUMNS, BANDS), end, dtype=torch.long) for end in (LOST, NOTHING)]
    table = torch.cat((levels.quantised(mel.float()), *ends))  # [all positions + 2, COLUMNS, BANDS]
    firsts = np.cumsum([0, *(len(each.mel) for each in lessons)])

    def row(name: str, padding: int) -> Tensor:
        rows = [torch.from_numpy(getattr(each, name)) for each in lessons]
        return nn.utils.rnn.pad_sequence(rows, True, padding).to(device)

    def heard(name: str, nowhere: int) -> Tensor:
        """The levels at the places of `name`; those below 0 are row `nowhere` of the table."""
        rows = (getattr(each, name) for each in lessons)
        placed = [np.where(r < 0, nowhere, r + n) for r, n in zip(rows, firsts, strict=False)]
        together = nn.utils.rnn.pad_sequence(list(map(torch.from_numpy, placed)), True, nowhere)
        return table[together.to(device)]

    vectors = torch.from_numpy(np.stack([each.vector for each in lessons])).to(device)
    lost, nothing = len(mel), len(mel) + 1
    return Batch(
        row("ids", END),
        heard("inputs", lost),
        heard("targets", nothing),
        row("end", NOTHING),
        row("guide", NOTHING),
        vectors,
    )


def corrupted(batch: Batch, *, wrong: float, lost: float) -> Batch:
    """Some input positions a little wrong, some missing, two or three together, as RichTTS does: in
    use the inputs are the network's own.
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
