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

from engine.codec.mel import MelSpectrum
from engine.training import encoded
from engine.training.codebook import FILE, TOKEN_SAMPLES, Ints, load_codebook, steps_of
from engine.training.corpus.shards import Entry, Shard
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.run import Run, read_json
from engine.training.voice.encode import speaker_vector
from engine.tts.pack_files import PHONES_FILE
from engine.tts.phones import MARKS as MARK_IDS
from engine.tts.smlle.config import MARKS
from engine.tts.speaker.small import load_small_speaker

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


def encode_tokens(run: Run) -> None:
    """Encode all shards that are not encoded yet."""
    inputs = run.require("corpus", "codebook", "speaker")
    files = (
        run.stage("codebook") / FILE,
        run.stage("speaker") / "speaker.safetensors",
        run.stage("codebook") / PHONES_FILE,
    )
    encoded.encode_shards(run, "tokens", _Encoder, files)
    run.finish("tokens", inputs)


class _Encoder:
    """Encodes shards with one codebook, one speaker encoder and one table."""

    def __init__(self, codebook: str, speaker: str, table: str) -> None:
        self._codebook = load_codebook(Path(codebook))
        self._speaker = load_small_speaker(Path(speaker))
        self._ids = read_json(Path(table))
        self._mel = MelSpectrum()

    def encoded(self, shard: Shard) -> list[Encoded]:
        return [self._utterance(entry, pcm) for entry, pcm in shard.spoken()]

    def _utterance(self, entry: Entry, pcm: npt.NDArray[np.float32]) -> Encoded:
        steps = steps_of(entry, pcm, self._ids, self._mel)
        phones = steps.units[1:-1]
        marks = np.zeros(len(phones), np.int8)
        for before, number in steps.marks:
            if before:
                marks[before - 1] = _MARK_OF[int(number)]
        return Encoded(
            entry.speaker,
            self._codebook.tokens(entry.speaker, steps),
            steps.mel.astype(np.float16),
            steps.said_by.astype(np.int16),
            phones.astype(np.int16),
            marks,
            speaker_vector(self._speaker, pcm),
            entry.syllables,
        )


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
