"""Substitutes for the fetched files of Kokoro, enough to list its voices and to mix them."""

import numpy as np

from engine.tts.kokoro.voices import ENGLISH_NAMES, FILES, NAMES, model_file, voices_folder


def write_kokoro(*, english_only: bool = False) -> None:
    """Write an empty model file, and voices: all numbers of the voice of a name are those of
    number_of().
    """
    model_file().parent.mkdir(parents=True)
    model_file().touch()
    voices_folder().mkdir(parents=True)
    for name in ENGLISH_NAMES if english_only else NAMES:
        styles = np.full((510, 256), number_of(name), np.float32)
        (voices_folder() / f"{FILES[name]}.bin").write_bytes(styles.tobytes())


def number_of(name: str) -> float:
    """Return the number that fills the style of a voice."""
    return NAMES.index(name) / 400 + 0.1
