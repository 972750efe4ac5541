"""A SpeakStream small enough to run a whole utterance in a second, with every part real."""

from engine.codec.mel import BANDS, Levels, Vocoder, VocoderConfig, fresh_decoder
from engine.nn.transformer import TransformerConfig
from engine.text.phonemes import Espeak
from engine.tts.speakstream.model import (
    NAME,
    SpeakStreamGeneration,
    SpeakStreamModel,
    SpeakStreamShape,
)
from engine.tts.speakstream.synthesiser import SpeakStreamParts, SpeakStreamSynthesiser
from tests.engine.nn.stacks import lively, seeded
from tests.engine.tts.llmvox.small_model import random_voice
from tests.engine.tts.voxtream.random_weights import own_table

SHAPE = SpeakStreamShape(
    TransformerConfig(layers=2, width=32, heads=4, kv_heads=2, hidden=48), level_width=4, prenet=24
)
GENERATION = SpeakStreamGeneration(longest_unit=4, passage=40, longest_passage=120)
VOCODER = VocoderConfig(BANDS, width=16, blocks=1)


def random_network(shape: SpeakStreamShape = SHAPE, seed: int = 1) -> SpeakStreamModel:
    """Weights that end a unit now and then."""
    with seeded(seed):
        model = lively(SpeakStreamModel(shape))
        model.end.weight *= 4  # sure of itself, or every other position would be an end
    return model


def small(generation: SpeakStreamGeneration = GENERATION, seed: int = 1) -> SpeakStreamSynthesiser:
    with seeded(seed):
        decoder = fresh_decoder(VOCODER).eval().requires_grad_(requires_grad=False)
    parts = SpeakStreamParts(
        generation,
        random_network(seed=seed),
        Levels(-6.0, 2.0),
        Vocoder(decoder),
        own_table(),
        Espeak(),
    )
    own = (random_voice("Ada", NAME), random_voice("Bruno", NAME))
    return SpeakStreamSynthesiser(parts, own)
