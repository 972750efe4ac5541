"""Load VoXtream2 according to the settings (device, precision and files), and a voice pack of our
own: the published model's code, configured by files in one folder.

    config.json   shapes, generation, rate table          phones.json   ids of phones
    voice.safetensors   codec.safetensors   speaker.safetensors   voices/   CARD.md

Invariant: a pack is loaded entirely or refused with a ModelError that names the file. It cannot
change the published checkpoint.
"""

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch

from engine.assets.pickle_file import read_pickle
from engine.audio.clips.clip import Clip
from engine.codec.mimi import load_mimi
from engine.codec.small import load_small
from engine.errors import ModelError
from engine.machine import return_freed_memory
from engine.nn.packed.product_graph import Precision
from engine.nn.weights_file import REFETCH, check_finite, check_number, check_shapes
from engine.settings import SpeechSettings
from engine.settings_file import data_folder
from engine.text.phonemes import Espeak
from engine.translatable import Progress, Translatable
from engine.tts.base import AudioFrame, TtsModel
from engine.tts.pack_files import PHONES_FILE, VOICE_FILE, named_voices, read_config
from engine.tts.packs import CODEC_FILE, CONFIG_FILE, SPEAKER_FILE, edition_of
from engine.tts.papers.synthesiser import speech_device
from engine.tts.phones import read_table
from engine.tts.speaker.redimnet import ReDimNet
from engine.tts.speaker.small import load_small_speaker
from engine.tts.voxtream.config import (
    DURATION_TOKENS,
    EDITIONS,
    Edition,
    ModelConfig,
    VoxtreamGeneration,
    check_shape,
)
from engine.tts.voxtream.files.checkpoint import PublishedFile, Target, load_weights, precision_on
from engine.tts.voxtream.files.paths import PUBLISHED, VOXTREAM2, own_folder, pack_folder
from engine.tts.voxtream.files.pick import find_pick
from engine.tts.voxtream.files.published import WEIGHTS, espeak_of, read_published
from engine.tts.voxtream.rate import RATE, RateTarget
from engine.tts.voxtream.session import VoxtreamParts
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser, encode

MIMI_FILE: Final = "tokenizer-e351c8d8-checkpoint125.safetensors"
ENCODER_FILE: Final = "M-vb2+vox2+cnc-ft_mix.pt"
BFLOAT16_CAPABILITY: Final = (8, 0)
_PROMPT_TEXT: Final = "The boat left the harbour in the morning, and nobody on the shore saw it go."
_CLASSIFIER: Final = "cls_head."  # classifies the speakers of the training; not used for vectors


@dataclass(frozen=True)
class VoxtreamPackConfig:
    """Contents of a pack's config.json."""

    name: str
    shape: ModelConfig
    generation: VoxtreamGeneration
    rates: Mapping[float, RateTarget]

    def check(self) -> None:
        """Raise ValueError for values that do not fit each other."""
        shape = self.shape
        for rate in self.rates:
            check_number("rate", rate, RATE)
        if not self.rates or any(
            len(target.counts) != shape.duration_tokens for target in self.rates.values()
        ):
            raise ValueError("its rate table does not fit its duration tokens")
        if shape.duration_tokens != len(DURATION_TOKENS):
            raise ValueError("it has other duration tokens")
        if self.generation.lowest_rate > self.generation.highest_rate:
            raise ValueError("its 'lowest_rate' is above its 'highest_rate'")
        if self.generation.top_codes > shape.codes:
            raise ValueError(f"'top_codes' is {self.generation.top_codes} of {shape.codes} codes")
        check_shape(shape)


def load_pack(folder: Path, precision: Precision, target: Target) -> VoxtreamSynthesiser:
    """Load the pack's model and named voices. ModelError names a missing or wrong file."""
    config = read_config(folder / CONFIG_FILE, VoxtreamPackConfig)
    shape = config.shape
    table = read_table(folder / PHONES_FILE, shape.phone_vocabulary)
    with PublishedFile(folder / VOICE_FILE, shape) as weights:
        model = load_weights(weights, shape, config.generation, precision, target)
    codec = load_small(folder / CODEC_FILE, target.device)
    codec.tune()
    speaker = load_small_speaker(folder / SPEAKER_FILE)
    edition = edition_of(folder)
    parts = VoxtreamParts(config.generation, model, codec, table, Espeak(), config.rates)
    pack_voices = named_voices(folder, f"{config.name} {edition}")
    return_freed_memory()
    return VoxtreamSynthesiser(parts, speaker, pack_voices, config.name, edition=edition)


def load(settings: SpeechSettings, progress: Progress) -> TtsModel:
    """Load the model for these settings. ModelError when files are missing or unusable."""
    place = target(settings.device)
    return _load(EDITIONS[settings.engine], _precision(place), place, progress)


def load_to_measure(device: str, precision: str) -> TtsModel:
    """Load the best fetched edition in a named precision, to measure its speed. ModelError when the
    device is missing, or files are missing or damaged.
    """
    edition = next((name for name in PUBLISHED if _missing(name) is None), VOXTREAM2)
    place = target(device)
    wanted = Precision.FLOAT if place.device.type == "cuda" else Precision(precision)
    return _load(EDITIONS[edition], wanted, place, lambda text, fraction: None)


