"""A VoXtream2 small enough to run a whole utterance in a second, with every part real."""

from typing import Any

import torch

from engine.codec.mimi import Mimi, random_mimi
from engine.nn.transformer import TransformerConfig
from engine.tts.base import AudioFrame, Finished, Starved
from engine.tts.voxtream.config import FULL, ModelConfig, Profile
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.session import VoxtreamSession
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser, load_random

CPU = torch.device("cpu")
TARGET = Target(CPU, torch.float32, threads=1)
SMALL = ModelConfig(
    phone=TransformerConfig(layers=6, width=64, heads=4, kv_heads=2, hidden=64),
    temporal=TransformerConfig(layers=2, width=64, heads=4, kv_heads=2, hidden=64),
    depth=TransformerConfig(layers=1, width=64, heads=2, kv_heads=1, hidden=64),
    codebooks=4,
    audio_window=96,
)


def narrow_sections() -> dict[str, Any]:
    """Sections of moshi's configuration that make the real codec's layers narrow."""
    from moshi.models import loaders

    width = 32
    return {
        "seanet": loaders._seanet_kwargs | {"dimension": width, "n_filters": 2},
        "quantizer": loaders._quantizer_kwargs
        | {"dimension": 16, "input_dimension": width, "output_dimension": width},
        "transformer": loaders._transformer_kwargs
        | {
            "d_model": width,
            "num_heads": 2,
            "num_layers": 1,
            "dim_feedforward": 64,
            "input_dimension": width,
            "output_dimensions": [width],
        },
    }


def small_mimi(codebooks: int = 4) -> Mimi:
    """The real codec with narrow layers."""
    return random_mimi(codebooks, 0, **narrow_sections())


def small(profile: Profile = FULL, config: ModelConfig = SMALL) -> VoxtreamSynthesiser:
    return load_random(1, config=config, profile=profile, target=TARGET, mimi=small_mimi())


def in_place(config: ModelConfig = SMALL) -> VoxtreamSynthesiser:
    """The same with frames as on CUDA, from buffers that stay in place."""
    plain = small(config=config)
    return VoxtreamSynthesiser(
        plain._parts, plain._speaker, plain.voices(), plain.info.name, graphs=True
    )


def speak(session: VoxtreamSession, words: list[str]) -> list[AudioFrame]:
    """Everything said when all words are pushed first."""
    for word in words:
        session.push_word(word)
    session.end_input()
    return rest(session)


def speak_by_word(session: VoxtreamSession, words: list[str]) -> list[AudioFrame]:
    """Everything said when each word is pushed only once nothing more can be said."""
    frames = []
    for word in words:
        session.push_word(word)
        frames += until_starved(session)
    session.end_input()
    return frames + rest(session)


def until_starved(session: VoxtreamSession) -> list[AudioFrame]:
    frames = []
    while isinstance(step := session.step(), AudioFrame):
        frames.append(step)
    assert isinstance(step, Starved)
    return frames


def rest(session: VoxtreamSession) -> list[AudioFrame]:
    frames = []
    while isinstance(step := session.step(), AudioFrame):
        frames.append(step)
    assert isinstance(step, Finished)
    return frames
