"""Load VoXtream2 according to the settings: device, precision and files."""

import os
from contextlib import closing
from pathlib import Path
from typing import Final

import numpy as np
import torch

from engine.audio.clips.clip import Clip
from engine.errors import ModelError
from engine.nn.packed.quantise import Precision
from engine.settings import SpeechSettings
from engine.settings_file import data_folder
from engine.translatable import Progress, Translatable
from engine.tts.base import AudioFrame, TtsModel
from engine.tts.papers.synthesiser import speech_device
from engine.tts.voxtream.edition import EDITIONS, Edition
from engine.tts.voxtream.files.checkpoint import Target, precision_on
from engine.tts.voxtream.files.pack import load_pack
from engine.tts.voxtream.files.paths import PUBLISHED, VOXTREAM2, own_folder, pack_folder
from engine.tts.voxtream.files.pick import find_pick
from engine.tts.voxtream.files.published import WEIGHTS
from engine.tts.voxtream.synthesiser import (
    Files,
    VoxtreamSynthesiser,
    load_published,
)

MIMI_FILE: Final = "tokenizer-e351c8d8-checkpoint125.safetensors"
SPEAKER_FILE: Final = "M-vb2+vox2+cnc-ft_mix.pt"
BFLOAT16_CAPABILITY: Final = (8, 0)
_PROMPT_TEXT: Final = "The boat left the harbour in the morning, and nobody on the shore saw it go."


def load(settings: SpeechSettings, progress: Progress) -> TtsModel:
    """Load the model for these settings. ModelError when files are missing or unusable."""
    place = target(settings.device)
    return _load(EDITIONS[settings.engine], _precision(place), place, progress)


def load_to_measure(device: str, precision: str) -> TtsModel:
    """Load the best fetched edition in a named precision, to measure its speed. ModelError when the
    device is missing, or files are missing or damaged.
    """
    edition = next((name for name in PUBLISHED if _missing(_files(name)) is None), VOXTREAM2)
    place = target(device)
    wanted = Precision.FLOAT if place.device.type == "cuda" else Precision(precision)
    return _load(EDITIONS[edition], wanted, place, lambda text, fraction: None)


def _load(
    edition: Edition, precision: Precision, place: Target, progress: Progress
) -> VoxtreamSynthesiser:
    # Torch's own work beside the packed products is small: on two busy cores a second thread made
    # the codec cost 111 ms of CPU a frame instead of 21.
    torch.set_num_threads(place.threads if precision is Precision.FLOAT else 1)
    files = _files(edition.name)
    if missing := _missing(files):
        raise ModelError(
            "The neural voice needs {file}, which is not on this machine.",
            hint="Fetch it with: {command}",
            file=missing.name,
            command=f"rubato models get {edition.name}",
        )
    progress(Translatable("Loading {name}", name=PUBLISHED[edition.name]), None)
    return load_published(files, edition, precision, place, _formant_clip)


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


def _files(edition: str) -> Files:
    """Return the paths of an edition's fetched files."""
    models = data_folder() / "models"
    return Files(
        model=models / edition,
        mimi=models / "mimi" / MIMI_FILE,
        speaker=models / "redimnet" / SPEAKER_FILE,
    )


def _missing(files: Files) -> Path | None:
    """Return the first missing file; None when all exist."""
    wanted = (files.model / WEIGHTS, files.mimi, files.speaker)
    return next((file for file in wanted if not file.is_file()), None)


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
