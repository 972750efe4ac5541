"""Kokoro's English voices: names, how they sound, and their styles.

A style is a vector of 256 numbers: 128 of timbre, then 128 of prosody. The published files have one
for each number of symbols; which of them is taken made no difference (rows 30, 60 or by length), so
a voice here has the one of _ROW, and a mixture of voices is the mean of their vectors.
"""

from pathlib import Path
from typing import Final

import numpy as np

from engine.errors import InvalidInput, ModelError
from engine.tts.base import Voice
from engine.tts.kokoro.parts import AGAIN, Floats

NAME: Final = "kokoro"  # of the synthesiser
MAKING: Final = "resembling 1"  # raise when resemblance.py or the cutting of recordings changes
STYLE: Final = "style"  # of a voice's tensors
AMERICAN, BRITISH = "en-us", "en-gb"  # as espeak-ng calls them
_LANGUAGE: Final = "language"  # of a voice's metadata
_ROWS, _WIDTH, _ROW = 510, 256, 60
_WIDEST: Final = 10.0  # no number of a style is near it
# The publisher's files, the first six first; how much speech a voice was trained on decides most,
# says the publisher, whose grades (A to F) stand at the end.
_FILES: Final = {
    "af_heart": "warm, A", "am_michael": "even, C+", "bf_emma": "clear, B-",
    "bm_george": "deep, C", "af_bella": "lively, A-", "am_fenrir": "firm, C+",
    "af_alloy": "sober, C", "af_aoede": "bright, C+", "af_jessica": "young, D",
    "af_kore": "calm, C+", "af_nicole": "whispering, B-", "af_nova": "plain, C",
    "af_river": "soft, D", "af_sarah": "friendly, C+", "af_sky": "airy, C-",
    "am_adam": "low, F+", "am_echo": "plain, D", "am_eric": "brisk, D", "am_liam": "young, D",
    "am_onyx": "deep, D", "am_puck": "cheerful, C+", "am_santa": "old, D-", "bf_alice": "formal, D",
    "bf_isabella": "gentle, C", "bf_lily": "airy, D", "bm_daniel": "formal, D",
    "bm_fable": "storytelling, C", "bm_lewis": "low, D+",
}  # fmt: skip
_PEOPLE: Final = {"f": "woman", "m": "man"}
_COUNTRIES: Final = {"a": ("American", AMERICAN), "b": ("British", BRITISH)}
ABOUT: Final = {  # by name
    file[3:].capitalize(): f"{_COUNTRIES[file[0]][0]} {_PEOPLE[file[1]]}, "
    + how.replace(", ", ", publisher's grade ")
    for file, how in _FILES.items()
}
NAMES: Final = tuple(ABOUT)


def read_voices(folder: Path) -> tuple[Voice, ...]:
    """The published voices. ModelError names a file that is missing or damaged."""
    return tuple(_read(folder, file) for file in _FILES)


def style_of(voice: Voice) -> Floats:
    """Its style [1, 256]. InvalidInput for a voice that has none."""
    style = np.asarray(voice.tensors.get(STYLE, np.zeros(0)), np.float32).reshape(1, -1)
    if style.shape[1] != _WIDTH or not np.abs(style).max() < _WIDEST:
        raise InvalidInput(
            f"The voice {voice.name!r} holds no style of Kokoro's.", hint="Make it again."
        )
    return style


def is_british(voice: Voice) -> bool:
    """Whether it speaks with British phones."""
    return voice.metadata.get(_LANGUAGE) == BRITISH


def blend(name: str, parts: tuple[tuple[Voice, float], ...], **metadata: str) -> Voice:
    """A voice between others, each with its share (0 or more, not all 0); it speaks the English of
    the one with the largest share.
    """
    shares = np.array([share for _, share in parts])
    styles = np.concatenate([style_of(voice) for voice, _ in parts])
    style = (shares / shares.sum()) @ styles
    largest = parts[int(shares.argmax())][0]
    language = {_LANGUAGE: largest.metadata.get(_LANGUAGE, AMERICAN)}
    return Voice(name, NAME, {STYLE: style.astype(np.float32)}, {**language, **metadata})


def _read(folder: Path, file_name: str) -> Voice:
    file, name = folder / f"{file_name}.bin", file_name[3:].capitalize()
    try:
        styles = np.fromfile(file, dtype="<f4")
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror}.", hint=AGAIN) from error
    if styles.size != _ROWS * _WIDTH or not np.abs(styles).max() < _WIDEST:
        raise ModelError(f"{file} is not a voice of Kokoro's, or it is damaged.", hint=AGAIN)
    style = styles.reshape(_ROWS, _WIDTH)[_ROW]
    about = {"description": ABOUT[name], _LANGUAGE: _COUNTRIES[file_name[0]][1]}
    return Voice(name, NAME, {STYLE: style}, about)
