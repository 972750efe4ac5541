"""An LLMVoX small enough to run a whole utterance in a second, with every part real."""

import json
from pathlib import Path

import numpy as np

from engine.codec.mel import BANDS, Vocoder, VocoderConfig, fresh_decoder
from engine.nn.transformer import TransformerConfig
from engine.nn.weights_file import shape_metadata
from engine.text.phonemes import Espeak
from engine.training.packing import save_weights
from engine.tts import voices
from engine.tts.base import Voice
from engine.tts.llmvox.model import (
    NAME,
    LlmVoxGeneration,
    LlmVoxModel,
    LlmVoxPackConfig,
    LlmVoxShape,
)
from engine.tts.llmvox.synthesiser import LlmVoxParts, LlmVoxSynthesiser
from engine.tts.pack_files import PHONES_FILE, SPECTRUM_FILE, VOCODER_FILE, VOICE_FILE, config_json
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER, Weights
from engine.tts.papers.spectrum import Spectrum, SpectrumShape
from engine.tts.phones import MARKS, own_ids
from tests.engine.nn.stacks import lively, seeded
from tests.engine.tts.utterances import Recorder
from tests.engine.tts.voxtream.random_weights import own_table

STACK = TransformerConfig(layers=2, width=32, heads=4, kv_heads=2, hidden=48)
GENERATION = LlmVoxGeneration(longest_unit=3, most_repeats=5, dropout=0.0)
SPEAKER_WIDTH = 192
VOCODER = VocoderConfig(BANDS, width=16, blocks=1)
_PHONES = len(own_ids()) + 2
SPECTRUM = SpectrumShape(STACK, _PHONES, 2 * _PHONES, prenet=16, latent=16, ahead=2)


SHAPE = LlmVoxShape(STACK, SPECTRUM, prenet=24)


def random_network(seed: int = 1) -> LlmVoxModel:
    """Weights that end a sentence now and then."""
    with seeded(seed):
        return lively(LlmVoxModel(SHAPE))


def random_spectrum(seed: int = 1) -> Spectrum:
    with seeded(seed):
        return lively(Spectrum(SPECTRUM))


def small(
    generation: LlmVoxGeneration = GENERATION,
    seed: int = 1,
    vocoder: Recorder | None = None,
) -> LlmVoxSynthesiser:
    with seeded(seed):
        decoder = fresh_decoder(VOCODER).eval().requires_grad_(requires_grad=False)
    parts = LlmVoxParts(
        generation,
        random_network(seed),
        random_spectrum(seed),
        vocoder or Vocoder(decoder),
        own_table(),
        Espeak(),
    )
    own = (random_voice("Ada"), random_voice("Bruno"))
    return LlmVoxSynthesiser(parts, own)


def random_voice(name: str, model: str = NAME) -> Voice:
    vector = np.random.default_rng(len(name)).standard_normal(SPEAKER_WIDTH).astype(np.float32)
    return Voice(name, model, {"speaker": vector / np.linalg.norm(vector)})


# --------------------------------------------------------- a pack, written as training exports one


def write_pack(folder: Path) -> Path:
    """Write a pack with the voices Ada and Bruno into `folder`, which need not exist."""
    (folder / VOICES_FOLDER).mkdir(parents=True)
    model, weights = random_network(), Weights.INT8
    with seeded(1):
        decoder = fresh_decoder(VOCODER)
    save_weights(model.state_dict(), folder / VOICE_FILE, weights)
    save_weights(random_spectrum().state_dict(), folder / SPECTRUM_FILE, weights)
    save_weights(decoder.state_dict(), folder / VOCODER_FILE, weights, shape_metadata(VOCODER))
    config = LlmVoxPackConfig(NAME, model.shape, GENERATION)
    (folder / CONFIG_FILE).write_text(config_json(config), encoding="utf-8")
    (folder / PHONES_FILE).write_text(json.dumps({**own_ids(), **MARKS}), encoding="utf-8")
    for name in ("Ada", "Bruno"):
        voices.save(random_voice(name), folder / VOICES_FOLDER)
    return folder
