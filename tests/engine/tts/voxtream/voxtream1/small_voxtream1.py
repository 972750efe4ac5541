"""A VoXtream small enough to say a sentence in a second, with every part real."""

import numpy as np
import torch

from engine.codec.mimi import Mimi
from engine.nn.packed.product_graph import Precision
from engine.nn.transformer import TransformerConfig
from engine.text.phonemes import Espeak
from engine.tts.base import Voice
from engine.tts.voxtream.config import GENERATION, ModelConfig
from engine.tts.voxtream.files.checkpoint import Target, load_weights
from engine.tts.voxtream.voxtream1.session import NAME, TOKENS, Voxtream1Generation, Voxtream1Parts
from engine.tts.voxtream.voxtream1.synthesiser import Voxtream1Synthesiser
from tests.engine.tts.voxtream.random_weights import RandomWeights, own_table
from tests.engine.tts.voxtream.small_model import small_mimi

TARGET = Target(torch.device("cpu"), torch.float32, threads=1)
SMALL = ModelConfig(
    phone=TransformerConfig(layers=2, width=64, heads=4, kv_heads=2, hidden=64),
    temporal=TransformerConfig(layers=2, width=64, heads=4, kv_heads=2, hidden=64),
    depth=TransformerConfig(layers=1, width=64, heads=2, kv_heads=1, hidden=64),
    audio_vocabulary=2049,
    codebooks=4,
    duration_tokens=len(TOKENS),
    max_look_ahead=5,
    audio_window=190,
    phone_window=80,
)
SEED = 1


def small(
    precision: Precision = Precision.FLOAT,
    generation: Voxtream1Generation | None = None,
    mimi: Mimi | None = None,
) -> Voxtream1Synthesiser:
    model = load_weights(RandomWeights(SMALL, SEED), SMALL, GENERATION, precision, TARGET)
    parts = Voxtream1Parts(
        generation or Voxtream1Generation(), model, mimi or small_mimi(), own_table(), Espeak()
    )
    return Voxtream1Synthesiser(parts, (random_voice(),))


def random_voice(frames: int = 20, phones: int = 13) -> Voice:
    """A prompt of random codes whose frames speak one phone after the other."""
    draw = np.random.default_rng(SEED)
    first = np.minimum(np.arange(frames) * 2 // 3, phones - 1)
    return Voice(
        "random",
        NAME,
        {
            "codes": draw.integers(0, 2048, (SMALL.codebooks, frames)).astype(np.int16),
            "phones": draw.integers(0, 100, phones).astype(np.int16),
            "spans": np.stack((first, first), axis=1).astype(np.int16),
            "speaker": draw.standard_normal(SMALL.speaker_width).astype(np.float32),
        },
    )
