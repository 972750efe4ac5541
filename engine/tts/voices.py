"""Voices kept as safetensors, one file a voice: those a person made, and those of a voice pack.

A voice serves the model that made it. The recording is kept beside it, so that another model can
make its own of it.
Invariant: a file is complete or not there (written under a temporary name, then renamed), and
nothing in a file is executed. Files are read only up to a bounded size.
"""

import hashlib
import logging
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as pack

from engine.audio.clips.clip import Clip
from engine.audio.pcm import Pcm
from engine.errors import InvalidInput, ModelError
from engine.settings_file import data_folder
from engine.tts.base import Voice

log = logging.getLogger(__name__)

# A voice is some kB; with a transformer's state after 20 s of prompt some ten MB.
LARGEST_BYTES: Final = 128 * 1024 * 1024
SUFFIX: Final = ".voice.safetensors"
_NAME, _MODEL = "rubato.name", "rubato.model"
_CLIP, _CLIP_RATE = "rubato.clip", "rubato.clip_rate"  # int16 samples, and their rate in Hz
_FULL_SCALE: Final = 32_767
_LONGEST_NAME: Final = 80


@dataclass(frozen=True)
class SavedVoice:
    """A voice in the folder, not loaded. `model` is the TtsInfo.voice_model it was made for;
    `has_clip`: its recording is in the file too.
    """

    name: str
    model: str
    path: Path
    has_clip: bool = False


def folder() -> Path:
    """Where voices are kept; need not exist yet."""
    return data_folder() / "voices"


def save(voice: Voice, into: Path, clip: Clip | None = None) -> SavedVoice:
    """Write a voice to the folder `into`, in place of one of the same name and model; with the
    `clip` it was made of, if that is to be kept.

    InvalidInput for a name that is empty, too long or not printable, or a voice that is too large;
    ModelError when the disk refuses.
    """
    if not _is_name(voice.name):
        raise InvalidInput(
            f"A voice cannot be called {voice.name[:_LONGEST_NAME]!r}.",
            hint=f"Use one to {_LONGEST_NAME} printable characters.",
        )
    metadata = {**voice.metadata, _NAME: voice.name, _MODEL: voice.model}
    tensors = {name: np.ascontiguousarray(t) for name, t in voice.tensors.items()}
    if clip is not None:
        metadata[_CLIP_RATE] = str(clip.sample_rate)
        tensors[_CLIP] = np.rint(np.clip(clip.pcm, -1, 1) * _FULL_SCALE).astype(np.int16)
    content = pack(tensors, metadata)
    if len(content) > LARGEST_BYTES:
        raise InvalidInput(
            f"The voice {voice.name!r} is too large to keep: {len(content) / 2**20:.0f} MB.",
            hint="Make it from a shorter recording.",
        )
    path = into / _file_name(voice)
    try:
        into.mkdir(parents=True, exist_ok=True)
        _write(path, content)
    except OSError as error:
        raise ModelError(
            f"The voice {voice.name!r} could not be saved: {error.strerror or error}.",
            hint=f"Make room or check the folder {into}.",
        ) from error
    return SavedVoice(voice.name, voice.model, path, has_clip=clip is not None)


def load(path: Path) -> Voice:
    """The voice in a file that save() wrote. InvalidInput says what is wrong with any other."""
    saved, metadata = _header(path), _metadata(path)
    tensors = _tensors(path, lambda name: name != _CLIP)
    ours = (_NAME, _MODEL, _CLIP_RATE)
    kept = {key: value for key, value in metadata.items() if key not in ours}
    return Voice(saved.name, saved.model, tensors, kept)


def load_clip(path: Path) -> Clip:
    """The recording kept with a voice (SavedVoice.has_clip). InvalidInput when it is not there."""
    rate = _metadata(path).get(_CLIP_RATE, "")
    tensors = _tensors(path, lambda name: name == _CLIP)
    if _CLIP not in tensors or not re.fullmatch(r"[0-9]{4,6}", rate):
        raise _unreadable(path, "its recording was not kept")
    pcm: Pcm = tensors[_CLIP].astype(np.float32) / np.float32(_FULL_SCALE)
    return Clip(pcm, int(rate))


def saved_voices(within: Path) -> tuple[SavedVoice, ...]:
    """The voices in a folder by name; files that are no voices are left out and logged."""
    found = []
    for path in sorted(within.glob("*" + SUFFIX)):
        try:
            found.append(_header(path))
        except InvalidInput as error:
            log.warning("left out a voice file path=%s reason=%s", path, error.message)
    return tuple(sorted(found, key=lambda saved: (saved.name.casefold(), saved.model)))


def _is_name(text: str) -> bool:
    return bool(text.strip()) and len(text) <= _LONGEST_NAME and text.isprintable()


def _file_name(voice: Voice) -> str:
    """Readable, safe on every file system, and different for different names and models."""
    readable = re.sub(r"[^a-z0-9]+", "-", voice.name.lower()).strip("-")[:40] or "voice"
    identity = hashlib.sha256(f"{voice.name}\0{voice.model}".encode()).hexdigest()[:10]
    return f"{readable}-{identity}{SUFFIX}"


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".voice-", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _tensors(path: Path, wanted: Callable[[str], bool]) -> Mapping[str, npt.NDArray[np.generic]]:
    try:
        with safe_open(path, framework="numpy") as file:  # type: ignore[no-untyped-call]
            return {
                name: file.get_tensor(name)
                for name in file.keys()  # noqa: SIM118  not a dict
                if wanted(name)
            }
    except (OSError, SafetensorError, TypeError) as error:
        raise _unreadable(path, str(error)) from error


def _header(path: Path) -> SavedVoice:
    metadata = _metadata(path)
    if not _is_name(metadata.get(_NAME, "")) or not _is_name(metadata.get(_MODEL, "")):
        raise _unreadable(path, "it does not say whose voice it is")
    return SavedVoice(metadata[_NAME], metadata[_MODEL], path, _CLIP_RATE in metadata)


def _metadata(path: Path) -> dict[str, str]:
    try:
        size = path.stat().st_size
        if size > LARGEST_BYTES:
            raise _unreadable(path, f"it is {size / 2**20:.0f} MB large")
        with safe_open(path, framework="numpy") as file:  # type: ignore[no-untyped-call]
            return dict(file.metadata() or {})
    except (OSError, SafetensorError) as error:
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, reason: str) -> InvalidInput:
    return InvalidInput(
        f"The voice file {path.name} cannot be used: {reason}.",
        hint="Add the voice again from its recording.",
    )
