"""Stand-ins for the fetched files of Kokoro: enough to list its voices and to mix them."""

import numpy as np

from engine.tts.kokoro import place
from engine.tts.kokoro.voices import ENGLISH_NAMES, FILES, NAMES


def write_kokoro(*, english_only: bool = False) -> None:
    """A model of no bytes, and voices: all numbers of the voice of a name are those of
    number_of().
    """
    place.model_file().parent.mkdir(parents=True)
    place.model_file().touch()
    place.voices_folder().mkdir(parents=True)
    for name in ENGLISH_NAMES if english_only else NAMES:
        styles = np.full((510, 256), number_of(name), np.float32)
        (place.voices_folder() / f"{FILES[name]}.bin").write_bytes(styles.tobytes())


def number_of(name: str) -> float:
    """What the style of a voice is full of."""
    return NAMES.index(name) / 400 + 0.1
