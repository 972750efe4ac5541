"""A published LLMVoX small enough for whole utterances, with every part real."""

from dataclasses import replace

import torch

from engine.codec.wavtokenizer import WavTokenizer, WavTokenizerConfig
from engine.nn.transformer import TransformerConfig
from engine.tts.llmvox.config import Generation
from engine.tts.llmvox.published.model import Shape
from engine.tts.llmvox.published.session import ModelParts
from engine.tts.llmvox.published.synthesiser import GENERATION, PublishedSynthesiser, load_random

SHAPE = Shape(
    TransformerConfig(layers=1, width=32, heads=2, kv_heads=2, hidden=64),
    tokens=24,
    positions=256,
    entry=16,
    text=16,
)
CODEC = WavTokenizerConfig(entry=16, width=64, blocks=1)
SHORT = replace(GENERATION, longest_unit=2, most_repeats=5)


def small(
    generation: Generation = SHORT, codec: WavTokenizer | None = None, shape: Shape = SHAPE
) -> PublishedSynthesiser:
    made = load_random(1, shape=shape, codec=CODEC).parts
    torch.set_num_threads(1)
    return PublishedSynthesiser(ModelParts(generation, made.model, codec or made.codec))
