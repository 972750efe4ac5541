"""VoXtream2, its codec and speaker encoder with seeded random weights: what is heard is noise."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.codec.mimi import Mimi
from engine.nn.packed.product_graph import Precision
from engine.text.phonemes import Espeak
from engine.tts.base import Voice
from engine.tts.phones import PhoneTable, own_ids
from engine.tts.speaker.redimnet import ReDimNet
from engine.tts.voxtream.config import GENERATION, VOXTREAM2_SHAPE, Edition, ModelConfig
from engine.tts.voxtream.files.checkpoint import Target, load_weights, published_shapes
from engine.tts.voxtream.files.paths import VOXTREAM2
from engine.tts.voxtream.rate import RATE_TABLE
from engine.tts.voxtream.session import VoxtreamParts
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.nn.stacks import seeded, with_codebooks

CPU = torch.device("cpu")
# Samples do not depend on when words came: for what compares them.
TIMELESS = Edition(VOXTREAM2, GENERATION, RATE_TABLE)
RANDOM_NAME = "voxtream2 with RANDOM weights (noise, not speech)"


def own_table() -> PhoneTable:
    """The table for weights without one."""
    return PhoneTable(own_ids())


class RandomWeights:
    """Seeded random tensors under the published keys, for tests and measurements."""

    def __init__(self, config: ModelConfig, seed: int) -> None:
        self._shapes = published_shapes(config)
        self._seed = seed

    def take(self, key: str) -> Tensor:
        """The same tensor for the same key and seed, in whatever order keys are taken."""
        shape = self._shapes[key]
        place = list(self._shapes).index(key)
        generator = torch.Generator().manual_seed(self._seed * 100_003 + place)
        if len(shape) == 1:
            return 1 + 0.1 * torch.randn(shape, generator=generator)
        scale = 1.0 if key.endswith("embeddings.weight") else shape[1] ** -0.5
        return torch.randn(shape, generator=generator) * scale

    def items(self) -> Iterator[tuple[str, Tensor]]:
        """All keys and tensors, as a state dict would list them."""
        return ((key, self.take(key)) for key in self._shapes)


def load_random(
    seed: int = 0,
    precision: Precision = Precision.INT8,
    *,
    config: ModelConfig = VOXTREAM2_SHAPE,
    edition: Edition = TIMELESS,
    target: Target | None = None,
    mimi: Mimi | None = None,
) -> VoxtreamSynthesiser:
    """Full-size random weights, for measuring and developing: what is heard is noise."""
    target = target or Target(torch.device("cpu"), torch.float32, threads=2)
    weights = RandomWeights(config, seed)
    model = load_weights(weights, config, edition.generation, precision, target)
    codec = mimi or random_mimi(config.codebooks, seed, target.device)
    codec.tune()
    generation, rates, loudness = edition.generation, edition.rates, edition.loudness
    parts = VoxtreamParts(generation, model, codec, own_table(), Espeak(), rates, loudness)
    voice = random_voice(config, seed)
    return VoxtreamSynthesiser(parts, random_speaker_encoder(seed), (voice,), RANDOM_NAME)


def random_voice(config: ModelConfig, seed: int, frames: int = 62) -> Voice:
    """A prompt of random codes."""
    draw = np.random.default_rng(seed)
    speaker = draw.standard_normal(config.speaker_width).astype(np.float32)
    return replace(
        Voice("random", RANDOM_NAME),
        tensors={
            "codes": draw.integers(0, 2048, (config.codebooks, frames)).astype(np.int16),
            "speaker": speaker / np.linalg.norm(speaker),
        },
    )


def random_mimi(codebooks: int, seed: int, device: torch.device = CPU, **changes: Any) -> Mimi:
    """A codec with random weights of the published shape, for tests and measurements.

    `changes` replace whole sections of moshi's configuration ('seanet', 'transformer', ...).
    """
    from moshi.models import loaders

    config = loaders._mimi_config | changes

    def make() -> Any:
        with seeded(seed):
            model = with_codebooks(loaders.get_mimi(None, config, device, codebooks))
        return model.eval().requires_grad_(requires_grad=False)

    return Mimi(make(), codebooks, make)


def random_speaker_encoder(seed: int) -> ReDimNet:
    """Size M with random weights."""
    with seeded(seed):
        return ReDimNet().eval().requires_grad_(False)
