"""Files of voices (safetensors, one file for each voice): those a person made, and those of a pack.

A voice can only be used with the model that made it. The recording is in the same file, so that
another model can make its own voice from it. Invariant: a file is complete or missing (written
under a temporary name, then renamed), and nothing in a file is executed. Files are read only up to
a bounded size.
"""

import hashlib
import logging
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as pack

from engine.atomic_write import replace_file
from engine.audio.clips.clip import Clip, snr_db
from engine.audio.pcm import Pcm
from engine.errors import InvalidInput, ModelError
from engine.languages import ENGLISH
from engine.settings_file import data_folder
from engine.translatable import Translatable, mark
from engine.tts.base import Voice, language_code

log = logging.getLogger(__name__)

# A voice has some kB; with a transformer's state after 20 s of prompt some ten MB.
LARGEST_BYTES: Final = 128 * 1024 * 1024
# Keys of a voice's metadata.
ABOUT: Final = "description"  # its sound or its parts
MIXED: Final = "mixed_of"  # voices and their shares, of a mixture
MAKING, NEAREST = "making", "nearest"  # its recipe; the largest part of a blend
RECORDING: Final = "clip_sha256"  # Clip.digest of its recording
_REFUSED: Final = {
    "saved": mark("The voice '{name}' could not be saved: {error}."),
    "moved": mark("The voice file {name} could not be moved: {error}."),
    "noted": mark("What you chose for the voice could not be kept: {error}."),
}
_LONGEST_ABOUT: Final = 200  # characters
LEARNT_FOLDER: Final = "learnt"  # within that of voices: learnt voices that wait to be chosen
SUFFIX: Final = ".voice.safetensors"
_NAME, _MODEL = "rubato.name", "rubato.model"
_CLIP, _CLIP_RATE = "rubato.clip", "rubato.clip_rate"  # int16 samples, and their rate in Hz
_CLIP_S, _CLIP_SNR = "rubato.clip_seconds", "rubato.clip_snr_db"
_PACE = "rubato.pace"  # SPS; in a file that was exported
_OURS: Final = (_NAME, _MODEL, _CLIP_RATE, _CLIP_S, _CLIP_SNR, _PACE)
_FULL_SCALE: Final = 32_767
_LONGEST_NAME: Final = 80
_LARGEST_HEADER: Final = 1_000_000  # bytes; ours are some hundred
_MOST_TENSORS: Final = 256
_LONGEST_CLIP_S: Final = 60.0
_CLIP_RATES: Final = (4_000, 384_000)  # Hz
_NUMBER: Final = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,4})?")  # with few digits


@dataclass(frozen=True)
class SavedVoice:
    """The header of a saved voice. `model`: the TtsInfo.voice_model it was made for. `has_clip`:
    the file holds its recording, with this length and signal-to-noise ratio (None = unknown).
    `pace`: the default pace (SPS) it was exported with. `about`: its description, `recipe_version`:
    of the recipe it was made by, `nearest`: the largest part of a blend, `recording`: the
    Clip.digest of its recording; empty = unknown.
    """

    name: str
    model: str
    path: Path
    has_clip: bool = False
    clip_s: float | None = None
    snr_db: float | None = None
    pace: float | None = None
    about: str = ""
    recipe_version: str = ""
    nearest: str = ""
    recording: str = ""
    language: str = ENGLISH


def folder() -> Path:
    """Return the folder of the person's voices, which need not exist yet."""
    return data_folder() / "voices"


def save(voice: Voice, into: Path, clip: Clip | None = None) -> SavedVoice:
    """Write a voice to the folder `into`, replacing one of the same name and model, with the `clip`
    it was made from, if given.

    InvalidInput for a name that is empty, too long or not printable, or a voice that is too large;
    ModelError when the disk refuses.
    """
    return save_as(voice, into / file_name(voice.name, voice.model), clip)


