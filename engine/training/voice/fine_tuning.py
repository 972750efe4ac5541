"""Fine-tuning: a pack's voice is trained further, and so is its decoder if the recipe gives it a
schedule; its codes and speaker encoder stay as they are, so voices cloned with it stay valid.

So a voice can be trained further when the checkpoints of its first training are gone; other systems
take the speaker encoder alone. Invariant: the recipe's shapes are the pack's, or InvalidInput names
both.
"""

import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from engine.codec.small import read_config
from engine.errors import InvalidInput
from engine.nn.packed.quantise import Precision
from engine.nn.weights_file import SHAPE_KEY
from engine.training.checkpoints import metadata
from engine.training.codec.stage import shipped_config
from engine.training.recipe import Recipe
from engine.training.run import Run, file_hash, read_json
from engine.training.stages import VOXTREAM, VOXTREAM2
from engine.training.voice.model import model_config
from engine.training.voice.speaker import config_of as speaker_config
from engine.tts import voices
from engine.tts.phones import MARKS
from engine.tts.speaker.small import load_small_speaker
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights

TAKEN: Final = {
    "codec": (pack.CODEC_FILE, "codec.safetensors"),
    "decoder": (pack.CODEC_FILE, "codec.safetensors"),
    "speaker": (pack.SPEAKER_FILE, "speaker.safetensors"),
}
"""Stages whose weights come from the pack, with the file in the pack and that of the stage."""


def is_taken(recipe: Recipe, stage: str) -> bool:
    """Whether a stage has nothing to learn: it is one of TAKEN, a decoder without a schedule."""
    learns_on = stage == "decoder" and recipe.decoder.schedule.steps > 0
    return recipe.begin_with != "" and stage in TAKEN and not learns_on


def has_taken(run: Run, stage: str) -> bool:
    """Finish a stage with the pack's weights if it has nothing to learn. InvalidInput, before hours
    are spent, when the pack does not fit.
    """
    if not run.recipe.begin_with:
        return False
    folder = fitting(run.recipe)
    if taken := is_taken(run.recipe, stage):
        source, target = TAKEN[stage]
        run.take(stage, folder / source, target, run.require("corpus"), str(folder))
    return taken


def phones(recipe: Recipe) -> dict[str, int]:
    """Ids of the pack's phones, without marks: the meaning of its embeddings."""
    table = read_json(fitting(recipe) / pack.PHONES_FILE)
    return {phone: number for phone, number in table.items() if phone not in MARKS}


def weights(recipe: Recipe, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The pack's voice by the model's own keys, fp32 on the CPU; VoXtream's duration tokens are the
    first of VoXtream2's.
    """
    folder = fitting(recipe)
    config = pack.read_pack_config(folder / pack.CONFIG_FILE)
    target = Target(torch.device("cpu"), torch.float32, threads=1)
    with PublishedFile(folder / pack.VOICE_FILE, config.shape) as file:
        taken = load_weights(
            file, config.shape, config.generation, Precision.FLOAT, target
        ).state_dict()
    return {key: taken[key][: len(value)] for key, value in own.items()}


def inputs(recipe: Recipe) -> dict[str, str]:
    """Hash of the voice that is trained further, for the manifest."""
    return {pack.VOICE_FILE: file_hash(fitting(recipe) / pack.VOICE_FILE)}


def joined(
    network: Mapping[str, Tensor], pack_: Mapping[str, Tensor], share: float
) -> dict[str, Tensor]:
    """The average of both weights, with the weight `share` on the pack's; what the pack has not is
    the network's. Between a fine-tuned network and its origin there may be a better one than either
    (Wortsman et al. 2022, "Robust fine-tuning").
    """
    return {
        key: torch.lerp(value, pack_[key].to(value.dtype), share)
        if key in pack_ and value.is_floating_point()
        else value
        for key, value in network.items()
    }


def named_voices(run: Run, folder: Path) -> list[str]:
    """Copy the pack's named voices into another pack's folder; their names."""
    there = sorted((fitting(run.recipe) / pack.VOICES_FOLDER).glob("*" + voices.SUFFIX))
    for file in there:
        shutil.copyfile(file, folder / pack.VOICES_FOLDER / file.name)
    return [voices.load(file).name for file in there]


def fitting(recipe: Recipe) -> Path:
    """The pack's folder. InvalidInput when it is not there or its shapes are not the recipe's."""
    folder = Path(recipe.begin_with)
    if not (folder / pack.CONFIG_FILE).is_file():
        raise InvalidInput(
            "The pack to begin with, {folder}, is not there.",
            hint="Give the folder of a pack, as resources/starter is one, or leave begin_with out.",
            folder=folder,
        )
    asked_of = {"speaker": asdict(speaker_config(recipe.speaker))}
    found_in = {"speaker": asdict(load_small_speaker(folder / pack.SPEAKER_FILE).config)}
    if recipe.system in {VOXTREAM, VOXTREAM2}:
        codec = folder / pack.CODEC_FILE
        asked_of["voice"] = asdict(model_config(recipe.voice, recipe.codec, recipe.speaker))
        asked_of["codec"] = asdict(shipped_config(recipe))
        found_in["voice"] = asdict(pack.read_pack_config(folder / pack.CONFIG_FILE).shape)
        found_in["codec"] = asdict(read_config(metadata(codec).get(SHAPE_KEY, ""), codec))
        del asked_of["voice"]["duration_tokens"]  # VoXtream's are the first of VoXtream2's
        for key in ("phones", "decoder_blocks", "decoder_layers", "encodes"):
            del asked_of["codec"][key]  # a decoder that learns may be another, and be told phones
    for part, shape in asked_of.items():
        there = found_in[part]
        other = [key for key in shape if there[key] != shape[key]]
        if other:
            raise InvalidInput(
                "The pack to begin with has another {part} than the recipe: {key} is "
                "{value}, the recipe says {expected}.",
                hint="Give the recipe the pack's shapes, or train without begin_with.",
                part=part,
                key=other[0],
                value=there[other[0]],
                expected=shape[other[0]],
            )
    return folder
