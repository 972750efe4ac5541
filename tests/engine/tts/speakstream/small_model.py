"""A SpeakStream small enough to run a whole utterance in a second, with every part real."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from engine.codec.mel import BANDS, Levels
from engine.codec.vocoder import Vocoder, VocoderConfig, fresh_decoder
from engine.nn.transformer import Embedding, Linear, RotaryTable, TransformerConfig
from engine.text.phonemes import Espeak
from engine.tts.base import Voice
from engine.tts.phones import own_table
from engine.tts.speaker.small import SmallSpeaker, SmallSpeakerConfig
from engine.tts.speakstream.config import NAME, Generation, Shape
from engine.tts.speakstream.model import SpeakStreamModel
from engine.tts.speakstream.session import ModelParts
from engine.tts.speakstream.synthesiser import SpeakStreamSynthesiser
from engine.tts.system.synthesiser import VectorVoices

SHAPE = Shape(
    TransformerConfig(layers=2, width=32, heads=4, kv_heads=2, hidden=48), level_width=4, prenet=24
)
GENERATION = Generation(longest_word=9, passage=40, longest_passage=120)
VOCODER = VocoderConfig(BANDS, width=16, blocks=1)


def random_network(shape: Shape = SHAPE, seed: int = 1) -> SpeakStreamModel:
    """Weights that end a segment now and then, and for which earlier columns matter."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SpeakStreamModel(shape)
        for module in model.modules():
            if isinstance(module, Embedding):
                nn.init.normal_(module.weight, std=0.5)
            elif isinstance(module, Linear):
                nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)
        model.end.weight *= 4  # sure of itself, or every other position would be an end
    return model.eval().requires_grad_(requires_grad=False)


def small(generation: Generation = GENERATION, seed: int = 1) -> SpeakStreamSynthesiser:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        decoder = fresh_decoder(VOCODER).eval().requires_grad_(requires_grad=False)
        speaker = SmallSpeaker(SmallSpeakerConfig(bands=24, channels=16, width=192)).eval()
    rotary = RotaryTable(SHAPE.stack.head_width, torch.device("cpu"))
    parts = ModelParts(
        generation,
        random_network(seed=seed),
        Levels(-6.0, 2.0),
        Vocoder(decoder),
        own_table(),
        Espeak(),
        rotary,
    )
    own = (random_voice("Ada"), random_voice("Bruno"))
    return SpeakStreamSynthesiser(parts, VectorVoices(own, speaker, 192))


def random_voice(name: str) -> Voice:
    draw = np.random.default_rng(len(name))
    vector = draw.standard_normal(192).astype(np.float32)
    return replace(Voice(name, NAME), tensors={"speaker": vector / np.linalg.norm(vector)})
