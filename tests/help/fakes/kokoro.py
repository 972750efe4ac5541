"""Substitutes for the fetched files of Kokoro, enough to list its voices and to mix them."""

from pathlib import PurePosixPath
from typing import Final

import numpy as np

from engine.assets.catalogue import find
from engine.tts.kokoro import paths

ENGLISH: Final = [PurePosixPath(file.path).stem for file in find("kokoro-voices").files]


def write_kokoro() -> None:
    """Write an empty model file, and voices: all numbers of voice n of ENGLISH are number_of() its
    name.
    """
    paths.model_file().parent.mkdir(parents=True)
    paths.model_file().touch()
    paths.voices_folder().mkdir(parents=True)
    for name in ENGLISH:
        styles = np.full((510, 256), number_of(name[3:].capitalize()), np.float32)
        (paths.voices_folder() / f"{name}.bin").write_bytes(styles.tobytes())


def number_of(name: str) -> float:
    """Return the number that fills the style of a voice."""
    return [each[3:].capitalize() for each in ENGLISH].index(name) / 400 + 0.1
