"""Sessions of the small LLMVoX that is trained here: one replica, whose decoder is causal."""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.codec.vocoder import Waves
from engine.nn.cache import KvCache
from engine.nn.transformer import RotaryTable
from engine.text.phonemes import Espeak
from engine.tts.llmvox.config import TOKEN_SAMPLES, Generation
from engine.tts.llmvox.model import LlmVoxModel, Predicted
from engine.tts.llmvox.replicas import Parts, ReplicaSession
from engine.tts.llmvox.units import reader
from engine.tts.phones import PhoneTable

_CPU: Final = torch.device("cpu")


@dataclass(frozen=True)
class ModelParts:
    """What all sessions of a model share and none may change."""

    generation: Generation
    model: LlmVoxModel
    vocoder: Waves
    table: PhoneTable
    espeak: Espeak
    rotary: RotaryTable


class OwnReplica:
    """The network as it speaks with one voice."""

    def __init__(self, parts: ModelParts, speaker: Tensor, dice: torch.Generator) -> None:
        """`speaker`: the voice's vector [S]."""
        self._parts = parts
        self._speaker = speaker[None]
        self._dice = dice
        self._cache = KvCache(parts.model.shape.stack, 1, _CPU, torch.float32)

    @property
    def length(self) -> int:
        return self._cache.length

    def predict(self, unit: int, before: int) -> Predicted:
        model = self._parts.model
        keep = model.token.keep_masks((1, 1), self._parts.generation.dropout, self._dice)
        x = model.enter(torch.tensor([[unit]]), torch.tensor([[before]]), self._speaker, keep)
        return model.predict(model.step(x, self._parts.rotary, self._cache))

    def restart(self) -> None:
        self._cache.restart()


class LlmVoxSession(ReplicaSession):
    """A TtsSession without control of the rate."""

    def __init__(self, parts: ModelParts, speaker: Tensor, seed: int) -> None:
        """`speaker`: the voice's vector [S]."""
        model, dice = parts.model, torch.Generator().manual_seed(seed)
        vectors = model.codebook.weight
        super().__init__(
            Parts(
                parts.generation,
                reader(model.shape.units, parts.espeak, parts.table),
                (OwnReplica(parts, speaker, dice),),
                torch.cat((vectors, speaker.expand(len(vectors), -1)), dim=1),
                parts.vocoder.open(),
                TOKEN_SAMPLES,
                dice,
            )
        )
