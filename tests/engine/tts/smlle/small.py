"""An SMLLE of tiny random weights, with every part real but the vocoder."""

import numpy as np
import torch
from torch import Tensor

from engine.codec.mel import BANDS
from engine.nn.transformer import TransformerConfig
from engine.text.phonemes import Espeak
from engine.tts.base import Voice
from engine.tts.papers.spectrum import SPECIAL_PHONES, Spectrum, SpectrumShape
from engine.tts.phones import own_ids
from engine.tts.smlle.synthesiser import SmlleParts, SmlleSynthesiser
from engine.tts.smlle.transducer import SmlleGeneration, SmlleShape, Transducer
from tests.engine.nn.stacks import lively, seeded
from tests.engine.tts.voxtream.random_weights import own_table

_STACK = TransformerConfig(layers=1, width=32, heads=2, kv_heads=1, hidden=32)
SPECTRUM = SpectrumShape(
    _STACK, len(own_ids()) + SPECIAL_PHONES, 12, prenet=16, latent=16, speaker_width=8, ahead=2
)
SHAPE = SmlleShape(_STACK, SPECTRUM, predictor_layers=2, joint=32)
GENERATION = SmlleGeneration()


class Summing:
    """A vocoder that only spreads each column over its samples, and counts what went before."""

    def open(self) -> "SummingStream":
        return SummingStream()


class SummingStream:
    def __init__(self) -> None:
        self._before = torch.zeros(1)

    def decode(self, columns: Tensor) -> Tensor:
        """[T, bands] -> [480 T]"""
        levels = 0.01 * columns.sum(dim=-1)
        smooth = levels + 0.5 * torch.cat((self._before, levels[:-1]))
        self._before = levels[-1:]
        return smooth.repeat_interleave(480)


def small_parts(generation: SmlleGeneration = GENERATION) -> SmlleParts:
    """Random weights that wait as often as they speak."""
    with seeded(1):
        transducer, spectrum = Transducer(SHAPE), Spectrum(SPECTRUM)
        for network in (transducer, spectrum):
            lively(network, embeddings=1.0)
    transducer.bias.data[transducer.blank] = 2.2
    return SmlleParts(generation, transducer, spectrum, Summing(), own_table(), Espeak())


def small_voice(seed: int = 0) -> Voice:
    steps = 30
    dice = np.random.default_rng(seed)
    phones = dice.integers(0, SHAPE.begin, steps)
    phones[:2] = SHAPE.begin
    return Voice(
        f"small {seed}",
        "smlle",
        {
            "tokens": dice.integers(0, SHAPE.tokens, steps),
            "phones": phones,
            "mel": dice.normal(size=(steps * 2, BANDS)).astype(np.float32),
            "speaker": dice.normal(size=SPECTRUM.speaker_width).astype(np.float32),
        },
    )


def small(generation: SmlleGeneration = GENERATION) -> SmlleSynthesiser:
    return speaking(small_parts(generation), small_voice(0), small_voice(1))


def speaking(parts: SmlleParts, *own: Voice) -> SmlleSynthesiser:
    return SmlleSynthesiser(parts, own)
