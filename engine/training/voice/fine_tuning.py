"""Fine-tuning: a pack's voice is trained further, and so are its codes, its decoder and its speaker
encoder if the recipe gives them a schedule; else they stay as they are.

So a voice can be fine-tuned on a person's own recordings, or trained further when the checkpoints
of its first training are gone. Voices cloned with that pack stay valid as long as its codes and
speaker encoder stay. Invariant: the recipe's shapes are the pack's, or InvalidInput names both;
only of codebooks may there be more, behind those of the pack, if the codes are trained.
"""

import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from engine.codec.small import read_config
from engine.errors import InvalidInput
from engine.nn.weights_file import SHAPE_KEY
from engine.training import checkpoints
from engine.training.codec.stage import shipped_config
from engine.training.recipe import Network, Recipe
from engine.training.run import Run, file_hash, read_json
from engine.training.voice.model import model_config
from engine.training.voice.speaker import config_of as speaker_config
from engine.tts import voices
from engine.tts.phones import MARKS
from engine.tts.speaker.small import load_small_speaker
from engine.tts.voxtream.config import FULL
from engine.tts.voxtream.files import pack
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights

TAKEN: Final = {
    "codec": (pack.CODEC_FILE, "codec.safetensors"),
    "decoder": (pack.CODEC_FILE, "codec.safetensors"),
    "speaker": (pack.SPEAKER_FILE, "speaker.safetensors"),
}
"""Stages whose weights come from the pack, with the file in the pack and that of the stage."""


def is_taken(recipe: Recipe, stage: str) -> bool:
    """Whether a stage has nothing to learn: it is one of TAKEN and has no schedule."""
    parts: dict[str, Network] = {
        "codec": recipe.codec,
        "decoder": recipe.decoder,
        "speaker": recipe.speaker,
    }
    return recipe.begin_with != "" and stage in TAKEN and parts[stage].schedule.steps == 0


def learns_on(recipe: Recipe) -> bool:
    """Whether the voice begins with the pack's weights, and not with new ones."""
    return recipe.begin_with != "" and not recipe.fresh_voice


def has_taken(run: Run, stage: str) -> bool:
    """Finish a stage with the pack's weights if it has nothing to learn. InvalidInput, before hours
    are spent, when the pack does not fit.
    """
    if not run.recipe.begin_with:
        return False
    fitting(run.recipe)
    if is_taken(run.recipe, stage):
        take(run, stage)
        return True
    return False


def take(run: Run, stage: str) -> None:
    """Finish a stage of TAKEN with the pack's weights. InvalidInput when they do not fit."""
    corpus = run.require("corpus")
    folder = fitting(run.recipe)
    source, target = TAKEN[stage]
    partial = run.stage(stage) / (target + ".partial")
    shutil.copyfile(folder / source, partial)
    partial.replace(run.stage(stage) / target)
    run.finish(stage, {**corpus, source: file_hash(folder / source)}, taken_from=str(folder))


def phones(recipe: Recipe) -> dict[str, int]:
    """Ids of the pack's phones, without marks: the meaning of its embeddings."""
    table = read_json(fitting(recipe) / pack.PHONES_FILE)
    return {phone: number for phone, number in table.items() if phone not in MARKS}


def weights(recipe: Recipe, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The pack's voice by the model's own keys, fp32 on the CPU; what only `own` has, for codebooks
    that the pack lacks, is that of `own`."""
    folder = fitting(recipe)
    config = pack.read_pack_config(folder / pack.CONFIG_FILE)
    target = Target(torch.device("cpu"), torch.float32, threads=1)
    with PublishedFile(folder / pack.VOICE_FILE, config.shape) as file:
        taken = load_weights(file, config.shape, config.generation, FULL, target).state_dict()
    # A table of all codebooks has the rows of the first one first, one of all tokens VoXtream's.
    return {
        key: torch.cat((taken[key][: len(value)], value[len(taken[key]) :]))
        if key in taken
        else value
        for key, value in own.items()
    }


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
    codec = folder / pack.CODEC_FILE
    asked_of = {
        "voice": asdict(model_config(recipe.voice, recipe.codec, recipe.speaker)),
        "codec": asdict(shipped_config(recipe)),
        "speaker": asdict(speaker_config(recipe.speaker)),
    }
    if recipe.fresh_voice:
        del asked_of["voice"]
    else:
        del asked_of["voice"]["duration_tokens"]  # VoXtream's are the first of VoXtream2's
    for key in ("phones", "decoder_blocks", "decoder_layers", "encodes"):
        del asked_of["codec"][key]  # a decoder that learns may be another, and be told phones
    found_in: dict[str, dict[str, Any]] = {
        "voice": asdict(pack.read_pack_config(folder / pack.CONFIG_FILE).shape),
        "codec": asdict(read_config(checkpoints.metadata(codec).get(SHAPE_KEY, ""), codec)),
        "speaker": asdict(load_small_speaker(folder / pack.SPEAKER_FILE).config),
    }
    if recipe.codec.schedule.steps:
        for part in asked_of.keys() - {"speaker"}:
            books = found_in[part]["codebooks"]
            asked_of[part]["codebooks"] = min(books, recipe.codec.codebooks)
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