def save_as(
    voice: Voice, path: Path, clip: Clip | None = None, *, pace: float | None = None
) -> SavedVoice:
    """Save a voice as save() does, but to any path and with a default pace (SPS)."""
    check_name(voice.name)
    metadata = {**voice.metadata, _NAME: voice.name, _MODEL: voice.model}
    tensors = {name: np.ascontiguousarray(t) for name, t in voice.tensors.items()}
    if clip is not None:
        metadata |= {
            _CLIP_RATE: str(clip.sample_rate),
            _CLIP_S: f"{clip.seconds:.2f}",
            _CLIP_SNR: f"{snr_db(clip):.1f}",
        }
        tensors[_CLIP] = np.rint(np.clip(clip.pcm, -1, 1) * _FULL_SCALE).astype(np.int16)
    if pace is not None:
        metadata[_PACE] = f"{pace:g}"
    content = pack(tensors, metadata)
    if len(content) > LARGEST_BYTES:
        raise InvalidInput(
            "The voice '{name}' is too large to keep: {size} MB.",
            hint="Make it from a shorter recording.",
            name=voice.name,
            size=f"{len(content) / 2**20:.0f}",
        )
    with disk_errors("saved", path, voice.name):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)
    return _saved(metadata, path)


@contextmanager
def disk_errors(action: str, path: Path, name: str = "") -> Iterator[None]:
    """Turn an OSError about a file into a ModelError. `action`: a key of _REFUSED."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            _REFUSED[action],
            hint="Make room or check the folder {folder}.",
            name=name or path.name,
            error=error.strerror or error,
            folder=path.parent,
        ) from error


def folded(name: str) -> str:
    """Normalise a name: case and composition of accents make no difference."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def same(one: str, other: str) -> bool:
    """Return whether two names are equal but for their case."""
    return folded(one) == folded(other)


def check_name(name: str) -> None:
    """Raise InvalidInput for a name that no voice can have."""
    if not _is_name(name):
        raise InvalidInput(
            "A voice cannot be called '{name}'.",
            hint="Use one to {count} printable characters.",
            name=name[:_LONGEST_NAME],
            count=_LONGEST_NAME,
        )


def load(path: Path) -> Voice:
    """Load a voice from a file of save(). InvalidInput names the fault of any other file."""
    saved, metadata = header(path), _metadata(path)
    tensors = _tensors(path, lambda name: name != _CLIP)
    others = {key: value for key, value in metadata.items() if key not in _OURS}
    return Voice(saved.name, saved.model, tensors, others)


def load_clip(path: Path) -> Clip:
    """Load the recording in a voice's file. InvalidInput if there is none (SavedVoice.has_clip)."""
    rate = _metadata(path).get(_CLIP_RATE, "")
    samples = _tensors(path, lambda name: name == _CLIP).get(_CLIP)
    if samples is None or not re.fullmatch(r"[0-9]{4,6}", rate):
        raise _unreadable(path, Translatable("its recording was not kept"))
    longest = _LONGEST_CLIP_S * int(rate)
    whole = samples.dtype == np.int16 and samples.ndim == 1 and 0 < samples.size <= longest
    if not whole or not _CLIP_RATES[0] <= int(rate) <= _CLIP_RATES[1]:
        raise _unreadable(path, Translatable("its recording is damaged"))
    pcm: Pcm = samples.astype(np.float32) / np.float32(_FULL_SCALE)
    return Clip(pcm, int(rate))


def saved_voices(within: Path | None = None) -> tuple[SavedVoice, ...]:
    """Return the voices in a folder (None = the person's) by name. Other files are logged."""
    headers = []
    for path in sorted((within or folder()).glob("*" + SUFFIX)):
        try:
            headers.append(header(path))
        except InvalidInput as error:
            log.warning("left out a voice file path=%s reason=%s", path, error.message)
    return tuple(sorted(headers, key=lambda file: (folded(file.name), file.model)))


