"""The built-in voice's configurations, phones and weights, where VoXtream's training starts."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from engine.codec.small import SmallCodecConfig, read_config
from engine.nn.packed.quantise import Precision
from engine.nn.weights_file import SHAPE_KEY
from engine.resources import resource
from engine.training.run import metadata, read_json
from engine.tts.phones import MARKS
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights


def built_in_file(name: str) -> Path:
    """Return a file of the built-in voice's pack."""
    return resource("starter", name)


def built_in_config() -> pack.VoxtreamPackConfig:
    """Return the configuration of the built-in voice."""
    return pack.read_pack_config(built_in_file(pack.CONFIG_FILE))


def built_in_codec() -> SmallCodecConfig:
    """Return the configuration of the built-in voice's codec."""
    file = built_in_file(pack.CODEC_FILE)
    return read_config(metadata(file).get(SHAPE_KEY, ""), file)


def built_in_phones() -> dict[str, int]:
    """Return the built-in voice's phone ids, without marks. They index its embeddings."""
    table = read_json(built_in_file(pack.PHONES_FILE))
    return {phone: number for phone, number in table.items() if phone not in MARKS}


def built_in_weights(own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the built-in voice's weights for the keys of `own`, fp32 on the CPU. VoXtream has
    fewer duration tokens than VoXtream2, namely the first ones, so its rows are the first ones too.
    """
    config, target = built_in_config(), Target(torch.device("cpu"), torch.float32, threads=1)
    with PublishedFile(built_in_file(pack.VOICE_FILE), config.shape) as file:
        model = load_weights(file, config.shape, config.generation, Precision.FLOAT, target)
    taken = model.state_dict()
    return {key: taken[key][: len(value)] for key, value in own.items()}
