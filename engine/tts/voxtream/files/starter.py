"""The voice that comes with the program: which pack speaks, where it runs, what is said without it.

A person who trained a pack of their own puts it into the data folder; it goes before the shipped
one. Invariant: a pack that is not whole is a ModelError that says what to do, never half a voice.
"""

from pathlib import Path

import torch

from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.translatable import Translatable
from engine.tts.base import Progress, TtsModel
from engine.tts.voxtream.config import FULL, STARTER
from engine.tts.voxtream.files.loading import target
from engine.tts.voxtream.files.pack import load_pack
from engine.tts.voxtream.files.place import own_folder, pack_folder


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


def _advice(folder: Path) -> str:
    if folder == own_folder():
        return Translatable(
            "Make the pack again or remove {folder}: then the shipped one speaks.", folder=folder
        )
    return Translatable("Install the program again.")
