"""LLMVoX's pack with random weights, written as training exports one."""

import json
from pathlib import Path

import torch

from engine.codec.vocoder import fresh_decoder
from engine.nn.weights_file import shape_metadata
from engine.training.packing import save_weights
from engine.tts import voices
from engine.tts.llmvox.config import NAME, PackConfig
from engine.tts.pack_files import PHONES_FILE, VOCODER_FILE, VOICE_FILE, config_json
from engine.tts.packs import CONFIG_FILE, SPEAKER_FILE, VOICES_FOLDER, Weights
from engine.tts.phones import MARKS, own_ids
from engine.tts.speaker.small import SmallSpeaker, SmallSpeakerConfig
from tests.engine.tts.llmvox.small_model import GENERATION, VOCODER, random_network, random_voice

SPEAKER = SmallSpeakerConfig(bands=24, channels=16, width=192)


def write_pack(folder: Path, weights: Weights = Weights.INT8) -> Path:
    """Write a pack with the voices Ada and Bruno into `folder`, which need not exist."""
    (folder / VOICES_FOLDER).mkdir(parents=True)
    model = random_network()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        decoder, speaker = fresh_decoder(VOCODER), SmallSpeaker(SPEAKER)
    save_weights(model.state_dict(), folder / VOICE_FILE, weights)
    save_weights(decoder.state_dict(), folder / VOCODER_FILE, weights, shape_metadata(VOCODER))
    about = shape_metadata(SPEAKER)
    save_weights(speaker.state_dict(), folder / SPEAKER_FILE, weights, about, listens=True)
    config = PackConfig(NAME, model.shape, GENERATION)
    (folder / CONFIG_FILE).write_text(config_json(config), encoding="utf-8")
    (folder / PHONES_FILE).write_text(json.dumps({**own_ids(), **MARKS}), encoding="utf-8")
    for name in ("Ada", "Bruno"):
        voices.save(random_voice(name), folder / VOICES_FOLDER)
    return folder
