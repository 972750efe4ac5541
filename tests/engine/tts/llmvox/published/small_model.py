"""A published LLMVoX of random weights, small enough for whole utterances or of full size, with
every part real.
"""

from dataclasses import replace

import torch
from torch import nn

from engine.codec.wavtokenizer import WavTokenizerConfig, WavTokenizerDecoder
from engine.nn.transformer import TransformerConfig
from engine.tts.llmvox.model import LlmVoxGeneration
from engine.tts.llmvox.published.model import PublishedModel, PublishedShape
from engine.tts.llmvox.published.synthesiser import (
    GENERATION,
    PublishedParts,
    PublishedSynthesiser,
    ready,
)
from tests.engine.nn.stacks import seeded
from tests.engine.tts.utterances import Recorder

PUBLISHED = PublishedShape(TransformerConfig(layers=4, width=768, heads=8, kv_heads=8, hidden=3072))
SHAPE = PublishedShape(
    TransformerConfig(layers=1, width=32, heads=2, kv_heads=2, hidden=64),
    tokens=24,
    positions=256,
    entry=16,
    text=16,
)
CODEC = WavTokenizerConfig(entry=16, width=64, blocks=1)
SHORT = replace(GENERATION, longest_unit=2, most_repeats=5)


def small(
    generation: LlmVoxGeneration = SHORT,
    codec: Recorder | None = None,
    shape: PublishedShape = SHAPE,
) -> PublishedSynthesiser:
    made = random_parts(1, shape, CODEC, torch.device("cpu"))
    torch.set_num_threads(1)
    return PublishedSynthesiser(PublishedParts(generation, made.model, codec or made.codec))


def of_full_size(device: torch.device, *, packed: bool = False) -> PublishedSynthesiser:
    return PublishedSynthesiser(
        random_parts(0, PUBLISHED, WavTokenizerConfig(), device, packed=packed)
    )


def random_parts(
    seed: int,
    shape: PublishedShape,
    codec: WavTokenizerConfig,
    device: torch.device,
    *,
    packed: bool = False,
) -> PublishedParts:
    with seeded(seed):
        model = PublishedModel(shape)
        decoder = WavTokenizerDecoder(codec)
        for parameter in (*model.parameters(), *decoder.leave.parameters()):
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5)
    model.codebook.weight.data[-1] = 0
    return ready(model, decoder, device, packed=packed)
