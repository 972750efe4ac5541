"""A voice pack of random weights, written as training exports one: it can be told from a trained
one only by ear.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors.torch import save_file

from engine.codec import small
from engine.codec.small import SmallCodecConfig
from engine.nn.transformer import TransformerConfig
from engine.nn.weights_file import shape_metadata
from engine.training.voxtream.export import published_tensors
from engine.training.voxtream.losses import fresh_model
from engine.tts import voices
from engine.tts.pack_files import config_json
from engine.tts.packs import VOICES_FOLDER
from engine.tts.phones import MARKS, own_ids
from engine.tts.speaker.small import SmallSpeaker, SmallSpeakerConfig
from engine.tts.voxtream.config import ModelConfig, VoxtreamGeneration
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.rate import RATE_TABLE
from tests.engine.nn.stacks import seeded, with_codebooks
from tests.engine.tts.voxtream.random_weights import random_voice

_STACK = TransformerConfig(layers=1, width=64, heads=2, kv_heads=1, hidden=64)
VOICE = ModelConfig(_STACK, _STACK, _STACK, audio_vocabulary=34, codebooks=4, speaker_width=192)
_CODEC = SmallCodecConfig(codebooks=4, codes=32, width=32, blocks=1, layers=1)
_SPEAKER = SmallSpeakerConfig(bands=24, channels=16, width=192)
_NAME = "small-starter"


def write_pack(folder: Path) -> Path:
    """Write a pack with the voices Ada and Bruno into `folder`, which need not exist."""
    (folder / VOICES_FOLDER).mkdir(parents=True, exist_ok=True)
    with seeded(1):
        model = fresh_model(VOICE, VoxtreamGeneration())
        codec, speaker = small.build(_CODEC), SmallSpeaker(_SPEAKER)
        with_codebooks(codec)
    save_file(published_tensors(model), folder / pack.VOICE_FILE)
    save_file(codec.state_dict(), folder / pack.CODEC_FILE, shape_metadata(_CODEC))
    save_file(speaker.state_dict(), folder / pack.SPEAKER_FILE, shape_metadata(_SPEAKER))
    config = pack.VoxtreamPackConfig(_NAME, VOICE, VoxtreamGeneration(), RATE_TABLE)
    (folder / pack.CONFIG_FILE).write_text(config_json(config), encoding="utf-8")
    (folder / pack.PHONES_FILE).write_text(json.dumps({**own_ids(), **MARKS}), encoding="utf-8")
    for number, called in enumerate(("Ada", "Bruno"), start=1):
        voice = random_voice(VOICE, number, frames=40)
        codes = voice.tensors["codes"] % _CODEC.codes
        tensors = {"codes": codes.astype(np.int16), "speaker": voice.tensors["speaker"]}
        voice = replace(voice, name=called, model=_NAME, tensors=tensors)
        voices.save(voice, folder / VOICES_FOLDER)
    return folder
