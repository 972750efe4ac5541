"""What every frame of the corpus says, for a decoder that is told (engine/codec/text_aware.py).

Invariant: a decoder learns with what a session tells it, which knows nothing of the frames of a
prompt, and which says the last phone in a pause, or silence at the end of a text.
"""

import random
from typing import Final

import numpy as np
import torch
from torch import Tensor

from engine.codec.mimi import NOTHING
from engine.training.codec.speech import first_shards
from engine.training.corpus.shards import Entry
from engine.training.encoded import read, shard_file
from engine.training.run import Run
from engine.training.voice.utterances import Encoded
from engine.tts.phones import SILENCE

UNTOLD: Final = 0.2  # share of windows that say nothing, and of those that do so at first
PAUSED: Final = 0.5  # share of utterances that end in a pause, not with the text


def read_said(run: Run) -> dict[Entry, Tensor]:
    """The phones of the frames [2, T], by utterance."""
    return {
        shard.entries[utterance.place]: said(utterance)
        for shard in first_shards(run, run.recipe.decoder.hours)
        for utterance in read(shard_file(run.stage("encode"), shard), Encoded)
    }


def said(utterance: Encoded) -> Tensor:
    """The ids of each frame's first and last phone [2, T]; behind the last it is silent."""
    spoken = utterance.phones[utterance.spans()].T
    phones = np.full((2, utterance.frames), SILENCE, np.int64)
    phones[:, : spoken.shape[1]] = spoken
    return torch.from_numpy(phones)


def told(phones: Tensor, draw: random.Random) -> Tensor:
    """What a decoder is told of frames that say `phones` [2, T]."""
    if draw.random() < UNTOLD:
        return torch.full_like(phones, NOTHING)
    known = phones.clone()
    if draw.random() < PAUSED:
        speech = int((phones[0] != SILENCE).sum())
        known[:, speech:] = phones[1, speech - 1]
    if draw.random() < UNTOLD:
        known[:, : draw.randrange(phones.shape[1])] = NOTHING
    return known