def called(name: str, within: Path | None = None) -> list[SavedVoice]:
    """Return the voices of this name in a folder (None = the person's), one for each model."""
    return [file for file in saved_voices(within) if same(file.name, name)]


def with_recording(name: str, within: Path | None = None, model: str = "") -> SavedVoice:
    """Find a voice that the person made, with its recording; of `model`, if given. InvalidInput if
    the voice or the recording is missing.
    """
    files = [file for file in called(name, within) if model in ("", file.model)]
    for file in files:
        if file.has_clip and (file.recording or not model):
            return file
    if files:
        raise InvalidInput(
            "The recording of '{name}' was not kept.", hint="Add the recording again.", name=name
        )
    raise InvalidInput("There is no voice called '{name}' that you made.", name=name)


def _is_name(text: str) -> bool:
    return bool(text.strip()) and len(text) <= _LONGEST_NAME and text.isprintable()


def file_name(name: str, model: str) -> str:
    """Return a readable file name, safe on every file system and unique for a name and model."""
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "voice"
    identity = hashlib.sha256(f"{name}\0{model}".encode()).hexdigest()[:10]
    return f"{readable}-{identity}{SUFFIX}"


def _tensors(path: Path, wants: Callable[[str], bool]) -> Mapping[str, npt.NDArray[np.generic]]:
    try:
        with safe_open(path, framework="numpy") as file:  # type: ignore[no-untyped-call]
            names = list(file.keys())
            if len(names) > _MOST_TENSORS:
                raise _unreadable(path, Translatable("it holds {count} tables", count=len(names)))
            return {name: file.get_tensor(name) for name in names if wants(name)}
    except (OSError, SafetensorError, TypeError) as error:
        raise _unreadable(path, str(error)) from error


def header(path: Path) -> SavedVoice:
    """Read the header of a voice file. InvalidInput names the fault of any other file."""
    metadata = _metadata(path)
    if not _is_name(metadata.get(_NAME, "")) or not _is_name(metadata.get(_MODEL, "")):
        raise _unreadable(path, Translatable("it does not say whose voice it is"))
    return _saved(metadata, path)


def _saved(metadata: Mapping[str, str], path: Path) -> SavedVoice:
    recording = metadata.get(RECORDING, "")
    about = metadata.get(ABOUT, "")[:_LONGEST_ABOUT]
    if MIXED in metadata:
        about = Translatable("mixed of {parts}", parts=metadata[MIXED][:_LONGEST_ABOUT])
    numbers = [metadata.get(key, "") for key in (_CLIP_S, _CLIP_SNR, _PACE)]
    clip_s, snr, pace = (float(x) if _NUMBER.fullmatch(x) else None for x in numbers)
    return SavedVoice(
        *(metadata[_NAME], metadata[_MODEL], path, _CLIP_RATE in metadata),
        *(clip_s, snr, pace),
        about,
        metadata.get(MAKING, "")[:_LONGEST_ABOUT],
        metadata.get(NEAREST, "")[:_LONGEST_NAME],
        recording if re.fullmatch(r"[0-9a-f]{64}", recording) else "",
        language_code(metadata),
    )


def _metadata(path: Path) -> dict[str, str]:
    try:
        size = path.stat().st_size
        if size > LARGEST_BYTES:
            raise _unreadable(
                path, Translatable("it is {size} MB large", size=f"{size / 2**20:.0f}")
            )
        with path.open("rb") as head:
            if int.from_bytes(head.read(8), "little") > _LARGEST_HEADER:
                raise _unreadable(path, Translatable("it is no voice, or damaged"))
        with safe_open(path, framework="numpy") as file:  # type: ignore[no-untyped-call]
            return dict(file.metadata() or {})
    except (OSError, SafetensorError) as error:
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, reason: str) -> InvalidInput:
    return InvalidInput(
        "The voice file {name} cannot be used: {error}.",
        hint="Add the voice again from its recording.",
        name=path.name,
        error=reason,
    )
