"""Sessions of the published LLMVoX: two replicas, as in the paper, and a codec that decodes
windows.

Invariant: every sentence is decoded on its own, and fades out before the next one begins.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.audio.ending import Ending
from engine.codec.small_parts import SAMPLE_RATE
from engine.codec.wavtokenizer import WavTokenizer
from engine.tts.llmvox.config import LlmVoxGeneration
from engine.tts.llmvox.published.model import TOKEN_SAMPLES, PublishedModel, PublishedReplica
from engine.tts.llmvox.session import Lane, ReplicaSession, SessionParts
from engine.tts.llmvox.units import ByteUnits, UnitWord

REPLICAS: Final = 2
# Room for a byte's speech. A sentence ends with the word that exceeds the network's positions.
TOKENS_PER_BYTE: Final = 8


@dataclass(frozen=True)
class PublishedParts:
    """Parts that all sessions of a model share and none may change."""

    generation: LlmVoxGeneration
    model: PublishedModel
    codec: WavTokenizer


class SentenceBytes(ByteUnits):
    """Reader of words as bytes that limits the length of sentences."""

    def __init__(self, longest: int) -> None:
        """`longest`: bytes of a sentence. The word that exceeds them ends the sentence."""
        self._longest = longest
        self._length = 0  # of the sentence

    def push(self, text: str) -> list[UnitWord]:
        (word,) = super().push(text)
        self._length += len(word.units)
        closes = word.closes or self._length > self._longest
        if closes:
            self._length = 0
        return [UnitWord(word.units, closes)]


class PublishedSession(ReplicaSession):
    """The TtsSession of the published LLMVoX, without control of the rate."""

    def __init__(self, parts: PublishedParts) -> None:
        model, self._windows = parts.model, parts.codec.open()
        vectors = model.codebook.weight
        super().__init__(
            SessionParts(
                parts.generation,
                SentenceBytes(model.shape.positions // TOKENS_PER_BYTE),
                tuple(PublishedReplica(model) for _ in range(REPLICAS)),
                lambda tokens: self._windows.decode(vectors[tokens]).cpu(),
                len(vectors) - 1,
                TOKEN_SAMPLES,
                torch.Generator(),  # nothing is drawn
                model.shape.positions - 1,
            )
        )

    def _end_sentence(self, lane: Lane) -> None:
        super()._end_sentence(lane)
        self._ending = Ending(SAMPLE_RATE)  # the windows have faded out already

    def _rest(self) -> Tensor:
        return self._windows.end()
