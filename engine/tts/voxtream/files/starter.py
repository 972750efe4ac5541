"""The voice that comes with the program: which pack speaks, where it runs, what is said without it.

A person who trained a pack of their own puts it into the data folder; it goes before the shipped
one. Invariant: a pack that is not whole is a ModelError that says what to do, never half a voice.
"""

from pathlib import Path
from typing import Final

import torch

from engine.errors import EngineError, ModelError
from engine.resources import resource
from engine.settings import SpeechSettings
from engine.settings_file import data_folder
from engine.tts.base import Progress, TtsModel
from engine.tts.voxtream.config import FULL, STARTER
from engine.tts.voxtream.files.loading import target
from engine.tts.voxtream.files.pack import load_pack

NAME: Final = "starter"


def load(settings: SpeechSettings, progress: Progress) -> TtsModel:
    """The starter voice. ModelError when its pack is missing or damaged.

    The profile of the settings is the full-size voice's matter; this one has its own.
    """
    progress("Loading the starter voice", None)
    folder = pack_folder()
    # One thread: a frame's products are so small that a second one costs more than it brings.
    place = target("cpu" if settings.device == "auto" else settings.device, threads=1)
    torch.set_num_threads(place.threads)
    try:
        # Packed products run on the CPU only.
        return load_pack(folder, STARTER if place.device.type == "cpu" else FULL, place)
    except ModelError as error:
        raise ModelError(error.message, hint=_advice(folder)) from error


def own_folder() -> Path:
    """Where a person's own pack goes; need not exist."""
    return data_folder() / "models" / NAME


def pack_folder() -> Path:
    """The folder of the pack that speaks. ModelError when there is none."""
    if own_folder().is_dir():
        return own_folder()
    try:
        return resource(NAME)
    except EngineError as error:
        raise ModelError(
            "The starter voice is missing from this installation.",
            hint="Install the program again, or choose eSpeak NG in the settings "
            "(speech.engine = 'espeak').",
        ) from error


def _advice(folder: Path) -> str:
    if folder == own_folder():
        return f"Make the pack again or remove {folder}: then the shipped one speaks."
    return "Install the program again."
