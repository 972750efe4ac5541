"""Reads the published speaker encoder, strictly and without running anything in it.

Invariant: either every tensor of the file fits the network its own configuration describes, or a
ModelError names the file, the key, what was expected and what was found.
"""

import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import ModelError
from engine.tts.voxtream.speaker import HOP, ReDimNet, SpeakerConfig, Stage

AGAIN = "Fetch the model again."
_EXPECTED_KINDS: dict[str, Any] = {
    "block_1d_type": "att",
    "block_2d_type": "convnext_like",
    "out_channels": None,
    "pooling_func": "ASTP",
    "global_context_att": False,
    "emb_bn": False,
    "hop_length": HOP,
}


def load_speaker_encoder(file: Path) -> ReDimNet:
    """Read the published .pt file. ModelError naming file, key, expected and found."""
    if not file.is_file():
        raise ModelError(f"The speaker encoder {file} is not there.", hint=AGAIN)
    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise ModelError(
            f"The speaker encoder {file} is damaged or holds more than weights.", hint=AGAIN
        ) from error
    if not isinstance(found, dict) or not {"model_config", "state_dict"} <= set(found):
        raise ModelError(f"{file} holds no model_config and state_dict.", hint=AGAIN)
    model = ReDimNet(_read_shape(file, found["model_config"]))
    _check_keys(file, found["state_dict"], model)
    model.load_state_dict(found["state_dict"])
    return model.eval().requires_grad_(False)


def _read_shape(file: Path, config: dict[str, Any]) -> SpeakerConfig:
    """The part of the published configuration that this file implements."""
    for key, expected in _EXPECTED_KINDS.items():
        if config.get(key, expected) != expected:
            raise ModelError(
                f"{file}: '{key}' is {config[key]!r}, expected {expected!r}.",
                hint="This speaker encoder needs a newer version of the program.",
            )
    plain = SpeakerConfig()
    if "stages_setup" in config:
        stages = tuple(Stage(setup[0], setup[1], setup[4]) for setup in config["stages_setup"])
    else:
        stages = plain.stages
    published = {"frequencies": "F", "channels": "C", "width": "embed_dim"}
    values = {
        field.name: config.get(published.get(field.name, field.name), getattr(plain, field.name))
        for field in fields(SpeakerConfig)
        if field.name != "stages"
    }
    return SpeakerConfig(stages=stages, **values)


def _check_keys(file: Path, found: dict[str, Tensor], model: ReDimNet) -> None:
    expected = model.state_dict()
    for key, tensor in expected.items():
        if key not in found:
            raise ModelError(f"{file} lacks '{key}', expected {list(tensor.shape)}.", hint=AGAIN)
        if found[key].shape != tensor.shape:
            raise ModelError(
                f"{file}: '{key}' has shape {list(found[key].shape)}, "
                f"expected {list(tensor.shape)}.",
                hint=AGAIN,
            )
    extra = sorted(set(found) - set(expected))
    if extra:
        raise ModelError(f"{file} holds '{extra[0]}', which is not expected.", hint=AGAIN)
