"""The stage `tokens`: every utterance as tokens, spectrum, units, and the unit each token belongs
to; both networks learn from these.

Invariant: units and tokens are those that a session of `engine.tts.smlle` would use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch

from engine.codec.mel import MelSpectrum
from engine.codec.semantic import TOKEN_SAMPLES, load_semantic
from engine.training import encoded
from engine.training.corpus.shards import Entry, Shard
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.run import Run, read_json
from engine.training.voice.encode import aligned_phones, speaker_vector, write_phones
from engine.tts.phones import MARKS as MARK_IDS
from engine.tts.phones import PhoneTable
from engine.tts.smlle.config import MARKS
from engine.tts.speaker.small import load_small_speaker

CLOSING: Final = 5  # tokens of silence behind speech, 200 ms
Ints = npt.NDArray[np.int64]
_MARK_OF: Final = {number: MARKS[mark] for mark, number in MARK_IDS.items()}


@dataclass(frozen=True)
class Encoded:
    """One utterance. Phones and marks are units without begin and end; `spoken_by` [T] counts units
    with them: 0 is the begin, 1 the first phone.
    """

    speaker: int
    tokens: npt.NDArray[np.int16]  # [T]
    mel: npt.NDArray[np.float16]  # [2 T, bands]
    spoken_by: npt.NDArray[np.int16]  # [T]
    phones: npt.NDArray[np.int16]  # [U]
    marks: npt.NDArray[np.int8]  # [U]
    vector: npt.NDArray[np.float32]
    syllables: int = 0

    @property
    def steps(self) -> int:
        return len(self.tokens)

    def units(self, begin: int, end: int) -> Ints:
        """Phones of all units."""
        return np.concatenate(([begin], self.phones, [end])).astype(np.int64)

    def aligned(self, begin: int, end: int) -> Ints:
        """X': the phone that says each token, [T]."""
        return self.units(begin, end)[self.spoken_by]


Side = dict[int, tuple[Encoded, ...]]  # utterances by speaker
Sides = encoded.Sides[Encoded]


def encode_tokens(run: Run) -> None:
    """Encode all shards that are not encoded yet, and the table of phones."""
    inputs = run.require("corpus", "semantic", "speaker")
    semantic, speaker = (
        run.stage(name) / f"{name}.safetensors" for name in ("semantic", "speaker")
    )
    files = (semantic, speaker, write_phones(run, "tokens"))
    encoded.encode_shards(run, "tokens", _Encoder, files)
    run.finish("tokens", inputs)


class _Encoder:
    """Encodes shards with one tokeniser, one speaker encoder and one table."""

    def __init__(self, semantic: str, speaker: str, table: str) -> None:
        self._semantic = load_semantic(Path(semantic))
        self._speaker = load_small_speaker(Path(speaker))
        self._table = PhoneTable(read_json(Path(table)))
        self._mel = MelSpectrum()

    def encoded(self, shard: Shard) -> list[Encoded]:
        return [self._utterance(entry, pcm) for entry, pcm in shard.spoken()]

    @torch.no_grad()
    def _utterance(self, entry: Entry, pcm: npt.NDArray[np.float32]) -> Encoded:
        phones = aligned_phones(entry, self._table)
        steps = min(len(pcm), entry.end + CLOSING * TOKEN_SAMPLES) // TOKEN_SAMPLES
        samples = torch.from_numpy(pcm[: steps * TOKEN_SAMPLES])
        marks = np.zeros(len(phones["ids"]), np.int8)
        for before, number in phones["marks"]:
            if before:
                marks[before - 1] = _MARK_OF[int(number)]
        return Encoded(
            entry.speaker,
            self._semantic.encode(samples).numpy().astype(np.int16),
            self._mel(samples[None])[0].numpy().astype(np.float16),
            said_by(phones["starts"], entry.end, steps).astype(np.int16),
            phones["ids"].astype(np.int16),
            marks,
            speaker_vector(self._speaker, pcm),
            entry.syllables,
        )


def said_by(starts: Ints, end: int, steps: int) -> Ints:
    """The unit of each token [steps]: 0 before the first phone's start, the last one from `end` on;
    starts and end in samples.
    """
    middles = TOKEN_SAMPLES * np.arange(steps) + TOKEN_SAMPLES // 2
    return np.searchsorted(np.append(starts, end), middles, side="right")


def read_tokens(run: Run) -> Sides:
    """All encoded utterances of a run. InvalidInput when there are none to train on."""
    return encoded.read_sides(run, "tokens", Encoded)


def own_rate(utterances: Sequence[Encoded]) -> float:
    """Syllables per second from the first phone to the last: near the rate at which a transducer
    trained on them speaks.
    """
    tokens = sum(
        int(((each.spoken_by > 0) & (each.spoken_by <= len(each.phones))).sum())
        for each in utterances
    )
    return (
        sum(each.syllables for each in utterances) * SAMPLE_RATE / (max(1, tokens) * TOKEN_SAMPLES)
    )