def _load(
    edition: Edition, precision: Precision, place: Target, progress: Progress
) -> VoxtreamSynthesiser:
    """Load a published model. It has no voice of its own: one is made of the formant voice."""
    # Torch's own work beside the packed products is small: on two busy cores a second thread made
    # the codec cost 111 ms of CPU a frame instead of 21.
    torch.set_num_threads(place.threads if precision is Precision.FLOAT else 1)
    if missing := _missing(edition.name):
        raise ModelError(
            "The neural voice needs {file}, which is not on this machine.",
            hint="Fetch it with: {command}",
            file=missing.name,
            command=f"rubato models get {edition.name}",
        )
    progress(Translatable("Loading {name}", name=PUBLISHED[edition.name]), None)
    weights_file, mimi_file, speaker_file = _files(edition.name)
    folder = weights_file.parent
    published = read_published(folder, edition)
    shape, edition = published.shape, published.edition
    espeak = espeak_of(folder, published.language)
    with PublishedFile(weights_file, shape) as weights:
        model = load_weights(weights, shape, edition.generation, precision, place)
    mimi = load_mimi(mimi_file, shape.codebooks, place.device)
    speaker = load_speaker_encoder(speaker_file)
    clip, loudness = _formant_clip(), edition.loudness
    voice = encode(clip.pcm, clip.sample_rate, mimi, speaker, edition.name, loudness)
    mimi.tune()
    return_freed_memory()
    parts = VoxtreamParts(
        edition.generation, model, mimi, published.table, espeak, edition.rates, loudness
    )
    return VoxtreamSynthesiser(parts, speaker, (replace(voice, name="formant"),), edition.name)


def target(device: str, threads: int = 2) -> Target:
    """Return the target for a device of speech_device(), with at most `threads` threads
    on the CPU.
    """
    place = speech_device(device)
    if place.type == "cuda":
        # Cards before Ampere (Turing is 7.5) compute bfloat16 in software or not at all; in float16
        # weights that were trained in bfloat16 may overflow.
        modern = torch.cuda.get_device_capability() >= BFLOAT16_CAPABILITY
        return Target(place, torch.bfloat16 if modern else torch.float32, threads=1)
    # The window and the audio devices need the other cores.
    return Target(place, torch.float32, threads=min(threads, os.cpu_count() or 1))


def _precision(place: Target) -> Precision:
    """Return the precision that `rubato bench` picked for this device, else that of
    precision_on().
    """
    picked = find_pick(data_folder(), place.device.type)
    return Precision.FLOAT if picked == Precision.FLOAT.value else precision_on(place)


def _files(edition: str) -> tuple[Path, Path, Path]:
    """Return the paths of an edition's fetched files: weights, codec, speaker encoder."""
    models = data_folder() / "models"
    return (
        models / edition / WEIGHTS,
        models / "mimi" / MIMI_FILE,
        models / "redimnet" / ENCODER_FILE,
    )


def _missing(edition: str) -> Path | None:
    """Return the first missing file; None when all exist."""
    return next((file for file in _files(edition) if not file.is_file()), None)


def load_speaker_encoder(file: Path) -> ReDimNet:
    """Load the published .pt file, whose catalogue entry pins its contents, without executing code
    in it. ModelError names file, key, and expected and actual value.
    """
    content = read_pickle(file, Translatable("The speaker encoder"), REFETCH)
    model = ReDimNet()
    try:
        tensors = {
            key: each
            for key, each in content["state_dict"].items()
            if not key.startswith(_CLASSIFIER)
        }
        expected = {key: each.shape for key, each in model.state_dict().items()}
        check_shapes(expected, {key: each.shape for key, each in tensors.items()})
        check_finite(tensors.items())
    except (AttributeError, KeyError, ValueError) as error:
        raise ModelError(
            "{file} cannot be used: {error}.", hint=REFETCH, file=file, error=error
        ) from error
    model.load_state_dict(tensors)
    return model.eval().requires_grad_(False)


def _formant_clip() -> Clip:
    """Return a few seconds of the formant voice: the prompt of the model's own voice."""
    from engine.tts.espeak.model import EspeakModel  # loads libespeak-ng

    with closing(EspeakModel()) as model, model.open(model.voices()[0], seed=0) as session:
        for word in _PROMPT_TEXT.split():
            session.push_word(word)
        session.end_input()
        frames = []
        while isinstance(step := session.step(), AudioFrame):
            frames.append(step.pcm)
        rate = model.info.sample_rate
    return Clip(np.concatenate(frames), rate)


def load_starter(settings: SpeechSettings, progress: Progress) -> TtsModel:
    """Load the starter voice. ModelError when its pack is missing or damaged."""
    progress(Translatable("Loading the starter voice"), None)
    folder = pack_folder()
    # One thread: a frame's products are so small that a second one costs more than it saves.
    place = target("cpu" if settings.device == "auto" else settings.device, threads=1)
    torch.set_num_threads(place.threads)
    try:
        return load_pack(folder, precision_on(place), place)
    except ModelError as error:
        hint = Translatable("Install the program again.")
        if folder == own_folder():
            hint = Translatable(
                "Make the pack again or remove {folder}: then the shipped one speaks.",
                folder=folder,
            )
        raise ModelError(error.message, hint=hint) from error
